// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops behind a product that are computed with its sums.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_EPILOGUE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_EPILOGUE_H

#include "Extents.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// A tensor that an epilogue reads: of the product's shape, or one number per
/// column.
struct EpilogueCapture {
  mlir::Value tensor;
  bool isRow;
};

class Epilogue {
public:
  /// The longest chain of ops behind `op` from which one value leaves. What
  /// ends it is a remark of `pass`.
  Epilogue(ProjectOp op, llvm::StringRef pass);

  /// The op whose result is the chain's; the product itself without a chain.
  mlir::Operation *last() const;
  bool empty() const { return ops.empty(); }
  /// The chain as a block of (sum, captured numbers..), in `region`.
  llvm::SmallVector<EpilogueCapture> emit(mlir::Region &region) const;
  /// The same for these rows and columns in the region of an op, whose
  /// `captures` they become.
  void addTo(mlir::OpBuilder &b, mlir::Region &region,
             mlir::MutableOperandRange captures, mlir::Value entry, Extent row,
             Extent column) const;
  /// Computes the product's sizes in front of it, which take the place of its
  /// sizes and of the chain's, and lets `rewriter` go on in front of the last
  /// op.
  llvm::SmallVector<mlir::Value> begin(mlir::RewriterBase &rewriter) const;
  /// The tensor that takes the place of the chain's result.
  mlir::Value emptyResult(mlir::OpBuilder &b) const;
  /// `result` takes the place of the chain, which is erased with the product.
  void replaceBy(mlir::RewriterBase &rewriter, mlir::Value result) const;

private:
  ProjectOp op;
  mlir::Value product;
  llvm::SmallVector<mlir::Operation *> ops; ///< in the order of the block
};

} // namespace attn

#endif
