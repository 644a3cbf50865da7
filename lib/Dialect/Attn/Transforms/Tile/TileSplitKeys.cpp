// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few tiles of queries and many keys: an item of attn-tile-queries sees a part
// of the keys, and a second loop merges the parts.
//
// Before:  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(bottom_right)
//            {schedule = #attn.cpu_schedule<.., split_keys = 4032,
//                                       split_queries = 1024>}
// After:   %parts = scf.forall (%b, %h, %s, %i) in (%B, 8, %splits, %tiles) {
//            %p = scf.for %once = %c0 to %seen iter_args(%part = ..) {
//              %s0 = attn.init_state %q_tile scale 0.125 ..
//              %s1 = attn.online %s0, %k_part, %v_part .. keys from %first ..
//              %saved = attn.save_state %s1 outs(%part ..)
//            }
//          }
//          %out = scf.forall (%b, %h, %i) in (%B, 8, %tiles) {
//            %r = attn.combine %parts_seen outs(%o_tile ..)
//          }
//
// The analysis of the mask gives the first and the last part of which the rows
// of a tile see a key. The loop `%once` runs for parts between these only, and
// only these are combined: what a window leaves out costs a few comparisons,
// and its memory is not touched. A part between two visible ones is computed
// even if nothing of it is seen; its state is empty, which changes no bit.
//
// The size of a part depends on the schedule alone, neither on batch, heads and
// threads nor on the number of keys: neither does any bit of the result.
#include "AttentionItem.h"
#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

namespace {
class SplitKeysBuilder {
public:
  SplitKeysBuilder(SdpaOp op, IRRewriter &b, Value batches)
      : op(op), b(b), loc(op.getLoc()), schedule(op.getScheduleAttr()),
        tiles(op, b), batches(batches),
        splitKeys(constant(schedule.getSplitKeys())),
        splits(arith::CeilDivUIOp::create(b, loc, tiles.keyLength, splitKeys)) {
    Type query = op.getQuery().getType().getElementType();
    element = query.isF64() ? query : b.getF32Type();
    columns = b.getIndexAttr(op.getValue().getType().getShape().back() + 2);
  }

  SmallVector<Value> emit(ArrayRef<Value> destinations) {
    return combine(saveParts(), destinations);
  }

private:
  /// Parts [first, first + count).
  struct PartRange {
    Value first, count;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  PartRange partsSeen(AttentionItem &item, const ItemMask &mask);
  Value savePart(AttentionItem &item, const ItemMask &mask, Value split,
                 Value part);
  Value savePartIfSeen(AttentionItem &item, Value split, Value part);
  Value saveParts();
  SmallVector<Value> combine(Value parts, ArrayRef<Value> destinations);

  SdpaOp op;
  IRRewriter &b;
  Location loc;
  ScheduleInterface schedule;
  QueryTiles tiles;
  Value batches, splitKeys, splits;
  Type element;
  OpFoldResult columns; ///< of a saved state
};
} // namespace

SplitKeysBuilder::PartRange SplitKeysBuilder::partsSeen(AttentionItem &item,
                                                        const ItemMask &mask) {
  if (!mask.mask)
    return {constant(0), splits};
  MaskContext context;
  Formula formula = maskFormula(context, mask.mask);
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  KeyRanges ranges =
      analyzeMask(context, formula,
                  {schedule.getQueryTile(), schedule.getKeyTile()}, options);
  SymbolValues symbols(ranges.context, item.queryLength, item.keyLength,
                       mask.operands);
  symbols.set(Variable::QueryBegin, item.begin);
  symbols.set(Variable::QueryEnd,
              arith::AddIOp::create(b, loc, item.begin, item.rows));
  auto [begin, end] = emitHull(b, loc, ranges, symbols);
  Value tilesOfPart = constant(schedule.getSplitKeys() / schedule.getKeyTile());
  // Where no tile is seen, the end may be negative or before the begin.
  end = arith::MaxSIOp::create(b, loc, end, constant(0));
  Value last = arith::CeilDivUIOp::create(b, loc, end, tilesOfPart);
  Value first = arith::DivUIOp::create(b, loc, begin, tilesOfPart);
  first = arith::MinUIOp::create(b, loc, first, last);
  return {first, arith::SubIOp::create(b, loc, last, first)};
}

/// The state of the item's queries after the keys of one part.
Value SplitKeysBuilder::savePart(AttentionItem &item, const ItemMask &mask,
                                 Value split, Value part) {
  Value first = arith::MulIOp::create(b, loc, split, splitKeys);
  Value left = arith::SubIOp::create(b, loc, item.keyLength, first);
  Value count = arith::MinUIOp::create(b, loc, left, splitKeys);
  OnlineOp state = item.attend(mask, first, count);
  auto saved = SaveStateOp::create(b, loc, TypeRange(part.getType()),
                                   state.getNext(), part, schedule);
  return saved.getResult(0);
}

Value SplitKeysBuilder::savePartIfSeen(AttentionItem &item, Value split,
                                       Value part) {
  ItemMask mask = item.mask();
  if (!mask.mask)
    return savePart(item, mask, split, part);
  PartRange seen = partsSeen(item, mask);
  // Unsigned, so that a part before the first one is none of them.
  Value number = arith::SubIOp::create(b, loc, split, seen.first);
  Value isSeen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                       number, seen.count);
  Value times = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isSeen);
  auto once = scf::ForOp::create(b, loc, constant(0), times, constant(1),
                                 ValueRange(part));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(once.getBody());
  Value saved = savePart(item, mask, split, once.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, saved);
  return once.getResult(0);
}

/// (batches x heads x parts x queries x (value_dim + 2)).
Value SplitKeysBuilder::saveParts() {
  OpFoldResult heads = getAsOpFoldResult(tiles.heads);
  SmallVector<OpFoldResult> shape{
      getAsOpFoldResult(batches), heads, getAsOpFoldResult(splits),
      getAsOpFoldResult(tiles.queryLength), columns};
  SmallVector<OpFoldResult> bounds(shape.begin(), shape.begin() + 3);
  bounds.push_back(getAsOpFoldResult(tiles.count));
  return emitStates(
      b, loc, element, shape, bounds,
      [&](ArrayRef<Value> i) -> StatesOfItem {
        AttentionItem item = tiles.item(i[0], i[1], i[3]);
        return {item, i[2], item.begin, item.rows};
      },
      [&](AttentionItem &item, ArrayRef<Value> i, Value states) {
        return savePartIfSeen(item, i[2], states);
      });
}

SmallVector<Value> SplitKeysBuilder::combine(Value parts,
                                             ArrayRef<Value> destinations) {
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batches),
                                   getAsOpFoldResult(tiles.heads),
                                   getAsOpFoldResult(tiles.count)};
  OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
  return emitResults(
      b, loc, bounds, destinations,
      [&](ArrayRef<Value> i) { return tiles.item(i[0], i[1], i[2]); },
      [&](AttentionItem &item, ArrayRef<Value> i, ArrayRef<Value> results) {
        PartRange seen = partsSeen(item, item.mask());
        Value ofItem =
            item.slice(parts, {i[0], i[1], seen.first, item.begin, none},
                       {one, one, seen.count, item.rows, columns}, {2, 3, 4});
        return combineParts(item, ofItem, results, schedule);
      });
}

SmallVector<Value> attn::tileSplitKeys(SdpaOp op, IRRewriter &rewriter,
                                       Value batches,
                                       ArrayRef<Value> destinations) {
  return SplitKeysBuilder(op, rewriter, batches).emit(destinations);
}
