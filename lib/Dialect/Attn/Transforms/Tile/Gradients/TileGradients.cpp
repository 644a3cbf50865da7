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
// A step also adds to the gradients by the bias and by captured tensors, of
// which an item has a part or a copy (GradientSums). It gets the score function
// with its derivatives (ScoreTangents). Where a batch shares a learned bias
// with an element per pair, an item walks the batch instead of having copies.
//
// What nobody asked for of the three gradients is computed and dropped.
//
// Before: every sdpa_grad has a schedule, and attn-check-gradients has accepted
// it. After: none is left.
#include "Gradient/RowCotangents.h"
#include "GradientTile.h"
#include "Tile/DocumentRows.h"
#include "Tile/KeyParts.h"
#include "Tile/NumberDocuments.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_TILEGRADIENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Tiles one op.
class Tiler {
public:
  Tiler(SdpaGradOp op, SdpaOp attention, OpBuilder &b);

  /// The gradients that the op asks for.
  SmallVector<Value> tile();

private:
  /// By query, key and value, and those that are `learned`.
  using Sums = SmallVector<Value>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// for (i = 0; i < count; ++i), with the sums carried.
  Sums loop(Value count, ValueRange sums,
            function_ref<Sums(Value i, ValueRange sums)> body);
  Value emptyParts();
  GradientItem placeOf(ValueRange indices);
  /// All sums of an item; those by keys and values begin as zeros.
  Sums sumsOf(const GradientItem &place, ValueRange sums);
  /// `add` of the queries of one document after the other, where there are
  /// documents.
  Sums perDocument(AttentionItem &queries, ValueRange sums,
                   function_ref<Sums(ArrayRef<Value> sums)> add);
  Value addParts(Value ofParts, Value destination);
  /// Whether sums are rounded before they are stored as `rows`.
  bool rounds(Value rows);
  /// Zeros to which an item adds: in `rows`, or in memory of its own.
  Value zerosLike(Value rows);
  SmallVector<HeadSlice> slicesOf(ValueRange outs, const GradientItem &item);
  /// The sums of one batch entry and key head, in slices of `outs`.
  Sums sumsIn(ValueRange outs, ArrayRef<HeadSlice> slices,
              const GradientItem &place, ValueRange learned);
  /// Those of all batch entries, of which slices have the rows.
  Sums walkBatch(ValueRange outs, ArrayRef<HeadSlice> slices,
                 const GradientItem &place, ValueRange learned);
  /// The loop over items: the gradient by queries, of all parts if there are
  /// some, those by keys and values, and what items wrote of the others.
  Sums tileItems(ArrayRef<Value> outs);

  SdpaGradOp op;
  SdpaOp attention;
  OpBuilder &b;
  Location loc;
  QueryTiles tiles;
  Value batches, queryHeads, keyHeads, group;
  std::optional<KeyParts> parts;
  bool walksBatch;
  GradientTiles shared;
};
} // namespace

/// The place of a gradient that an item computes in any case.
static std::optional<unsigned> numberOf(StringAttr name) {
  if (name == "query")
    return 0;
  if (name == "key")
    return 1;
  if (name == "value")
    return 2;
  return std::nullopt;
}

Tiler::Tiler(SdpaGradOp op, SdpaOp attention, OpBuilder &b)
    : op(op), attention(attention), b(b), loc(op.getLoc()), tiles(attention, b),
      batches(sizeOf(b, loc, op.getQuery(), op.queryDims().batch)),
      queryHeads(sizeOf(b, loc, op.getQuery(), op.queryDims().head)),
      keyHeads(sizeOf(b, loc, op.getKey(), op.keyDims().head)),
      group(tiles.group ? tiles.group : index(1)),
      parts(partsOfKeys(b, op, tiles.keyLength)), walksBatch(sharesPairs(op)),
      shared{op,
             statisticsOf(op),
             parts ? SliceDims::ofParts() : SliceDims(op.queryDims()),
             cotangentOfLse(b, op),
             {}} {
  GradientItems items{batches, keyHeads, parts ? parts->count : Value(), group,
                      walksBatch};
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>())
    if (!numberOf(name))
      shared.learned.emplace_back(b, op, name, items, shared.element);
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

