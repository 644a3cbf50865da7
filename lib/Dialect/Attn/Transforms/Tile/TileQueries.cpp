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
// Lengths of keys that are all of the mask bound the keys of an item.
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
// Few queries per head have a kernel of their own (TileDecode.cpp), and items
// of few tiles of queries and many keys see parts of the keys
// (TileSplitKeys.cpp). Where lengths that are known at run time only decide,
// all parallel loops are there, and all but one have no items.
//
// Before: every sdpa has a schedule. After: no sdpa is left.
#include "AttentionItem.h"
#include "DocumentRows.h"
#include "EmptyResults.h"
#include "NumberDocuments.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
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
static Value addSink(AttentionItem &item, Value state,
                     ScheduleInterface schedule) {
  Value sink = item.sink();
  if (!sink)
    return state;
  return AddSinkOp::create(item.builder, item.loc, state.getType(), state, sink,
                           schedule);
}

/// out of two maps.
static SmallVector<Value> finalizeMaps(AttentionItem &item, Value first,
                                       Value second, Value out,
                                       ScheduleInterface schedule) {
  auto finalize =
      FinalizeDifferenceOp::create(item.builder, item.loc, out.getType(), first,
                                   second, item.lambda(), out, schedule);
  return SmallVector<Value>(finalize.getResults());
}

/// out and lse, unless nothing uses them.
static SmallVector<Value> finalizeItem(AttentionItem &item, Value state,
                                       ArrayRef<Value> destinations,
                                       ScheduleInterface schedule) {
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
                                      ScheduleInterface schedule) {
  if (!item.op.getAcc())
    return {};
  ArrayRef<Value> rows = destinations.take_back(3);
  auto returned =
      ReturnStateOp::create(item.builder, item.loc, ValueRange(rows).getTypes(),
                            state, rows[0], rows[1], rows[2], schedule);
  return SmallVector<Value>(returned.getResults());
}

/// weights and scores of the keys of `online`.
static SmallVector<Value> weighItem(AttentionItem &item, Value state,
                                    OnlineOp online, ArrayRef<Value> matrices) {
  SdpaOp op = item.op;
  auto weigh = WeighOp::create(
      item.builder, item.loc, ValueRange(matrices).getTypes(), state,
      online.getKey(), online.getQueryBegin(), online.getQueryEnd(),
      online.getKeyBegin(), online.getQueryLength(), online.getKeyLength(),
      online.getBias(), online.getMaskOperands(), online.getCaptures(),
      op.getWeights() ? matrices.front() : Value(),
      op.getScores() ? matrices.back() : Value(), op.getScaleAttr(),
      online.getMaskAttr(), op.getScoresStageAttr(), online.getScheduleAttr(),
      /*score_functionCount=*/scoreFunctionOf(op) ? 1 : 0);
  item.copyScoreFunction(weigh);
  return SmallVector<Value>(weigh.getResults());
}

/// The op's results for one item, in the order of the results.
static SmallVector<Value> computeItem(AttentionItem &item,
                                      ArrayRef<Value> destinations) {
  SdpaOp op = item.op;
  OpBuilder &b = item.builder;
  Location loc = item.loc;
  ScheduleInterface schedule = op.getScheduleAttr();
  Value first = arith::ConstantIndexOp::create(b, loc, 0);
  OnlineOp online = item.attend(item.mask(), first, item.keyLength);
  Value state = addSink(item, online.getNext(), schedule);
  if (op.isDifferential())
    return finalizeMaps(item, state,
                        addSink(item, online.getSecondNext(), schedule),
                        destinations[0], schedule);
  SmallVector<Value> results =
      finalizeItem(item, state, destinations, schedule);
  SmallVector<Value> ofState = returnState(item, state, destinations, schedule);
  if (op.getWeights() || op.getScores())
    llvm::append_range(
        results,
        weighItem(
            item, state, online,
            destinations.drop_front(results.size()).drop_back(ofState.size())));
  llvm::append_range(results, ofState);
  return results;
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
  QueryTiles tiles(op, rewriter);
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batches),
                                   getAsOpFoldResult(tiles.heads),
                                   getAsOpFoldResult(tiles.count)};
  return emitResults(
      rewriter, op.getLoc(), bounds, destinations,
      [&](ArrayRef<Value> i) { return tiles.item(i[0], i[1], i[2]); },
      [&](AttentionItem &item, ArrayRef<Value>, ArrayRef<Value> results) {
        return computePerDocument(item, results, computeItem);
      });
}

