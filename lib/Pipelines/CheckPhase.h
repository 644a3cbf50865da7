// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_CHECKPHASE_H
#define ATTN_PIPELINES_CHECKPHASE_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Fails where an op of `gone` (or of a dialect in `gone`) is left.
std::unique_ptr<mlir::Pass>
createCheckPhase(llvm::StringRef phase, llvm::ArrayRef<llvm::StringRef> gone);

void registerCheckPhase();
} // namespace attn

#endif