Tiler::Sums Tiler::sumsOf(const GradientItem &place, ValueRange sums) {
  Value firstHead = arith::MulIOp::create(b, loc, place.keyHead, group);
  return loop(group, sums, [&](Value i, ValueRange s) {
    Value head = arith::AddIOp::create(b, loc, firstHead, i);
    return loop(tiles.count, s, [&](Value t, ValueRange inner) {
      Value begin = arith::MulIOp::create(b, loc, t, tiles.size);
      Value left = arith::SubIOp::create(b, loc, tiles.queryLength, begin);
      Value rows = arith::MinUIOp::create(b, loc, left, tiles.size);
      AttentionItem queries{attention,
                            b,
                            loc,
                            place.batch,
                            head,
                            begin,
                            rows,
                            tiles.queryLength,
                            tiles.keyLength,
                            tiles.group};
      return perDocument(queries, inner, [&](ArrayRef<Value> values) {
        return addTile(shared, queries, place, i, values);
      });
    });
  });
}

Tiler::Sums Tiler::perDocument(AttentionItem &queries, ValueRange sums,
                               function_ref<Sums(ArrayRef<Value> sums)> add) {
  Value numbers = documentNumbers(
      b, loc, {attention, queries.batch, queries.head, {}, {}, {}});
  if (!numbers)
    return add(SmallVector<Value>(sums));
  Value end = arith::AddIOp::create(b, loc, queries.begin, queries.rows);
  return emitRuns(b, loc, numbers, {queries.begin, end},
                  SmallVector<Value>(sums),
                  [&](Value from, Value to, ArrayRef<Value> values) {
                    queries.begin = from;
                    queries.rows = arith::SubIOp::create(b, loc, to, from);
                    return add(values);
                  });
}

/// (batches x heads x parts x queries x features).
Value Tiler::emptyParts() {
  HeadDims q = op.queryDims();
  SmallVector<OpFoldResult> shape{
      getAsOpFoldResult(batches), getAsOpFoldResult(queryHeads),
      getAsOpFoldResult(parts->count), getAsOpFoldResult(tiles.queryLength),
      b.getIndexAttr(op.getQuery().getType().getDimSize(q.feature))};
  return tensor::EmptyOp::create(b, loc, shape, shared.element);
}

GradientItem Tiler::placeOf(ValueRange indices) {
  if (!parts)
    return {indices[0], indices[1], /*part=*/Value(), index(0),
            tiles.keyLength};
  Value first = arith::MulIOp::create(b, loc, indices[2], parts->keys);
  Value end = arith::MaxUIOp::create(b, loc, tiles.keyLength, first);
  Value left = arith::SubIOp::create(b, loc, end, first);
  return {indices[0], indices[1], indices[2], first,
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
    part.offsets[shared.dQueryDims.part] = i;
    part.sizes[shared.dQueryDims.part] = one;
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
  return cast<RankedTensorType>(rows.getType()).getElementType() !=
         shared.element;
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
                        b, loc, type.clone(shared.element), sizes));
}

/// What of `outs`, gradients by query, key and value, belongs to the item.
SmallVector<HeadSlice> Tiler::slicesOf(ValueRange outs,
                                       const GradientItem &item) {
  OpFoldResult one = b.getIndexAttr(1);
  Value firstHead = arith::MulIOp::create(b, loc, item.keyHead, group);
  SmallVector<HeadSlice> slices{headSliceOf(b, outs[0], shared.dQueryDims,
                                            item.batch, firstHead,
                                            getAsOpFoldResult(group))};
  if (parts) {
    slices[0].offsets[shared.dQueryDims.part] = item.part;
    slices[0].sizes[shared.dQueryDims.part] = one;
  }
  HeadDims dims[] = {op.keyDims(), op.valueDims()};
  for (auto [out, of] : llvm::zip(outs.slice(1, 2), dims)) {
    HeadSlice &slice = slices.emplace_back(
        headSliceOf(b, out, SliceDims(of), item.batch, item.keyHead, one));
    slice.offsets[of.sequence] = getAsOpFoldResult(item.firstKey);
    slice.sizes[of.sequence] = getAsOpFoldResult(item.keys);
  }
  return slices;
}

Tiler::Sums Tiler::sumsIn(ValueRange outs, ArrayRef<HeadSlice> slices,
                          const GradientItem &place, ValueRange learned) {
  AttentionItem whole{attention,      b,        loc,      place.batch,
                      place.keyHead,  index(0), index(1), tiles.queryLength,
                      tiles.keyLength};
  SmallVector<Value> rows,
      sums{tensor::ExtractSliceOp::create(b, loc, outs[0], slices[0].offsets,
                                          slices[0].sizes, slices[0].strides)};
  for (unsigned i : {1, 2}) {
    rows.push_back(whole.slice(outs[i], slices[i].offsets, slices[i].sizes,
                               slices[i].kept));
    sums.push_back(zerosLike(rows.back()));
  }
  llvm::append_range(sums, learned);
  sums = sumsOf(place, sums);
  for (auto [i, of] : llvm::enumerate(rows))
    if (rounds(of))
      sums[i + 1] = roundInto(b, sums[i + 1], of);
  return sums;
}

