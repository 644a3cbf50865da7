// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-gradients: one parallel item per batch entry and key head.
//
// Before:  %dq, %dk, %dv = attn.sdpa_grad %q, %k, %v scale 0.125
//              where causal(top_left) out %out .. lse %lse .. cotangents %d_out
//              wrt ["query", "key", "value"]
// After:   %g:3 = scf.forall (%b, %h) in (%B, 2) shared_outs(%dq, %dk, %dv) {
//            %dk0 = linalg.fill ins(%zero) outs(%dk[%b, %h, 0, 0] ..)
//            scf.for %i = %c0 to %group iter_args(..) {     // query heads
//              scf.for %t = %c0 to %tiles iter_args(..) {   // tiles of queries
//                %s = attn.init_grad %q_tile out .. cotangents .. lse ..
//                %n:2 = attn.grad_step %s, %k, %v rows .. keys from %c0 ..
//                where
//                    causal(top_left) mode edge of .. outs(%dk, %dv ..)
//                %r = attn.finish_grad %s outs(%dq_tile ..)
//              }
//            }
//            scf.forall.in_parallel { .. }
//          }
//
// An item owns its key head: it walks the query heads of the group and their
// tiles in order, so that every sum has an order that depends on the shapes and
// the schedule alone. The step still sees all keys; attn-tile-keys cuts them.
//
// Where a batch entry has fewer key heads than a machine may have threads, the
// keys of a head are cut into parts with an item each, `split_keys` or more
// keys of them. Each part gives a gradient by the queries of its own, and a
// second loop adds them in their order:
//   %d:3 = scf.forall (%b, %h, %part) in (%B, 2, %parts) ..
//   %dq = scf.forall (%b, %h) in (%B, 8) { linalg.generic .. outs(%dq0 ..) .. }
// The number of parts depends on the heads and on the number of keys, not on
// the batch: neither does a bit of an entry's gradient.
//
// Sums have the type of the statistics. Gradients of a narrower type are
// rounded once: by keys and values when an item has walked all heads of its
// group, by queries behind a tile, or behind the sum of the parts.
//
// What nobody asked for of the three gradients is computed and dropped.
//
// Before: every sdpa_grad has a schedule, and attn-check-gradients has accepted
// it. After: none is left.
#include "AttentionItem.h"
#include "HeadSlices.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_TILEGRADIENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The most items per batch entry for which keys are cut into parts.
static constexpr int64_t fewItems = 8;

namespace {
/// Parts of the keys of a head.
struct KeyParts {
  Value count, keys; ///< parts, and keys of all but the last
};

/// What an item works on.
struct Place {
  Value batch, keyHead, firstKey, keys;
};

/// Tiles one op.
class Tiler {
public:
  Tiler(SdpaGradOp op, SdpaOp attention, OpBuilder &b);

  /// Gradients by query, key and value, written into `destinations`.
  SmallVector<Value> tile(ArrayRef<Value> destinations);

private:
  using Sums = SmallVector<Value>; ///< of query, key and value

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// for (i = 0; i < count; ++i), with the sums carried.
  Sums loop(Value count, ValueRange sums,
            function_ref<Sums(Value i, ValueRange sums)> body);
  Sums tileOfQueries(AttentionItem &item, const Place &place, Value headOfItem,
                     ValueRange sums);
  /// A tensor with a number per row: those of the item.
  Value rowsOf(AttentionItem &item, Value numbers);
  std::optional<KeyParts> partsOfKeys();
  Value emptyParts();
  Place placeOf(ValueRange indices);
  /// All sums of an item; those by keys and values begin as zeros.
  Sums sumsOf(const Place &place, Value dQuery, Value dKey, Value dValue);
  Value addParts(Value ofParts, Value destination);
  /// Whether sums are rounded before they are stored as `rows`.
  bool rounds(Value rows);
  /// Zeros to which an item adds: in `rows`, or in memory of its own.
  Value zerosLike(Value rows);
  /// The loop over items: the gradient by queries, of all parts if there are
  /// some, and those by keys and values.
  Value tileParts(ArrayRef<Value> outs, SmallVector<Value> &ofKeys);

  SdpaGradOp op;
  SdpaOp attention;
  OpBuilder &b;
  Location loc;
  QueryTiles tiles;
  Value batches, queryHeads, keyHeads, group;
  Type element; ///< of the sums
  std::optional<KeyParts> parts;
  SliceDims dQueryDims;
};
} // namespace

