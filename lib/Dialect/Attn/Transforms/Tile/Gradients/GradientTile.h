// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of one tile of queries of a gradient.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTTILE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTTILE_H

#include "GradientSums.h"
#include "Tile/AttentionItem.h"

namespace attn {

/// What all tiles of a gradient share.
struct GradientTiles {
  SdpaGradOp op;
  mlir::Type element;   ///< of sums
  SliceDims dQueryDims; ///< of the gradient by queries to which a tile adds
  Value dLse; ///< with the part of the cotangents of weights; may be null
  llvm::SmallVector<GradientSum> learned;
};

/// The type of sums.
mlir::Type statisticsOf(SdpaGradOp op);

/// Without queries, keys or features all gradients are 0. (A view of a
/// dimension of static size 0 does not verify, so there is nothing to tile
/// either.)
bool isStaticallyEmpty(SdpaGradOp op);
/// The gradients of such an op.
llvm::SmallVector<Value> zeroGradients(mlir::OpBuilder &b, SdpaGradOp op);

/// The gradients behind the queries of `queries`, whose head is number
/// `headOfItem` of those of `item`. `sums` are those of the item: by query, key
/// and value, and the learned ones.
llvm::SmallVector<Value> addTile(const GradientTiles &tiles,
                                 AttentionItem &queries,
                                 const GradientItem &item, Value headOfItem,
                                 mlir::ValueRange sums);

} // namespace attn

#endif
