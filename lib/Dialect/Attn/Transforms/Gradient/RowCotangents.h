// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ROWCOTANGENTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ROWCOTANGENTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// What the final scores of a row have in common behind `d_out * out`: the
/// cotangent of lse less the sum over the keys of p times the cotangent of p.
/// A tensor like lse; null where neither has a cotangent.
mlir::Value cotangentOfLse(mlir::OpBuilder &b, SdpaGradOp op);

/// The dimensions of out in the order (batch, head, row), without those that
/// it lacks.
llvm::SmallVector<int64_t> rowDims(SdpaGradOp op);

/// sum_d cotangent * out at these dimensions of out; 0 where out is, whatever
/// the cotangent.
mlir::Value sumOfProducts(mlir::OpBuilder &b, SdpaGradOp op, mlir::Value out,
                          llvm::ArrayRef<int64_t> dims);

} // namespace attn

#endif