Tiler::Tiler(SdpaGradOp op, SdpaOp attention, OpBuilder &b)
    : op(op), attention(attention), b(b), loc(op.getLoc()), tiles(attention, b),
      batches(sizeOf(b, loc, op.getQuery(), op.queryDims().batch)),
      queryHeads(sizeOf(b, loc, op.getQuery(), op.queryDims().head)),
      keyHeads(sizeOf(b, loc, op.getKey(), op.keyDims().head)),
      group(tiles.group ? tiles.group : index(1)), dQueryDims(op.queryDims()) {
  Type query = op.getQuery().getType().getElementType();
  element = query.isF64() ? query : b.getF32Type();
  parts = partsOfKeys();
  if (parts)
    dQueryDims = SliceDims::ofParts();
}

/// Parts of `split_keys` keys, or larger ones where there were too many of
/// them.
std::optional<KeyParts> Tiler::partsOfKeys() {
  ScheduleInterface schedule = op.getScheduleAttr();
  HeadDims k = op.keyDims();
  RankedTensorType key = op.getKey().getType();
  int64_t heads = k.head < 0 ? 1 : key.getDimSize(k.head);
  int64_t most = llvm::divideCeil(fewItems, heads);
  int64_t least = schedule.getSplitKeys(), length = key.getDimSize(k.sequence);
  if (most == 1 || least == 0 ||
      (!ShapedType::isDynamic(length) && length <= least))
    return std::nullopt;
  auto ceilDiv = [&](Value x, int64_t divisor) -> Value {
    return arith::CeilDivUIOp::create(b, loc, x, index(divisor));
  };
  int64_t unit = most * schedule.getKeyTile();
  Value count = arith::MinUIOp::create(b, loc, ceilDiv(tiles.keyLength, least),
                                       index(most));
  Value keys = arith::MulIOp::create(b, loc, ceilDiv(tiles.keyLength, unit),
                                     index(schedule.getKeyTile()));
  return KeyParts{count, arith::MaxUIOp::create(b, loc, keys, index(least))};
}

