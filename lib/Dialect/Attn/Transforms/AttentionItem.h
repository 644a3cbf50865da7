// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One parallel item of an attention: the parts of the operands and results that
// belong to some rows of one head.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_ATTENTIONITEM_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_ATTENTIONITEM_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {

using mlir::OpFoldResult;
using mlir::Value;

/// Builds the body of one item.
struct AttentionItem {
  SdpaOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Value batch, head, begin, rows; // of this item
  Value queryLength, keyLength;

  OpFoldResult index(int64_t value) { return builder.getIndexAttr(value); }

  /// Rank-reducing slice: sizes and offsets not given are 1 and 0.
  mlir::tensor::ExtractSliceOp slice(Value tensor,
                                     llvm::ArrayRef<OpFoldResult> offsets,
                                     llvm::ArrayRef<OpFoldResult> sizes,
                                     llvm::ArrayRef<int64_t> kept);
  /// The rows `from` .. of this item's head as a matrix.
  mlir::tensor::ExtractSliceOp headMatrix(Value tensor, SdpaOp::Dims dims,
                                          Value headIndex, OpFoldResult from,
                                          OpFoldResult count);
  /// The matrix of this head of a tensor that broadcasts to the scores.
  Value broadcastMatrix(Value tensor);
  /// The head's sink; null where there are none.
  Value sink();
  /// The head's factor of the second map.
  Value lambda();
  /// Operands of the score function of a tile op, and the function itself.
  llvm::SmallVector<Value> captures();
  void copyScoreFunction(mlir::Operation *to);
};

/// Offsets and sizes of an item's part of a result, in the result's dimensions.
struct ResultPart {
  llvm::SmallVector<OpFoldResult> offsets, sizes;
  llvm::SmallVector<int64_t> kept;
};

/// Part of `out`, of a statistic per row, or of one per pair.
ResultPart resultPart(AttentionItem &item, unsigned result);

/// Whether out and lse are computed: not where nothing uses them and there is
/// the state.
bool needsOut(SdpaOp op);

/// Query heads per key head; null where there is one.
Value headGroup(mlir::OpBuilder &builder, mlir::Location loc, SdpaOp op);

/// The size of a dimension as a value; 1 where `dim` is negative.
Value sizeOf(mlir::OpBuilder &builder, mlir::Location loc, Value tensor,
             int dim);

/// The results of `op` by its decode_schedule, written into `destinations`;
/// nothing is done at run time unless `when` (null: always).
llvm::SmallVector<Value> tileDecode(SdpaOp op, mlir::IRRewriter &rewriter,
                                    llvm::ArrayRef<Value> destinations,
                                    Value when);

} // namespace attn

#endif
