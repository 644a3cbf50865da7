// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of tensors with batch entries, heads and rows, and what is done with
// them around the kernels of gradients.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_HEADSLICES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_HEADSLICES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

using mlir::OpFoldResult;
using mlir::Value;

/// Which dimension of a tensor is what; -1 where it has none.
struct SliceDims {
  int batch, head, part, sequence, feature;
  explicit SliceDims(HeadDims of)
      : batch(of.batch), head(of.head), part(-1), sequence(of.sequence),
        feature(of.feature) {}
  /// Gradients by queries of all parts.
  static SliceDims ofParts() {
    SliceDims dims(HeadDims{0, 1, 3, 4});
    dims.part = 2;
    return dims;
  }
};

/// A slice of a tensor.
struct HeadSlice {
  llvm::SmallVector<OpFoldResult> offsets, sizes, strides;
  llvm::SmallVector<int64_t> kept; ///< dimensions
};

/// All rows of a head of a tensor with heads, or of many.
HeadSlice headSliceOf(mlir::OpBuilder &b, Value tensor, SliceDims dims,
                      OpFoldResult batch, OpFoldResult head,
                      OpFoldResult heads);

Value insertSlice(mlir::OpBuilder &b, Value rows, Value into,
                  const HeadSlice &slice);

/// An empty tensor of the type and sizes of `tensor`.
Value emptyLike(mlir::OpBuilder &b, Value tensor);

/// `tensor`, filled with zeros.
Value zerosIn(mlir::OpBuilder &b, Value tensor);

/// `sums`, rounded to the type of `into`.
Value roundInto(mlir::OpBuilder &b, Value sums, Value into);

} // namespace attn

#endif