Tiler::Sums Tiler::loop(Value count, ValueRange sums,
                        function_ref<Sums(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, index(0), count, index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Sums next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return Sums(loop.getResults());
}

Value Tiler::rowsOf(AttentionItem &item, Value numbers) {
  if (!numbers)
    return {};
  int64_t rank = cast<RankedTensorType>(numbers.getType()).getRank();
  HeadDims dims = HeadDims::of(rank + 1, Layout::HeadMajor);
  SmallVector<OpFoldResult> offsets(rank, item.index(0)),
      sizes(rank, item.index(1));
  if (dims.batch >= 0)
    offsets[dims.batch] = item.batch;
  if (dims.head >= 0)
    offsets[dims.head] = item.head;
  offsets[dims.sequence] = item.begin;
  sizes[dims.sequence] = item.rows;
  return item.slice(numbers, offsets, sizes, {dims.sequence});
}

/// The gradients behind one tile of queries. That by the queries is a tensor of
/// the heads of the item, of which this is number `headOfItem`.
Tiler::Sums Tiler::tileOfQueries(AttentionItem &item, const Place &place,
                                 Value headOfItem, ValueRange sums) {
  auto heads = [&](Value tensor, HeadDims dims, Value head, Value from,
                   Value count) -> Value {
    return item.headMatrix(tensor, dims, head, getAsOpFoldResult(from),
                           getAsOpFoldResult(count));
  };
  Value query =
      heads(op.getQuery(), op.queryDims(), item.head, item.begin, item.rows);
  Value out =
      heads(op.getOut(), op.outDims(), item.head, item.begin, item.rows);
  Value dOut =
      heads(op.getDOut(), op.outDims(), item.head, item.begin, item.rows);
  Value lse = rowsOf(item, op.getLse()), dLse = rowsOf(item, op.getDLse());
  ScheduleInterface schedule = op.getScheduleAttr();
  auto type = GradStateType::get(
      op.getContext(), op.getScheduleAttr().getQueryTile(),
      op.getQuery().getType().getDimSize(op.queryDims().feature),
      op.getValue().getType().getDimSize(op.valueDims().feature), element);
  Value state = InitGradOp::create(b, loc, type, query, out, dOut, lse, dLse,
                                   op.getScaleAttr(), schedule);
  ItemMask mask = item.mask();
  Value key = heads(op.getKey(), op.keyDims(), place.keyHead, place.firstKey,
                    place.keys);
  Value value = heads(op.getValue(), op.valueDims(), place.keyHead,
                      place.firstKey, place.keys);
  Value bias = op.getBias() ? item.broadcastMatrix(op.getBias()) : Value();
  Value end = arith::AddIOp::create(b, loc, item.begin, item.rows);
  TileMode mode = mask.mask ? TileMode::Edge : TileMode::Full;
  SmallVector<Type> types{sums[1].getType(), sums[2].getType()};
  auto step = GradStepOp::create(
      b, loc, types, state, key, value, item.begin, end, place.firstKey,
      item.queryLength, item.keyLength, bias, mask.operands,
      /*captures=*/ValueRange(), query, dOut, sums[1], sums[2],
      /*sums=*/ValueRange(), /*by=*/ArrayAttr(), /*scale=*/FloatAttr(),
      mask.mask, TileModeAttr::get(op.getContext(), mode),
      op.getNormalizationAttr(), schedule);
  HeadSlice part = headSliceOf(b, sums[0], dQueryDims, b.getIndexAttr(0),
                               headOfItem, b.getIndexAttr(1));
  part.offsets[dQueryDims.sequence] = item.begin;
  part.sizes[dQueryDims.sequence] = item.rows;
  Value rows = item.slice(sums[0], part.offsets, part.sizes, part.kept);
  auto finish = FinishGradOp::create(b, loc, TypeRange{rows.getType()}, state,
                                     rows, schedule);
  Value dQuery = insertSlice(b, finish.getResults()[0], sums[0], part);
  return {dQuery, step.getResults()[0], step.getResults()[1]};
}

Tiler::Sums Tiler::sumsOf(const Place &place, Value dQuery, Value dKey,
                          Value dValue) {
  Value firstHead = arith::MulIOp::create(b, loc, place.keyHead, group);
  return loop(group, {dQuery, dKey, dValue}, [&](Value i, ValueRange s) {
    Value head = arith::AddIOp::create(b, loc, firstHead, i);
    return loop(tiles.count, s, [&](Value t, ValueRange inner) {
      Value begin = arith::MulIOp::create(b, loc, t, tiles.size);
      Value left = arith::SubIOp::create(b, loc, tiles.queryLength, begin);
      Value rows = arith::MinUIOp::create(b, loc, left, tiles.size);
      AttentionItem item{attention,
                         b,
                         loc,
                         place.batch,
                         head,
                         begin,
                         rows,
                         tiles.queryLength,
                         tiles.keyLength,
                         tiles.group};
      return tileOfQueries(item, place, i, inner);
    });
  });
}

/// (batches x heads x parts x queries x features).
Value Tiler::emptyParts() {
  HeadDims q = op.queryDims();
  SmallVector<OpFoldResult> shape{
      getAsOpFoldResult(batches), getAsOpFoldResult(queryHeads),
      getAsOpFoldResult(parts->count), getAsOpFoldResult(tiles.queryLength),
      b.getIndexAttr(op.getQuery().getType().getDimSize(q.feature))};
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Place Tiler::placeOf(ValueRange indices) {
  if (!parts)
    return {indices[0], indices[1], index(0), tiles.keyLength};
  Value first = arith::MulIOp::create(b, loc, indices[2], parts->keys);
  Value end = arith::MaxUIOp::create(b, loc, tiles.keyLength, first);
  Value left = arith::SubIOp::create(b, loc, end, first);
  return {indices[0], indices[1], first,
          arith::MinUIOp::create(b, loc, left, parts->keys)};
}

/// Adds the gradients by queries of all parts in their order.
Value Tiler::addParts(Value ofParts, Value destination) {
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batches),
                                   getAsOpFoldResult(queryHeads)};
  auto forall = scf::ForallOp::create(b, loc, bounds, destination,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Value batch = forall.getInductionVar(0), head = forall.getInductionVar(1);
  AttentionItem item{attention,      b,        loc,      batch,
                     head,           index(0), index(1), tiles.queryLength,
                     tiles.keyLength};
  OpFoldResult one = b.getIndexAttr(1);
  Value out = forall.getRegionIterArgs()[0];
  HeadSlice slice =
      headSliceOf(b, out, SliceDims(op.queryDims()), batch, head, one);
  Value rows = item.slice(out, slice.offsets, slice.sizes, slice.kept);
  Value zeros = zerosLike(rows);
  Value sum = loop(parts->count, zeros, [&](Value i, ValueRange s) -> Sums {
    HeadSlice part =
        headSliceOf(b, ofParts, SliceDims::ofParts(), batch, head, one);
    part.offsets[dQueryDims.part] = i;
    part.sizes[dQueryDims.part] = one;
    Value next = item.slice(ofParts, part.offsets, part.sizes, part.kept);
    return {
        linalg::AddOp::create(b, loc, ValueRange{s[0], next}, ValueRange{s[0]})
            .getResult(0)};
  })[0];
  Value rounded = rounds(rows) ? roundInto(b, sum, rows) : sum;
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, rounded, out, slice.offsets,
                                        slice.sizes, slice.strides);
  return forall.getResult(0);
}

bool Tiler::rounds(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getElementType() != element;
}

Value Tiler::zerosLike(Value rows) {
  if (!rounds(rows))
    return zerosIn(b, rows);
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(b, loc, rows, i));
  // Not tensor.empty: those of keys and values would become one.
  return zerosIn(b, bufferization::AllocTensorOp::create(
                        b, loc, type.clone(element), sizes));
}

