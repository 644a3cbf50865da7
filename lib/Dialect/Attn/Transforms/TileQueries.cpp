// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One parallel item per batch entry, head and tile of queries.
//
// Before:  %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
// After:   %out = scf.forall (%b, %h, %i) in (%B, 8, %tiles)
//              shared_outs(%o = %empty) {
//            %q_tile = tensor.extract_slice %q[%b, %h, %begin, 0] ..
//            %s0 = attn.init_state %q_tile scale 0.125 ..
//            %s1 = attn.online %s0, %k_head, %v_head rows %begin to %end
//                    keys from %c0 .. where causal(top_left) mode edge
//            %r = attn.finalize %s1 outs(%o_tile ..)
//            scf.forall.in_parallel { tensor.parallel_insert_slice %r .. }
//          }
//
// Where rows see their own document only, an item goes through its documents
// one after the other (DocumentRows.cpp).
//
// The online op still sees all keys; attn-tile-keys cuts them. Tiles are taken
// from the last to the first, because with causal masks the last ones have the
// most work, and a parallel loop should end with short items. Heads of a group
// read the same key head; nothing is copied. Results `weights` and `scores` are
// written by an attn.weigh behind finalize, when the statistics are final.
//
// Few queries per head have a kernel of their own (TileDecode.cpp). Where the
// number of queries is known at run time only, both parallel loops are there,
// and one of them has no items.
//
// Before: every sdpa has a schedule. After: no sdpa is left.
#include "AttentionItem.h"
#include "DocumentRows.h"
#include "ItemMask.h"
#include "NumberDocuments.h"
#include "attn/Dialect/Attn/IR/ScoreFunction.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_TILEQUERIES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The state with this head's sink, if there are sinks.
static Value addSink(AttentionItem &item, OnlineOp online,
                     ScheduleAttr schedule) {
  Value state = online.getNext(), sink = item.sink();
  if (!sink)
    return state;
  return AddSinkOp::create(item.builder, item.loc, state.getType(), state, sink,
                           schedule);
}

/// out and lse, unless nothing uses them.
static SmallVector<Value> finalizeItem(AttentionItem &item, Value state,
                                       ArrayRef<Value> destinations,
                                       ScheduleAttr schedule) {
  if (!needsOut(item.op))
    return {destinations[0]};
  Value lse = item.op.getLse() ? destinations[1] : Value();
  ArrayRef<Value> written = destinations.take_front(lse ? 2 : 1);
  auto finalize =
      FinalizeOp::create(item.builder, item.loc, ValueRange(written).getTypes(),
                         state, written[0], lse, schedule);
  return SmallVector<Value>(finalize.getResults());
}

/// The state of each row, if it is a result.
static SmallVector<Value> returnState(AttentionItem &item, Value state,
                                      ArrayRef<Value> destinations,
                                      ScheduleAttr schedule) {
  if (!item.op.getAcc())
    return {};
  ArrayRef<Value> rows = destinations.take_back(3);
  auto returned =
      ReturnStateOp::create(item.builder, item.loc, ValueRange(rows).getTypes(),
                            state, rows[0], rows[1], rows[2], schedule);
  return SmallVector<Value>(returned.getResults());
}

