// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exclusions and functions of scores as attn ops.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_RAISEMASKS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_RAISEMASKS_H

#include "ScorePath.h"

namespace attn {

/// `scores` with the pairs of `exclusion` at -inf: an attn.mask or attn.mask_fn
/// for each condition that stands alone.
mlir::Value emitExclusion(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value scores, const Exclusion &exclusion,
                          llvm::ArrayRef<int64_t> sizes);

/// An attn.score_mod of the code that gives `result`. Numbers of 16 bits are
/// computed in f32.
mlir::Value emitFunction(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value scores, const ScalarCode &code,
                         mlir::Value result);

/// `view` as a tensor that broadcasts to scores of `sizes` from the right, or
/// null where its dimensions are no loops.
bool canBroadcast(const TensorView &view, llvm::ArrayRef<int64_t> sizes);
mlir::Value emitBroadcastable(mlir::OpBuilder &b, mlir::Location loc,
                              const TensorView &view,
                              llvm::ArrayRef<int64_t> sizes);

} // namespace attn

#endif