Value Tiler::tileParts(ArrayRef<Value> outs, SmallVector<Value> &ofKeys) {
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batches),
                                   getAsOpFoldResult(keyHeads)};
  if (parts)
    bounds.push_back(getAsOpFoldResult(parts->count));
  auto forall = scf::ForallOp::create(b, loc, bounds, outs,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Place place = placeOf(forall.getInductionVars());
  AttentionItem whole{attention,      b,        loc,      place.batch,
                      place.keyHead,  index(0), index(1), tiles.queryLength,
                      tiles.keyLength};
  ArrayRef<BlockArgument> args = forall.getRegionIterArgs();
  HeadDims dims[] = {op.keyDims(), op.valueDims()};
  Value firstHead = arith::MulIOp::create(b, loc, place.keyHead, group);
  SmallVector<HeadSlice> slices{headSliceOf(b, args[0], dQueryDims, place.batch,
                                            firstHead,
                                            getAsOpFoldResult(group))};
  if (parts) {
    slices[0].offsets[dQueryDims.part] = forall.getInductionVar(2);
    slices[0].sizes[dQueryDims.part] = b.getIndexAttr(1);
  }
  SmallVector<Value> rows,
      sums{tensor::ExtractSliceOp::create(b, loc, args[0], slices[0].offsets,
                                          slices[0].sizes, slices[0].strides)};
  for (auto [arg, of] : llvm::zip(args.drop_front(), dims)) {
    HeadSlice slice = headSliceOf(b, arg, SliceDims(of), place.batch,
                                  place.keyHead, b.getIndexAttr(1));
    slice.offsets[of.sequence] = getAsOpFoldResult(place.firstKey);
    slice.sizes[of.sequence] = getAsOpFoldResult(place.keys);
    rows.push_back(whole.slice(arg, slice.offsets, slice.sizes, slice.kept));
    sums.push_back(zerosLike(rows.back()));
    slices.push_back(slice);
  }
  sums = sumsOf(place, sums[0], sums[1], sums[2]);
  for (auto [i, of] : llvm::enumerate(rows))
    if (rounds(of))
      sums[i + 1] = roundInto(b, sums[i + 1], of);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [sum, out, slice] : llvm::zip(sums, args, slices))
    tensor::ParallelInsertSliceOp::create(b, loc, sum, out, slice.offsets,
                                          slice.sizes, slice.strides);
  llvm::append_range(ofKeys, forall.getResults().drop_front());
  return forall.getResult(0);
}

SmallVector<Value> Tiler::tile(ArrayRef<Value> destinations) {
  SmallVector<Value> outs(destinations), ofKeys;
  if (parts)
    outs[0] = emptyParts();
  Value dQuery = tileParts(outs, ofKeys);
  if (parts)
    dQuery = addParts(dQuery, destinations[0]);
  return {dQuery, ofKeys[0], ofKeys[1]};
}

/// Without queries, keys or features all gradients are 0. (A view of a
/// dimension of static size 0 does not verify, so there is nothing to tile
/// either.)
static bool isStaticallyEmpty(SdpaGradOp op) {
  return llvm::any_of(
      ValueRange{op.getQuery(), op.getKey(), op.getValue()}.getTypes(),
      [](Type type) {
        return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
      });
}

static LogicalResult tileGradient(SdpaGradOp op, IRRewriter &rewriter) {
  if (!op.getScheduleAttr())
    return op.emitOpError("has no schedule; run attn-assign-schedule before "
                          "attn-tile-gradients");
  rewriter.setInsertionPoint(op);
  SmallVector<Value> destinations;
  for (Value of : {op.getQuery(), op.getKey(), op.getValue()})
    destinations.push_back(emptyLike(rewriter, of));
  SmallVector<Value> all;
  if (isStaticallyEmpty(op)) {
    for (Value destination : destinations)
      all.push_back(zerosIn(rewriter, destination));
  } else {
    SdpaOp attention = op.attention(rewriter);
    all = Tiler(op, attention, rewriter).tile(destinations);
    rewriter.eraseOp(attention);
  }
  SmallVector<Value> wanted;
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>())
    wanted.push_back(all[name == "query" ? 0 : name == "key" ? 1 : 2]);
  rewriter.replaceOp(op, wanted);
  return success();
}

namespace {
struct TileGradients : attn::impl::TileGradientsBase<TileGradients> {
  void runOnOperation() override {
    SmallVector<SdpaGradOp> ops;
    getOperation()->walk([&](SdpaGradOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (SdpaGradOp op : ops)
      if (failed(tileGradient(op, rewriter)))
        return signalPassFailure();
  }
};
} // namespace
