// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops on numbers the kernels have vector code for.
#ifndef ATTN_DIALECT_ATTN_UTILS_VECTOROPS_H
#define ATTN_DIALECT_ATTN_UTILS_VECTOROPS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Whether an op of arith or math is code on vectors, and no call of the C
/// library lane by lane.
bool hasVectorCode(mlir::Operation *op);

} // namespace attn

#endif
