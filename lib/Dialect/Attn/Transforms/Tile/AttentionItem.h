// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One parallel item of an attention: the parts of the operands and results that
// belong to some rows of one head.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_ATTENTIONITEM_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_ATTENTIONITEM_H

#include "Masks/ItemMask.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  Value group{}; // query heads per key head; null where there is one

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
  /// Seed, batch entry and head, of which a dropout depends; empty without one.
  llvm::SmallVector<Value> dropped();
  /// The mask of the item's rows.
  ItemMask mask();
  /// A state of kind prefill of the item's rows that has seen `count` keys from
  /// `first` on, and one of the second map if there is one.
  OnlineOp attend(ItemMask mask, Value first, Value count);
  /// Operands of the score function of a tile op, and the function itself.
  llvm::SmallVector<Value> captures();
  void copyScoreFunction(mlir::Operation *to);
};

/// The tiles of an attention's queries, of the sizes of its schedule.
struct QueryTiles {
  SdpaOp op;
  mlir::OpBuilder &builder;
  Value queryLength, keyLength, heads, group;
  Value size, count; // queries of a tile, tiles of a head

  QueryTiles(SdpaOp op, mlir::OpBuilder &builder);

  /// Item `number` of a head. Tiles are taken from the last to the first:
  /// with causal masks the last ones have the most work.
  AttentionItem item(Value batch, Value head, Value number);
};

/// A parallel loop over items, which write the op's results into
/// `destinations`: `compute` gets an item's parts of them and returns them
/// written.
llvm::SmallVector<Value> emitResults(
    mlir::OpBuilder &builder, mlir::Location loc,
    llvm::ArrayRef<OpFoldResult> bounds, llvm::ArrayRef<Value> destinations,
    llvm::function_ref<AttentionItem(llvm::ArrayRef<Value> indices)> itemOf,
    llvm::function_ref<llvm::SmallVector<Value>(AttentionItem &item,
                                                llvm::ArrayRef<Value> indices,
                                                llvm::ArrayRef<Value> results)>
        compute);

/// An item, and the rows where its states are saved.
struct StatesOfItem {
  AttentionItem item;
  OpFoldResult part;
  Value firstRow, rows;
};

/// A parallel loop over items, of which the first two indices are batch entry
/// and head or group of heads, that saves states as a tensor of `shape`,
/// (batches x heads x parts x rows x columns). `save` writes an item's rows.
Value emitStates(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
    llvm::ArrayRef<OpFoldResult> shape, llvm::ArrayRef<OpFoldResult> bounds,
    llvm::function_ref<StatesOfItem(llvm::ArrayRef<Value> indices)> itemOf,
    llvm::function_ref<Value(AttentionItem &item, llvm::ArrayRef<Value> indices,
                             Value states)>
        save);

/// The results of an item, written into `results`, from saved states.
llvm::SmallVector<Value> combineParts(AttentionItem &item, Value parts,
                                      llvm::ArrayRef<Value> results,
                                      ScheduleInterface schedule);

/// Whether out and lse are computed: not where nothing uses them and there is
/// the state.
bool needsOut(SdpaOp op);

/// Query heads per key head; null where there is one.
Value headGroup(mlir::OpBuilder &builder, mlir::Location loc, SdpaOp op);

/// The size of a dimension as a value; 1 where `dim` is negative.
Value sizeOf(mlir::OpBuilder &builder, mlir::Location loc, Value tensor,
             int dim);

/// Computes `destinations`, `packed` rows for each query row of the item, for
/// the rows of one document after the other.
llvm::SmallVector<Value> computePerDocument(
    AttentionItem &item, llvm::ArrayRef<Value> destinations,
    llvm::function_ref<llvm::SmallVector<Value>(AttentionItem &rowsOfOne,
                                                llvm::ArrayRef<Value> into)>
        compute,
    int64_t packed = 1);

/// What of the op's mask decides about rows of kind decode.
struct DecodeRows {
  int64_t packed;  // heads in one state
  Value documents; // their number, where the mask gives it
};

/// The results of `op` by its decode_schedule, written into `destinations`;
/// nothing is done at run time unless `when` (null: always).
llvm::SmallVector<Value> tileDecode(SdpaOp op, mlir::IRRewriter &rewriter,
                                    const DecodeRows &rows,
                                    llvm::ArrayRef<Value> destinations,
                                    Value when);

/// The results of op by its schedule with split keys, of so many batch entries.
llvm::SmallVector<Value> tileSplitKeys(SdpaOp op, mlir::IRRewriter &rewriter,
                                       Value batches,
                                       llvm::ArrayRef<Value> destinations);

} // namespace attn

#endif
