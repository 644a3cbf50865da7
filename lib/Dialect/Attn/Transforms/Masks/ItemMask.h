// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mask of one batch entry and head.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMMASK_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMMASK_H

#include "ItemPlace.h"

namespace attn {

/// A mask as tile ops have it: integers are of type index, rows are those of
/// the batch entry, and predicates no longer read batch entry and head.
struct ItemMask {
  mlir::Attribute mask; ///< null where the attention has none
  llvm::SmallVector<mlir::Value> operands;
};

/// The row of `tensor` that belongs to the batch entry (in scores of rank 3,
/// the head); `tensor` itself if it has one row for all.
mlir::Value rowOfItem(mlir::OpBuilder &builder, mlir::Location loc,
                      const ItemPlace &place, mlir::Value tensor);

/// Emits what the operands need. `matrixOf` gives this item's matrix of a
/// tensor that broadcasts to the scores.
ItemMask maskOfItem(mlir::OpBuilder &builder, mlir::Location loc,
                    ItemPlace place,
                    llvm::function_ref<mlir::Value(mlir::Value)> matrixOf);

} // namespace attn

#endif