Tiler::Sums Tiler::walkBatch(ValueRange outs, ArrayRef<HeadSlice> slices,
                             const GradientItem &place, ValueRange learned) {
  Sums carried;
  for (auto [out, slice] : llvm::zip(outs, slices))
    carried.push_back(tensor::ExtractSliceOp::create(
        b, loc, out, slice.offsets, slice.sizes, slice.strides));
  llvm::append_range(carried, learned);
  return loop(batches, carried, [&](Value batch, ValueRange all) {
    Value zero = index(0);
    auto ofItem = all.take_front(3);
    GradientItem entry = place, local{batch, zero, zero, zero, place.keys};
    entry.batch = batch;
    SmallVector<HeadSlice> of = slicesOf(ofItem, local);
    Sums next = sumsIn(ofItem, of, entry, all.drop_front(3));
    for (auto [i, slice] : llvm::enumerate(of))
      next[i] = insertSlice(b, next[i], all[i], slice);
    return next;
  });
}

Tiler::Sums Tiler::tileItems(ArrayRef<Value> outs) {
  SmallVector<OpFoldResult> bounds{walksBatch ? b.getIndexAttr(1)
                                              : getAsOpFoldResult(batches),
                                   getAsOpFoldResult(keyHeads)};
  if (parts)
    bounds.push_back(getAsOpFoldResult(parts->count));
  auto forall = scf::ForallOp::create(b, loc, bounds, outs,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  GradientItem place = placeOf(forall.getInductionVars());
  AttentionItem whole{attention,      b,        loc,      place.batch,
                      place.keyHead,  index(0), index(1), tiles.queryLength,
                      tiles.keyLength};
  SmallVector<Value> args(forall.getRegionIterArgs()), learnedSums;
  SmallVector<HeadSlice> slices = slicesOf(args, place);
  int batchDims[] = {shared.dQueryDims.batch, op.keyDims().batch,
                     op.valueDims().batch};
  if (walksBatch)
    for (auto [slice, dim] : llvm::zip(slices, batchDims))
      slice.sizes[dim] = getAsOpFoldResult(batches);
  SmallVector<HeadSlice> ofLearned;
  for (auto [learned, arg] :
       llvm::zip(shared.learned, ArrayRef(args).drop_front(3))) {
    HeadSlice &slice = ofLearned.emplace_back(learned.ofItem(b, place));
    learnedSums.push_back(
        zerosIn(b, whole.slice(arg, slice.offsets, slice.sizes, slice.kept)));
  }
  ValueRange threeOuts = ValueRange(args).take_front(3);
  Sums sums = walksBatch ? walkBatch(threeOuts, slices, place, learnedSums)
                         : sumsIn(threeOuts, slices, place, learnedSums);
  llvm::append_range(slices, ofLearned);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [sum, out, slice] : llvm::zip(sums, args, slices))
    tensor::ParallelInsertSliceOp::create(b, loc, sum, out, slice.offsets,
                                          slice.sizes, slice.strides);
  return SmallVector<Value>(forall.getResults());
}

SmallVector<Value> Tiler::tile() {
  SmallVector<Value> outs;
  for (Value of : {op.getQuery(), op.getKey(), op.getValue()})
    outs.push_back(emptyLike(b, of));
  Value dQuery = outs[0];
  if (parts)
    outs[0] = emptyParts();
  for (const GradientSum &learned : shared.learned)
    outs.push_back(learned.empty(b, loc));
  Sums sums = tileItems(outs);
  if (parts)
    sums[0] = addParts(sums[0], dQuery);
  SmallVector<Value> gradients;
  unsigned next = 3;
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>()) {
    std::optional<unsigned> number = numberOf(name);
    gradients.push_back(number ? sums[*number]
                               : shared.learned[next - 3].total(b, sums[next]));
    next += !number;
  }
  return gradients;
}

static LogicalResult tileGradient(SdpaGradOp op, IRRewriter &rewriter) {
  if (!op.getScheduleAttr())
    return op.emitOpError("has no schedule; run attn-assign-schedule before "
                          "attn-tile-gradients");
  rewriter.setInsertionPoint(op);
  SmallVector<Value> gradients;
  if (isStaticallyEmpty(op)) {
    gradients = zeroGradients(rewriter, op);
  } else {
    SdpaOp attention = op.attention(rewriter);
    IRMapping mapping;
    op.getScoreFunction().cloneInto(&attention.getScoreFunction(), mapping);
    numberDocuments(attention, rewriter);
    gradients = Tiler(op, attention, rewriter).tile();
    rewriter.eraseOp(attention);
  }
  rewriter.replaceOp(op, gradients);
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
