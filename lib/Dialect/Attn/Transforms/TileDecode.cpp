// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries per head: one parallel item per batch entry, group of heads and
// part of the keys, and a second loop that merges the parts.
//
// Before:  %out = attn.sdpa %q, %k, %v scale 0.125
//            {decode_schedule = #attn.schedule<.., kind = decode, ..>}
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
// combined. The size of a part does not depend on batch,
// heads or threads: neither does any bit of the result.
#include "AttentionItem.h"
#include "ItemMask.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

namespace {
class DecodeBuilder {
public:
  DecodeBuilder(SdpaOp op, IRRewriter &b)
      : op(op), b(b), loc(op.getLoc()), schedule(op.getDecodeScheduleAttr()),
        packed(packedHeads(op)) {
    Type query = op.getQuery().getType().getElementType();
    element = query.isF64() ? query : b.getF32Type();
    keyDim = op.getQuery().getType().getShape().back();
    valueDim = op.getValue().getType().getShape().back();
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    queryLength = sizeOf(b, loc, op.getQuery(), op.queryDims().sequence);
    keyLength = sizeOf(b, loc, op.getKey(), op.keyDims().sequence);
    batches = sizeOf(b, loc, op.getQuery(), op.queryDims().batch);
    heads = sizeOf(b, loc, op.getQuery(), op.queryDims().head);
    splitKeys = constant(schedule.getSplitKeys());
    splits = arith::CeilDivUIOp::create(b, loc, keyLength, splitKeys);
  }

  SmallVector<Value> emit(ArrayRef<Value> destinations, Value when) {
    if (when)
      batches = arith::SelectOp::create(b, loc, when, batches, zero);
    return combine(saveParts(), destinations);
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  OpFoldResult folded(Value value) { return getAsOpFoldResult(value); }
  Value saveParts();
  Value groupQueries(AttentionItem &item, Value firstHead);
  Value groupState(AttentionItem &item, Value split);
  SmallVector<Value> combineHead(AttentionItem &item, Value parts,
                                 ArrayRef<Value> tiles);
  SmallVector<Value> combine(Value parts, ArrayRef<Value> destinations);

  SdpaOp op;
  IRRewriter &b;
  Location loc;
  ScheduleAttr schedule;
  int64_t packed, keyDim, valueDim;
  Type element;
  Value zero, queryLength, keyLength, batches, heads, splitKeys, splits;
};
} // namespace

/// The queries of `packed` heads from `firstHead` as rows: row g * Sq + i is
/// query i of head g. They are copied, because heads may lie anywhere.
Value DecodeBuilder::groupQueries(AttentionItem &item, Value firstHead) {
  SdpaOp::Dims dims = op.queryDims();
  OpFoldResult all = folded(queryLength), none = b.getIndexAttr(0);
  if (packed == 1)
    return item.headMatrix(op.getQuery(), dims, firstHead, none, all);
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
        Value row = arith::MulIOp::create(inner, loc, g, queryLength);
        AttentionItem member{op,   inner,       loc,         item.batch, head,
                             zero, queryLength, queryLength, keyLength};
        Value matrix = member.headMatrix(op.getQuery(), dims, head, none, all);
        SmallVector<OpFoldResult> offsets{row, none},
            sizes{all, inner.getIndexAttr(keyDim)};
        Value next = tensor::InsertSliceOp::create(
            inner, loc, matrix, carried[0], offsets, sizes, strides);
        scf::YieldOp::create(inner, loc, next);
      });
  Value rows = arith::MulIOp::create(b, loc, queryLength, perGroup);
  SmallVector<OpFoldResult> offsets{none, none},
      sizes{folded(rows), b.getIndexAttr(keyDim)};
  return tensor::ExtractSliceOp::create(b, loc, loop.getResult(0), offsets,
                                        sizes, strides);
}

/// The state of the group's queries after the keys of one part.
Value DecodeBuilder::groupState(AttentionItem &item, Value split) {
  Value firstHead = item.head;
  Value kvHead = firstHead;
  if (Value shared = headGroup(b, loc, op))
    kvHead = arith::DivUIOp::create(b, loc, firstHead, shared);
  Value first = arith::MulIOp::create(b, loc, split, splitKeys);
  Value left = arith::SubIOp::create(b, loc, keyLength, first);
  Value count = arith::MinUIOp::create(b, loc, left, splitKeys);
  auto stateType = StateType::get(b.getContext(), schedule.getQueryTile(),
                                  keyDim, valueDim, element, Kind::Decode);
  Value query = groupQueries(item, firstHead);
  Value key = item.headMatrix(op.getKey(), op.keyDims(), kvHead, first, count);
  Value value =
      item.headMatrix(op.getValue(), op.valueDims(), kvHead, first, count);
  Value bias = op.getBias() ? item.broadcastMatrix(op.getBias()) : Value();
  auto [mask, maskOperands] = maskOfItem(
      b, loc, {op, item.batch, item.head, zero, queryLength, keyLength},
      [&](Value tensor) { return item.broadcastMatrix(tensor); });
  TileMode mode = mask ? TileMode::Edge : TileMode::Full;
  Value state = InitStateOp::create(b, loc, stateType, query, op.getScaleAttr(),
                                    schedule);
  auto online = OnlineOp::create(
      b, loc, stateType, /*second_next=*/Type(), state, key, value, zero,
      queryLength, first, queryLength, keyLength, bias, maskOperands,
      item.captures(),
      /*second_state=*/Value(),
      /*second_key=*/Value(), mask, TileModeAttr::get(b.getContext(), mode),
      schedule, b.getI64IntegerAttr(packed));
  item.copyScoreFunction(online);
  return online.getNext();
}

