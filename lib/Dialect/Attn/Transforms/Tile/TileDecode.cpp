// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries per head: one parallel item per batch entry, group of heads and
// part of the keys, and a second loop that merges the parts.
//
// Before:  %out = attn.sdpa %q, %k, %v scale 0.125
//            {decode_schedule = #attn.cpu_schedule<.., kind = decode, ..>}
// After:   %parts = scf.forall (%b, %g, %s) in (%B, 2, %splits) {
//            %rows = scf.for %i = %c0 to %c4 { .. tensor.insert_slice .. }
//            %s0 = attn.init_state %rows scale 0.125 ..
//            %s1 = attn.online %s0, %k_part, %v_part ..
//            %p = attn.save_state %s1 outs(%part ..)
//          }
//          %out = scf.forall (%b, %h) in (%B, 8) {
//            %r = attn.combine %parts_of_head outs(%o_head ..)
//          }
//
// All queries of the heads that share a key head are rows of one state, so that
// keys and values are read once. Sinks, one per head, are added when parts are
// combined. The size of a part is the schedule's, or follows from the number of
// keys. It does not depend on batch, heads or threads: neither does any bit of
// the result.
//
// Where rows see their own document only, a third dimension of items is tiles
// of rows, and each item goes through its documents one after the other
// (DocumentRows.cpp), as does the loop that combines. Such an item sees all
// keys of its documents: parts would need room for a state per query and part
// of all documents' keys. A tile has the mean number of rows of a document
// where the number of documents is known, so that one query per sequence is one
// item per sequence.
#include "AttentionItem.h"
#include "DocumentRows.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

namespace {
class DecodeBuilder {
public:
  DecodeBuilder(SdpaOp op, IRRewriter &b, const DecodeRows &rows)
      : op(op), b(b), loc(op.getLoc()), schedule(op.getDecodeScheduleAttr()),
        packed(rows.packed) {
    Type query = op.getQuery().getType().getElementType();
    element = query.isF64() ? query : b.getF32Type();
    keyDim = op.getQuery().getType().getShape().back();
    valueDim = op.getValue().getType().getShape().back();
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    queryLength = sizeOf(b, loc, op.getQuery(), op.queryDims().sequence);
    keyLength = sizeOf(b, loc, op.getKey(), op.keyDims().sequence);
    batches = sizeOf(b, loc, op.getQuery(), op.queryDims().batch);
    heads = sizeOf(b, loc, op.getQuery(), op.queryDims().head);
    if (schedule.runsInBlocks()) { // a block has a query at least
      Value some = arith::MinUIOp::create(b, loc, queryLength, constant(1));
      batches = arith::MulIOp::create(b, loc, batches, some);
    }
    splitKeys = constant(schedule.getSplitKeys());
    splits = arith::CeilDivUIOp::create(b, loc, keyLength, splitKeys);
    if (schedule.runsInBlocks())
      limitParts();
    if (cutsRowsAtDocuments(op))
      tileByDocuments(rows);
  }

  SmallVector<Value> emit(ArrayRef<Value> destinations, Value when) {
    if (when)
      batches = arith::SelectOp::create(b, loc, when, batches, zero);
    if (tileRows && schedule.runsInBlocks()) {
      Value states = saveDocuments();
      splits = constant(1);
      return combine(states, destinations);
    }
    if (tileRows)
      return combineDocuments(saveDocuments(), destinations);
    return combine(saveParts(), destinations);
  }

private:
  void tileByDocuments(const DecodeRows &rows);
  AttentionItem tileItem(Value batch, Value head, Value tile);
  Value saveDocuments();
  SmallVector<Value> combineDocuments(Value parts,
                                      ArrayRef<Value> destinations);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  OpFoldResult folded(Value value) { return getAsOpFoldResult(value); }
  void limitParts();
  Value saveParts();
  /// The item of all queries of a head.
  AttentionItem allRows(Value batch, Value head) {
    return {op, b, loc, batch, head, zero, queryLength, queryLength, keyLength};
  }
  /// The group of a query head, and its place there.
  std::pair<Value, Value> placeInGroup(Value head) {
    Value perGroup = constant(packed);
    Value group = arith::DivUIOp::create(b, loc, head, perGroup);
    return {group, arith::RemUIOp::create(b, loc, head, perGroup)};
  }
  Value save(Value state, Value rows) {
    auto saved = SaveStateOp::create(b, loc, TypeRange(rows.getType()), state,
                                     rows, schedule);
    return saved.getResult(0);
  }
  Value groupQueries(AttentionItem &item, Value firstHead);
  Value queriesInPlace(AttentionItem &item, Value firstHead);
  Value groupState(AttentionItem &item, Value first, Value count);
  SmallVector<Value> combine(Value parts, ArrayRef<Value> destinations);

