// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_CHECKSIZES_H
#define ATTN_PIPELINES_CHECKSIZES_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Refuses tensors that are too large for any memory.
std::unique_ptr<mlir::Pass> createCheckSizes();
} // namespace attn

#endif