/// The op's results for one item, in the order of the results.
static SmallVector<Value>
computeItem(AttentionItem &item, ArrayRef<Value> destinations, Value group) {
  SdpaOp op = item.op;
  OpBuilder &b = item.builder;
  Location loc = item.loc;
  ScheduleAttr schedule = op.getScheduleAttr();
  Type queryElement = op.getQuery().getType().getElementType();
  Type element = queryElement.isF64() ? queryElement : b.getF32Type();
  auto stateType =
      StateType::get(b.getContext(), schedule.getQueryTile(),
                     op.getQuery().getType().getShape().back(),
                     op.getValue().getType().getShape().back(), element,
                     Kind::Prefill, op.getNormalization());
  Value query = item.headMatrix(op.getQuery(), op.queryDims(), item.head,
                                item.begin, item.rows);
  Value kvHead =
      group ? arith::DivUIOp::create(b, loc, item.head, group) : item.head;
  OpFoldResult zero = b.getIndexAttr(0),
               keys = getAsOpFoldResult(item.keyLength);
  Value key = item.headMatrix(op.getKey(), op.keyDims(), kvHead, zero, keys);
  Value value =
      item.headMatrix(op.getValue(), op.valueDims(), kvHead, zero, keys);
  Value bias = op.getBias() ? item.broadcastMatrix(op.getBias()) : Value();
  Value end = arith::AddIOp::create(b, loc, item.begin, item.rows);
  auto [mask, maskOperands] = maskOfItem(
      b, loc, {op, item.batch, item.head, item.begin, end, item.keyLength},
      [&](Value tensor) { return item.broadcastMatrix(tensor); });
  TileMode mode = mask ? TileMode::Edge : TileMode::Full;
  Value first = arith::ConstantIndexOp::create(b, loc, 0);

  SmallVector<Value> captures = item.captures();
  Value state = InitStateOp::create(b, loc, stateType, query, op.getScaleAttr(),
                                    schedule);
  auto online = OnlineOp::create(
      b, loc, stateType, state, key, value, item.begin, end, first,
      item.queryLength, item.keyLength, bias, maskOperands, captures, mask,
      TileModeAttr::get(b.getContext(), mode), schedule,
      /*heads=*/b.getI64IntegerAttr(1));
  item.copyScoreFunction(online);
  state = addSink(item, online, schedule);
  SmallVector<Value> results =
      finalizeItem(item, state, destinations, schedule);
  SmallVector<Value> ofState = returnState(item, state, destinations, schedule);
  if (op.getWeights() || op.getScores()) {
    ArrayRef<Value> matrices =
        destinations.drop_front(results.size()).drop_back(ofState.size());
    Value weights = op.getWeights() ? matrices.front() : Value();
    Value scores = op.getScores() ? matrices.back() : Value();
    auto weigh = WeighOp::create(
        b, loc, ValueRange(matrices).getTypes(), state, key, item.begin, end,
        first, item.queryLength, item.keyLength, bias, maskOperands, captures,
        weights, scores, op.getScaleAttr(), mask, op.getScoresStageAttr(),
        schedule, /*score_functionCount=*/scoreFunctionOf(op) ? 1 : 0);
    item.copyScoreFunction(weigh);
    llvm::append_range(results, weigh.getResults());
  }
  llvm::append_range(results, ofState);
  return results;
}

/// The same, document by document where rows see their own document only.
static SmallVector<Value>
computeRows(AttentionItem &item, ArrayRef<Value> destinations, Value group) {
  OpBuilder &b = item.builder;
  Value numbers = documentNumbers(b, item.loc,
                                  {item.op, item.batch, item.head, {}, {}, {}});
  if (!numbers)
    return computeItem(item, destinations, group);
  Value end = arith::AddIOp::create(b, item.loc, item.begin, item.rows);
  return emitPerDocument(b, item.loc, numbers, item.begin, end, destinations,
                         [&](Value from, Value to, ArrayRef<Value> into) {
                           AttentionItem rows = item;
                           rows.begin = from;
                           rows.rows =
                               arith::SubIOp::create(b, item.loc, to, from);
                           return computeItem(rows, into, group);
                         });
}

/// The sink of each row's head: lse of rows that see no key.
static Value broadcastSinks(SdpaOp op, Value destination, OpBuilder &b) {
  Location loc = op.getLoc();
  int64_t rank = op.getLse().getType().getRank();
  if (rank == 1) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value sink = tensor::ExtractOp::create(b, loc, op.getSinks(), zero);
    return linalg::FillOp::create(b, loc, sink, destination).getResult(0);
  }
  SmallVector<int64_t> added;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != rank - 2)
      added.push_back(dim);
  return linalg::BroadcastOp::create(b, loc, op.getSinks(), destination, added)
      .getResult()[0];
}

/// Without keys every row is empty: out 0, lse and maximum -inf. (A view of a
/// dimension of static size 0 does not verify, so there is nothing to tile
/// either.)
static SmallVector<Value> resultsWithoutKeys(SdpaOp op, ArrayRef<Value> empties,
                                             OpBuilder &b) {
  SmallVector<Value> results(empties);
  auto fill = [&](Value result, Value &destination, double value) {
    auto element = cast<RankedTensorType>(result.getType()).getElementType();
    Value constant = arith::ConstantOp::create(b, op.getLoc(),
                                               b.getFloatAttr(element, value));
    destination = linalg::FillOp::create(b, op.getLoc(), constant, destination)
                      .getResult(0);
  };
  fill(op.getOut(), results[0], 0.0);
  if (op.getSinks() && op.getLse())
    results[1] = broadcastSinks(op, results[1], b);
  else if (op.getLse())
    fill(op.getLse(), results[1], -std::numeric_limits<double>::infinity());
  if (op.getAcc()) {
    MutableArrayRef<Value> state = MutableArrayRef<Value>(results).take_back(3);
    fill(op.getMaximum(), state[0], -std::numeric_limits<double>::infinity());
    fill(op.getSum(), state[1], 0.0);
    fill(op.getAcc(), state[2], 0.0);
  }
  return results;
}

static bool isStaticallyEmpty(Value tensor) {
  return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(),
                            0);
}