  SdpaOp op;
  IRRewriter &b;
  Location loc;
  ScheduleInterface schedule;
  int64_t packed, keyDim, valueDim;
  Type element;
  Value zero, queryLength, keyLength, batches, heads, splitKeys, splits;
  Value tileRows, tiles; ///< null unless rows are cut at documents
};
} // namespace

/// Of many keys, a part has more: else few threads merge parts for as long as
/// all others read the keys. The last ones may have none.
void DecodeBuilder::limitParts() {
  Value unit = constant(mostPartsOfKeys * schedule.getKeyTile());
  Value tiles = arith::CeilDivUIOp::create(b, loc, keyLength, unit);
  Value keys =
      arith::MulIOp::create(b, loc, tiles, constant(schedule.getKeyTile()));
  splits = arith::MinUIOp::create(b, loc, splits, constant(mostPartsOfKeys));
  splitKeys = arith::MaxUIOp::create(b, loc, splitKeys, keys);
}

/// The item's queries of `packed` heads from `firstHead`, of rank 3.
Value DecodeBuilder::queriesInPlace(AttentionItem &item, Value firstHead) {
  SdpaOp::Dims dims = op.queryDims();
  int64_t rank = op.getQuery().getType().getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      sizes(rank, b.getIndexAttr(1));
  if (dims.batch >= 0)
    offsets[dims.batch] = item.batch;
  offsets[dims.head] = firstHead;
  sizes[dims.head] = b.getIndexAttr(packed);
  offsets[dims.sequence] = item.begin;
  sizes[dims.sequence] = folded(item.rows);
  sizes[dims.feature] = b.getIndexAttr(keyDim);
  SmallVector<int64_t> kept{dims.head, dims.sequence, dims.feature};
  llvm::sort(kept);
  return item.slice(op.getQuery(), offsets, sizes, kept);
}

/// The item's queries of `packed` heads from `firstHead` as rows: row g * n + i
/// is query i of n of head g. They are copied, because heads may lie anywhere.
/// A GPU does that itself, and has query i of head g as row i * packed + g.
Value DecodeBuilder::groupQueries(AttentionItem &item, Value firstHead) {
  SdpaOp::Dims dims = op.queryDims();
  OpFoldResult from = folded(item.begin), all = folded(item.rows),
               none = b.getIndexAttr(0);
  if (packed == 1)
    return item.headMatrix(op.getQuery(), dims, firstHead, from, all);
  if (schedule.runsInBlocks())
    return queriesInPlace(item, firstHead);
  Value perGroup = constant(packed);
  Value one = constant(1);
  SmallVector<int64_t> shape{schedule.getQueryTile(), keyDim};
  Value empty = tensor::EmptyOp::create(
      b, loc, shape, op.getQuery().getType().getElementType());
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  auto loop = scf::ForOp::create(
      b, loc, zero, perGroup, one, empty,
      [&](OpBuilder &inner, Location, Value g, ValueRange carried) {
        Value head = arith::AddIOp::create(inner, loc, firstHead, g);
        Value row = arith::MulIOp::create(inner, loc, g, item.rows);
        AttentionItem member{op,         inner,       loc,
                             item.batch, head,        item.begin,
                             item.rows,  queryLength, keyLength};
        Value matrix = member.headMatrix(op.getQuery(), dims, head, from, all);
        SmallVector<OpFoldResult> offsets{row, none},
            sizes{all, inner.getIndexAttr(keyDim)};
        Value next = tensor::InsertSliceOp::create(
            inner, loc, matrix, carried[0], offsets, sizes, strides);
        scf::YieldOp::create(inner, loc, next);
      });
  Value rows = arith::MulIOp::create(b, loc, item.rows, perGroup);
  SmallVector<OpFoldResult> offsets{none, none},
      sizes{folded(rows), b.getIndexAttr(keyDim)};
  return tensor::ExtractSliceOp::create(b, loc, loop.getResult(0), offsets,
                                        sizes, strides);
}

