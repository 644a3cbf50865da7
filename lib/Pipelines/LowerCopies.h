// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_LOWERCOPIES_H
#define ATTN_PIPELINES_LOWERCOPIES_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Turns `memref.copy` into loops over vectors, or into linalg, which becomes
/// loops: between strided buffers it would become a call of a function that
/// only MLIR's own runtime has.
std::unique_ptr<mlir::Pass> createLowerCopies();
} // namespace attn

#endif