/// One parallel item per batch entry, head and tile of queries, which write
/// into `destinations`.
static SmallVector<Value> tileByQueries(SdpaOp op, IRRewriter &rewriter,
                                        Value batches,
                                        ArrayRef<Value> destinations) {
  Location loc = op.getLoc();
  numberDocuments(op, rewriter);
  SdpaOp::Dims q = op.queryDims();
  Value queryLength = sizeOf(rewriter, loc, op.getQuery(), q.sequence);
  Value keyLength = sizeOf(rewriter, loc, op.getKey(), op.keyDims().sequence);
  Value tile = arith::ConstantIndexOp::create(
      rewriter, loc, op.getScheduleAttr().getQueryTile());
  Value tiles = arith::CeilDivUIOp::create(rewriter, loc, queryLength, tile);
  Value group = headGroup(rewriter, loc, op);
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(batches),
      getAsOpFoldResult(sizeOf(rewriter, loc, op.getQuery(), q.head)),
      getAsOpFoldResult(tiles)};
  auto forall = scf::ForallOp::create(rewriter, loc, bounds, destinations,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value last = arith::SubIOp::create(rewriter, loc, tiles, one);
  Value tileIndex = arith::SubIOp::create(rewriter, loc, last, ivs[2]);
  Value begin = arith::MulIOp::create(rewriter, loc, tileIndex, tile);
  Value left = arith::SubIOp::create(rewriter, loc, queryLength, begin);
  Value rows = arith::MinUIOp::create(rewriter, loc, left, tile);
  AttentionItem item{op,    rewriter, loc,         ivs[0],   ivs[1],
                     begin, rows,     queryLength, keyLength};
  SmallVector<ResultPart> parts;
  SmallVector<Value> ofItem;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    parts.push_back(resultPart(item, i));
    ofItem.push_back(item.slice(forall.getRegionIterArgs()[i], parts[i].offsets,
                                parts[i].sizes, parts[i].kept));
  }
  SmallVector<Value> results = computeRows(item, ofItem, group);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [i, result] : llvm::enumerate(results)) {
    SmallVector<OpFoldResult> strides(parts[i].offsets.size(),
                                      rewriter.getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(
        rewriter, loc, result, forall.getRegionIterArgs()[i], parts[i].offsets,
        parts[i].sizes, strides);
  }
  return SmallVector<Value>(forall.getResults());
}

/// A decode_schedule that stands alone has a row for every query.
static LogicalResult checkDecodeRows(SdpaOp op) {
  if (!op.getDecodeScheduleAttr() || op.getScheduleAttr())
    return success();
  int64_t queries = op.getQuery().getType().getDimSize(op.queryDims().sequence),
          most = mostDecodeQueries(op);
  if (!ShapedType::isDynamic(queries) && queries <= most)
    return success();
  return op.emitOpError() << "expects at most " << most
                          << " queries per head where decode_schedule stands "
                             "alone, but got "
                          << (ShapedType::isDynamic(queries)
                                  ? std::string("an unknown number")
                                  : std::to_string(queries));
}

static LogicalResult tileQueries(SdpaOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  if (failed(checkDecodeRows(op)))
    return failure();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(rewriter, shapes)))
    return op.emitOpError("has results of unknown shape");
  SmallVector<Value> results;
  for (auto [result, shape] : llvm::zip(op->getResults(), shapes))
    results.push_back(tensor::EmptyOp::create(
        rewriter, loc, shape,
        cast<RankedTensorType>(result.getType()).getElementType()));
  if (isStaticallyEmpty(op.getQuery()) || isStaticallyEmpty(op.getKey()) ||
      isStaticallyEmpty(op.getValue())) {
    rewriter.replaceOp(op, resultsWithoutKeys(op, results, rewriter));
    return success();
  }
  bool many = static_cast<bool>(op.getScheduleAttr());
  if (!many && !op.getDecodeScheduleAttr())
    return op.emitOpError("has no schedule; run attn-assign-schedule before "
                          "attn-tile-queries");
  Value batches = sizeOf(rewriter, loc, op.getQuery(), op.queryDims().batch);
  if (op.getDecodeScheduleAttr()) {
    Value few; // one of the two loops has no batch entries
    if (many) {
      Value queries =
          sizeOf(rewriter, loc, op.getQuery(), op.queryDims().sequence);
      Value most =
          arith::ConstantIndexOp::create(rewriter, loc, mostDecodeQueries(op));
      few = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ule,
                                  queries, most);
      Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
      batches = arith::SelectOp::create(rewriter, loc, few, none, batches);
    }
    results = tileDecode(op, rewriter, results, few);
  }
  if (many)
    results = tileByQueries(op, rewriter, batches, results);
  rewriter.replaceOp(op, results);
  return success();
}

namespace {
struct TileQueries : attn::impl::TileQueriesBase<TileQueries> {
  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (SdpaOp op : ops)
      if (failed(tileQueries(op, rewriter)))
        return signalPassFailure();
  }
};
} // namespace