/// The state of the group's queries after `count` keys from `first` on.
Value DecodeBuilder::groupState(AttentionItem &item, Value first, Value count) {
  Value firstHead = item.head;
  Value kvHead = firstHead;
  if (Value shared = headGroup(b, loc, op))
    kvHead = arith::DivUIOp::create(b, loc, firstHead, shared);
  auto stateType = StateType::get(b.getContext(), schedule.getQueryTile(),
                                  keyDim, valueDim, element, Kind::Decode);
  Value query = groupQueries(item, firstHead);
  OpFoldResult from = folded(first), keys = folded(count);
  Value key = item.headMatrix(op.getKey(), op.keyDims(), kvHead, from, keys);
  Value value =
      item.headMatrix(op.getValue(), op.valueDims(), kvHead, from, keys);
  Value bias = op.getBias() ? item.broadcastMatrix(op.getBias()) : Value();
  ItemMask mask = item.mask();
  Value end = arith::AddIOp::create(b, loc, item.begin, item.rows);
  TileMode mode = mask.mask ? TileMode::Edge : TileMode::Full;
  Layout layout = op.queryDims().head > op.queryDims().sequence
                      ? Layout::SequenceMajor
                      : Layout::HeadMajor;
  if (cast<ShapedType>(query.getType()).getRank() == 2)
    layout = Layout::HeadMajor;
  Value state =
      InitStateOp::create(b, loc, stateType, query, op.getScaleAttr(), schedule,
                          LayoutAttr::get(b.getContext(), layout));
  auto online = OnlineOp::create(
      b, loc, stateType, /*second_next=*/Type(), state, key, value, item.begin,
      end, first, queryLength, keyLength, bias, mask.operands, item.captures(),
      /*dropped=*/ValueRange(), /*prefetch=*/ValueRange(),
      /*second_state=*/Value(), /*second_key=*/Value(), mask.mask,
      /*dropout=*/FloatAttr(), TileModeAttr::get(b.getContext(), mode),
      schedule, b.getI64IntegerAttr(packed));
  item.copyScoreFunction(online);
  return online.getNext();
}

/// (batches x groups of heads x parts x rows x (value_dim + 2)).
Value DecodeBuilder::saveParts() {
  Value perGroup = constant(packed);
  Value groups = arith::DivUIOp::create(b, loc, heads, perGroup);
  Value rows = arith::MulIOp::create(b, loc, queryLength, perGroup);
  SmallVector<OpFoldResult> shape{folded(batches), folded(groups),
                                  folded(splits), folded(rows),
                                  b.getIndexAttr(valueDim + 2)};
  return emitStates(
      b, loc, element, shape, ArrayRef(shape).take_front(3),
      [&](ArrayRef<Value> i) -> StatesOfItem {
        Value head = arith::MulIOp::create(b, loc, i[1], perGroup);
        return {allRows(i[0], head), i[2], zero, rows};
      },
      [&](AttentionItem &item, ArrayRef<Value> i, Value states) {
        Value first = arith::MulIOp::create(b, loc, i[2], splitKeys);
        Value left = arith::SubIOp::create(b, loc, keyLength, first);
        if (schedule.runsInBlocks())
          left = arith::MaxSIOp::create(b, loc, left, zero);
        Value count = arith::MinUIOp::create(b, loc, left, splitKeys);
        return save(groupState(item, first, count), states);
      });
}