/// Compares the length of a tensor with `bound`.
static Value compareLength(OpBuilder &b, Value tensor, SdpaOp::Dims dims,
                           arith::CmpIPredicate predicate, Value bound) {
  Location loc = tensor.getLoc();
  return arith::CmpIOp::create(b, loc, predicate,
                               sizeOf(b, loc, tensor, dims.sequence), bound);
}

/// The results of kind prefill: with split keys, without, or by two loops of
/// which one has no batch entries.
static SmallVector<Value> tilePrefill(SdpaOp op, IRRewriter &rewriter,
                                      Value batches,
                                      SmallVector<Value> results) {
  ScheduleInterface schedule = op.getScheduleAttr();
  std::optional<bool> split = splitsKeys(op, schedule);
  if (split)
    return *split ? tileSplitKeys(op, rewriter, batches, results)
                  : tileByQueries(op, rewriter, batches, results);
  Location loc = op.getLoc();
  Value most =
      arith::ConstantIndexOp::create(rewriter, loc, schedule.getSplitQueries());
  Value least =
      arith::ConstantIndexOp::create(rewriter, loc, leastSplitKeys(schedule));
  Value few = compareLength(rewriter, op.getQuery(), op.queryDims(),
                            arith::CmpIPredicate::ule, most);
  Value many = compareLength(rewriter, op.getKey(), op.keyDims(),
                             arith::CmpIPredicate::uge, least);
  Value both = arith::AndIOp::create(rewriter, loc, few, many);
  Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value ofParts = arith::SelectOp::create(rewriter, loc, both, batches, none);
  Value others = arith::SelectOp::create(rewriter, loc, both, none, batches);
  results = tileSplitKeys(op, rewriter, ofParts, results);
  return tileByQueries(op, rewriter, others, results);
}

/// Of two schedules that were written by hand, a known number of queries needs
/// one. (Those of documents are counted when the kernel runs.)
static void dropOtherSchedule(SdpaOp op) {
  int64_t queries = op.getQuery().getType().getDimSize(op.queryDims().sequence);
  if (ShapedType::isDynamic(queries) || countsDocuments(op))
    return;
  if (queries > mostDecodeQueries(op))
    op.removeDecodeScheduleAttr();
  else
    op.removeScheduleAttr();
}

static LogicalResult tileQueries(SdpaOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results = emptyResults(rewriter, op);
  if (isStaticallyEmpty(op.getQuery()) || isStaticallyEmpty(op.getKey()) ||
      isStaticallyEmpty(op.getValue())) {
    rewriter.replaceOp(op, resultsWithoutKeys(op, results, rewriter));
    return success();
  }
  bool many = static_cast<bool>(op.getScheduleAttr());
  if (!many && !op.getDecodeScheduleAttr())
    return op.emitOpError("has no schedule; run attn-assign-schedule before "
                          "attn-tile-queries");
  if (many && op.getDecodeScheduleAttr())
    dropOtherSchedule(op);
  many = static_cast<bool>(op.getScheduleAttr());
  ScheduleInterface decode = op.getDecodeScheduleAttr();
  DecodeRows rows{decode ? headsOfState(op, decode) : 0,
                  countDocuments(op, rewriter)};
  int64_t most = op.getDecodeScheduleAttr() ? mostDecodeQueries(op) : 0;
  numberDocuments(op, rewriter);
  Value batches = sizeOf(rewriter, loc, op.getQuery(), op.queryDims().batch);
  if (op.getDecodeScheduleAttr()) {
    Value few; // one of the two loops has no batch entries
    if (many) {
      Value bound = arith::ConstantIndexOp::create(rewriter, loc, most);
      if (rows.documents)
        bound = arith::MulIOp::create(rewriter, loc, rows.documents, bound);
      few = compareLength(rewriter, op.getQuery(), op.queryDims(),
                          arith::CmpIPredicate::ule, bound);
      Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
      batches = arith::SelectOp::create(rewriter, loc, few, none, batches);
    }
    results = tileDecode(op, rewriter, rows, results, few);
  }
  if (many)
    results = tilePrefill(op, rewriter, batches, results);
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
