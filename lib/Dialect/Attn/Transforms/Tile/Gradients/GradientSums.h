// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients to which pairs of several items add: by the bias, and by captured
// tensors.
//
// An item of a gradient has a batch entry, a key head and some of the keys. It
// writes its part of such a gradient where no other item has a pair that adds
// to it. Otherwise it adds to a copy of its own, and the copies are added in
// the order of the items, so that no thread waits for another one, and the sum
// does not depend on their number.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTSUMS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTSUMS_H

#include "Tile/HeadSlices.h"

namespace attn {

/// What an item of a gradient works on.
struct GradientItem {
  Value batch, keyHead, part, firstKey, keys;
};

/// How many items there are.
struct GradientItems {
  Value batches, keyHeads;
  Value parts; ///< null where keys are not cut
  Value group; ///< query heads of an item
  /// An item takes all batch entries, one after the other: they share a bias
  /// with an element per pair, of which there are to be no copies.
  bool walksBatch;
};

/// Whether such a bias is learned.
bool sharesPairs(SdpaGradOp op);

class GradientSum {
public:
  /// That by the operand which `wrt` calls `name`, with sums of type `element`.
  GradientSum(mlir::OpBuilder &b, SdpaGradOp op, mlir::StringAttr name,
              const GradientItems &items, mlir::Type element);

  mlir::StringAttr getName() const { return name; }
  /// The memory of all items, with nothing in it yet.
  Value empty(mlir::OpBuilder &b, mlir::Location loc) const;
  /// What an item writes of it.
  HeadSlice ofItem(mlir::OpBuilder &b, const GradientItem &item) const;
  /// What of an item's tensor the step of a query head, the item's number
  /// `head`, adds to, for the queries [begin, begin + rows).
  HeadSlice ofStep(mlir::OpBuilder &b, Value sum, Value head, Value begin,
                   Value rows) const;
  /// The gradient, from what all items have written.
  Value total(mlir::OpBuilder &b, Value written) const;

private:
  void findDimsOfBias(SdpaGradOp op, bool keysAreCut);
  void findDimsOfCapture(SdpaGradOp op);

  mlir::StringAttr name;
  mlir::RankedTensorType type; ///< of the operand
  mlir::Type element;
  GradientItems items;
  llvm::SmallVector<OpFoldResult> shape; ///< of the memory
  int64_t own = 0;    ///< its dimensions that an item's part has; in front of
                      ///< them are those of copies
  int64_t padded = 0; ///< of them, in front of those of the operand
  // Own dimensions along which each item has a part; -1: none.
  int64_t batch = -1, head = -1, key = -1;
  bool isBias;
};

} // namespace attn

#endif