/// An item combines all rows of a head, or one of them on a GPU, which has
/// threads for each.
SmallVector<Value> DecodeBuilder::combine(Value parts,
                                          ArrayRef<Value> destinations) {
  SmallVector<OpFoldResult> bounds{folded(batches), folded(heads)};
  bool byRow = schedule.runsInBlocks();
  if (byRow)
    bounds.push_back(folded(queryLength));
  return emitResults(
      b, loc, bounds, destinations,
      [&](ArrayRef<Value> i) -> AttentionItem {
        if (!byRow)
          return allRows(i[0], i[1]);
        Value one = constant(1);
        return {op, b, loc, i[0], i[1], i[2], one, queryLength, keyLength};
      },
      [&](AttentionItem &item, ArrayRef<Value> i, ArrayRef<Value> results) {
        auto [group, within] = placeInGroup(i[1]);
        Value firstRow =
            arith::MulIOp::create(b, loc, byRow ? item.begin : within,
                                  byRow ? constant(packed) : queryLength);
        if (byRow)
          firstRow = arith::AddIOp::create(b, loc, firstRow, within);
        OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
        Value ofHead = item.slice(parts, {i[0], group, none, firstRow, none},
                                  {one, one, folded(splits), folded(item.rows),
                                   b.getIndexAttr(valueDim + 2)},
                                  {2, 3, 4});
        return combineParts(item, ofHead, results, schedule);
      });
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

void DecodeBuilder::tileByDocuments(const DecodeRows &rows) {
  Value most = constant(schedule.getQueryTile() / packed);
  tileRows = most;
  if (rows.documents) {
    Value some = arith::MaxUIOp::create(b, loc, rows.documents, constant(1));
    Value mean = arith::CeilDivUIOp::create(b, loc, queryLength, some);
    tileRows = arith::MinUIOp::create(b, loc, mean, most);
    tileRows = arith::MaxUIOp::create(b, loc, tileRows, constant(1));
  }
  tiles = arith::CeilDivUIOp::create(b, loc, queryLength, tileRows);
}

AttentionItem DecodeBuilder::tileItem(Value batch, Value head, Value tile) {
  Value begin = arith::MulIOp::create(b, loc, tile, tileRows);
  Value left = arith::SubIOp::create(b, loc, queryLength, begin);
  Value rows = arith::MinUIOp::create(b, loc, left, tileRows);
  return {op, b, loc, batch, head, begin, rows, queryLength, keyLength};
}

/// (batches x groups of heads x 1 x rows x (value_dim + 2)). Where n queries of
/// a document begin with query i, row i * packed + g * n is the first of head
/// g; on a GPU row i * packed + g is the one of query i, whatever n is.
Value DecodeBuilder::saveDocuments() {
  Value perGroup = constant(packed);
  Value groups = arith::DivUIOp::create(b, loc, heads, perGroup);
  Value rows = arith::MulIOp::create(b, loc, queryLength, perGroup);
  SmallVector<OpFoldResult> shape{folded(batches), folded(groups),
                                  b.getIndexAttr(1), folded(rows),
                                  b.getIndexAttr(valueDim + 2)},
      bounds{folded(batches), folded(groups), folded(tiles)};
  return emitStates(
      b, loc, element, shape, bounds,
      [&](ArrayRef<Value> i) -> StatesOfItem {
        Value head = arith::MulIOp::create(b, loc, i[1], perGroup);
        AttentionItem item = tileItem(i[0], head, i[2]);
        return {item, b.getIndexAttr(0),
                arith::MulIOp::create(b, loc, item.begin, perGroup),
                arith::MulIOp::create(b, loc, item.rows, perGroup)};
      },
      [&](AttentionItem &item, ArrayRef<Value>, Value states) {
        auto saveOne = [&](AttentionItem &rowsOfOne,
                           ArrayRef<Value> into) -> SmallVector<Value> {
          return {save(groupState(rowsOfOne, zero, keyLength), into[0])};
        };
        return computePerDocument(item, states, saveOne, packed).front();
      });
}

SmallVector<Value>
DecodeBuilder::combineDocuments(Value parts, ArrayRef<Value> destinations) {
  SmallVector<OpFoldResult> bounds{folded(batches), folded(heads),
                                   folded(tiles)};
  OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
  return emitResults(
      b, loc, bounds, destinations,
      [&](ArrayRef<Value> i) { return tileItem(i[0], i[1], i[2]); },
      [&](AttentionItem &item, ArrayRef<Value> i, ArrayRef<Value> results) {
        auto [group, within] = placeInGroup(i[1]);
        auto combineOne = [&, group = group, within = within](
                              AttentionItem &rowsOfOne, ArrayRef<Value> into) {
          Value document =
              arith::MulIOp::create(b, loc, rowsOfOne.begin, constant(packed));
          Value before = arith::MulIOp::create(b, loc, within, rowsOfOne.rows);
          Value row = arith::AddIOp::create(b, loc, document, before);
          Value ofHead = item.slice(
              parts, {i[0], group, none, row, none},
              {one, one, one, rowsOfOne.rows, b.getIndexAttr(valueDim + 2)},
              {2, 3, 4});
          return combineParts(rowsOfOne, ofHead, into, schedule);
        };
        return computePerDocument(item, results, combineOne);
      });
}

SmallVector<Value> attn::tileDecode(SdpaOp op, IRRewriter &rewriter,
                                    const DecodeRows &rows,
                                    ArrayRef<Value> destinations, Value when) {
  return DecodeBuilder(op, rewriter, rows).emit(destinations, when);
}
