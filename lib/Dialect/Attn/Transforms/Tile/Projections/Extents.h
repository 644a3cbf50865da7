// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of tensors that a tile reads and writes.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_EXTENTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_EXTENTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// [begin, begin + count) along one dimension.
struct Extent {
  mlir::OpFoldResult begin, count;
};

/// Tile number `tile` of tiles of `size` along a dimension of size `total`.
Extent tileRange(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile,
                 mlir::Value size, mlir::Value total);

/// The panels that hold a range of columns, which begins with a panel.
Extent panelRange(mlir::OpBuilder &b, mlir::Location loc, Extent columns,
                  int64_t panel);

/// Of the dimensions of `tensor` with the given ranges, `rank` remain: the
/// last, or all but the second where `joined`. The others have count 1.
mlir::Value extract(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                    llvm::ArrayRef<Extent> ranges, int64_t rank,
                    bool joined = false);

/// Puts `tile` where `ranges` of the only result of `forall` are.
void insertInParallel(mlir::OpBuilder &b, mlir::scf::ForallOp forall,
                      mlir::Value tile, llvm::ArrayRef<Extent> ranges);

/// The ranges of rows and columns in all dimensions of a product's input or
/// result.
llvm::SmallVector<Extent> rangesOf(mlir::OpBuilder &b, ProjectOp op,
                                   mlir::Value entry, Extent row,
                                   Extent column);

/// Features and columns of the weight of one batch entry, as it is.
mlir::Value weightPart(mlir::OpBuilder &b, ProjectOp op, mlir::Value entry,
                       Extent depth, Extent column);
/// All features.
Extent wholeDepth(mlir::OpBuilder &b, ProjectOp op);

/// Of the features that input and weight have in common, the number is known
/// of both if it is of one. Callers' sizes were compared before.
void shareDepth(mlir::RewriterBase &b, ProjectOp op);

} // namespace attn

#endif
