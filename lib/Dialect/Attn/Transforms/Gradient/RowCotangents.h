// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ROWCOTANGENTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ROWCOTANGENTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// What the final scores of a row have in common behind `d_out * out`: the
/// cotangent of lse less the sum over the keys of p times the cotangent of p.
/// A tensor like lse; null where neither has a cotangent.
mlir::Value cotangentOfLse(mlir::OpBuilder &b, SdpaGradOp op);

} // namespace attn

#endif
