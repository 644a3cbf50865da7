// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_BLOCKSPARSITY_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_BLOCKSPARSITY_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Does a bitmap that is an operand allow any pair of the queries of `op` and
/// the keys [first, first + count)? An i1; null if no bitmap must allow a pair
/// for the mask to see it.
mlir::Value emitSeesAnyBlock(mlir::OpBuilder &builder, mlir::Location loc,
                             OnlineOp op, mlir::Value first, mlir::Value count);

} // namespace attn

#endif