/// (batches x groups of heads x parts x rows x (value_dim + 2)).
Value DecodeBuilder::saveParts() {
  Value perGroup = constant(packed);
  Value groups = arith::DivUIOp::create(b, loc, heads, perGroup);
  Value rows = arith::MulIOp::create(b, loc, queryLength, perGroup);
  OpFoldResult one = b.getIndexAttr(1), columns = b.getIndexAttr(valueDim + 2);
  SmallVector<OpFoldResult> shape{folded(batches), folded(groups),
                                  folded(splits), folded(rows), columns};
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  SmallVector<OpFoldResult> bounds(shape.begin(), shape.begin() + 3);
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(empty),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Value head = arith::MulIOp::create(b, loc, ivs[1], perGroup);
  AttentionItem item{op,   b,           loc,         ivs[0],   head,
                     zero, queryLength, queryLength, keyLength};
  Value state = groupState(item, ivs[2]);
  SmallVector<OpFoldResult> offsets{ivs[0], ivs[1], ivs[2], b.getIndexAttr(0),
                                    b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{one, one, one, folded(rows), columns},
      strides(5, one);
  Value destination = forall.getRegionIterArgs().front();
  Value part = item.slice(destination, offsets, sizes, {3, 4});
  auto saved = SaveStateOp::create(b, loc, TypeRange(part.getType()), state,
                                   part, schedule);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, saved.getResult(0), destination,
                                        offsets, sizes, strides);
  return forall.getResult(0);
}

/// The results of one head from its saved states, written into `tiles`.
SmallVector<Value> DecodeBuilder::combineHead(AttentionItem &item, Value parts,
                                              ArrayRef<Value> tiles) {
  SmallVector<Value> results(tiles);
  size_t count = op.getLse() ? 2 : 1;
  if (needsOut(op)) {
    auto combined = CombineOp::create(
        b, loc, ValueRange(tiles.take_front(count)).getTypes(), parts,
        item.sink(), tiles[0], op.getLse() ? tiles[1] : Value(), schedule);
    llvm::copy(combined.getResults(), results.begin());
  }
  if (op.getAcc()) {
    ArrayRef<Value> rows = tiles.take_back(3);
    auto combined =
        CombineStateOp::create(b, loc, ValueRange(rows).getTypes(), parts,
                               rows[0], rows[1], rows[2], schedule);
    llvm::copy(combined.getResults(), results.begin() + count);
  }
  return results;
}

SmallVector<Value> DecodeBuilder::combine(Value parts,
                                          ArrayRef<Value> destinations) {
  SmallVector<OpFoldResult> bounds{folded(batches), folded(heads)};
  auto forall = scf::ForallOp::create(b, loc, bounds, destinations,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  AttentionItem item{op,   b,           loc,         ivs[0],   ivs[1],
                     zero, queryLength, queryLength, keyLength};
  Value perGroup = constant(packed);
  Value group = arith::DivUIOp::create(b, loc, ivs[1], perGroup);
  Value within = arith::RemUIOp::create(b, loc, ivs[1], perGroup);
  Value firstRow = arith::MulIOp::create(b, loc, within, queryLength);
  OpFoldResult one = b.getIndexAttr(1), none = b.getIndexAttr(0);
  Value ofHead = item.slice(parts, {ivs[0], group, none, firstRow, none},
                            {one, one, folded(splits), folded(queryLength),
                             b.getIndexAttr(valueDim + 2)},
                            {2, 3, 4});
  SmallVector<ResultPart> results;
  SmallVector<Value> tiles;
  for (unsigned i = 0; i < destinations.size(); ++i) {
    results.push_back(resultPart(item, i));
    tiles.push_back(item.slice(forall.getRegionIterArgs()[i],
                               results[i].offsets, results[i].sizes,
                               results[i].kept));
  }
  SmallVector<Value> combined = combineHead(item, ofHead, tiles);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [i, result] : llvm::enumerate(combined)) {
    SmallVector<OpFoldResult> strides(results[i].offsets.size(), one);
    tensor::ParallelInsertSliceOp::create(
        b, loc, result, forall.getRegionIterArgs()[i], results[i].offsets,
        results[i].sizes, strides);
  }
  return SmallVector<Value>(forall.getResults());
}

SmallVector<Value> attn::tileDecode(SdpaOp op, IRRewriter &rewriter,
                                    ArrayRef<Value> destinations, Value when) {
  return DecodeBuilder(op, rewriter).emit(destinations, when);
}
