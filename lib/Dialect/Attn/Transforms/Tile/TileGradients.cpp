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
// What nobody asked for of the three gradients is computed and dropped.
//
// Before: every sdpa_grad has a schedule, and attn-check-gradients has accepted
// it. After: none is left.
#include "AttentionItem.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

/// The attention whose gradient `op` is, for its clauses. Nothing uses it.
static SdpaOp attentionOf(SdpaGradOp op, OpBuilder &b) {
  auto layout = [&](Layout which) {
    return LayoutAttr::get(op.getContext(), which);
  };
  return SdpaOp::create(
      b, op.getLoc(), op.getDOut().getType(), /*lse=*/Type(),
      /*weights=*/Type(), /*scores=*/Type(), /*maximum=*/Type(), /*sum=*/Type(),
      /*acc=*/Type(), op.getQuery(), op.getKey(), op.getValue(), op.getBias(),
      op.getMaskOperands(), op.getCaptures(), op.getSinks(),
      op.getSecondQuery(), op.getSecondKey(), op.getLambda(), op.getScaleAttr(),
      op.getMaskAttr(), layout(op.getQueryLayout()), layout(op.getKeyLayout()),
      layout(op.getValueLayout()), layout(op.getOutLayout()),
      op.getNormalizationAttr(), /*scores_stage=*/ScoresStageAttr(),
      op.getScheduleAttr(), /*decode_schedule=*/ScheduleInterface());
}

/// `tensor`, filled with zeros.
static Value zerosIn(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, tensor).getResult(0);
}

namespace {
/// Tiles one op.
class Tiler {
public:
  Tiler(SdpaGradOp op, SdpaOp attention, OpBuilder &b)
      : op(op), attention(attention), b(b), loc(op.getLoc()),
        tiles(attention, b) {}

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
  Sums tileOfQueries(AttentionItem &item, Value headOfItem, ValueRange sums);
  /// A tensor with a number per row: those of the item.
  Value rowsOf(AttentionItem &item, Value numbers);

  SdpaGradOp op;
  SdpaOp attention;
  OpBuilder &b;
  Location loc;
  QueryTiles tiles;
  Value keyHead;
};

/// A part of a tensor.
struct TensorPart {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> kept; ///< dimensions
};
} // namespace

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

/// Some rows of a head of a tensor with heads, or of many; those that are not
/// given are whole.
static TensorPart tensorPartOf(OpBuilder &b, Value tensor, HeadDims dims,
                               Value batch, OpFoldResult head,
                               OpFoldResult heads) {
  auto type = cast<RankedTensorType>(tensor.getType());
  TensorPart part;
  part.offsets.assign(type.getRank(), b.getIndexAttr(0));
  part.strides.assign(type.getRank(), b.getIndexAttr(1));
  part.sizes = tensor::getMixedSizes(b, tensor.getLoc(), tensor);
  if (dims.batch >= 0) {
    part.offsets[dims.batch] = batch ? OpFoldResult(batch) : b.getIndexAttr(0);
    part.sizes[dims.batch] = b.getIndexAttr(1);
  }
  if (dims.head >= 0) {
    part.offsets[dims.head] = head;
    part.sizes[dims.head] = heads;
  }
  part.kept = {dims.sequence, dims.feature};
  return part;
}

/// The gradients behind one tile of queries. That by the queries is a tensor of
/// the heads of the item, of which this is number `headOfItem`.
Tiler::Sums Tiler::tileOfQueries(AttentionItem &item, Value headOfItem,
                                 ValueRange sums) {
  auto heads = [&](Value tensor, HeadDims dims, Value head, Value from,
                   Value count) -> Value {
    return item.headMatrix(tensor, dims, head, getAsOpFoldResult(from),
                           getAsOpFoldResult(count));
  };
  Value zero = index(0);
  Value query =
      heads(op.getQuery(), op.queryDims(), item.head, item.begin, item.rows);
  Value out =
      heads(op.getOut(), op.outDims(), item.head, item.begin, item.rows);
  Value dOut =
      heads(op.getDOut(), op.outDims(), item.head, item.begin, item.rows);
  Value lse = rowsOf(item, op.getLse()), dLse = rowsOf(item, op.getDLse());
  ScheduleInterface schedule = op.getScheduleAttr();
  Type element = op.getQuery().getType().getElementType();
  auto type = GradStateType::get(
      op.getContext(), op.getScheduleAttr().getQueryTile(),
      op.getQuery().getType().getDimSize(op.queryDims().feature),
      op.getValue().getType().getDimSize(op.valueDims().feature), element);
  Value state = InitGradOp::create(b, loc, type, query, out, dOut, lse, dLse,
                                   op.getScaleAttr(), schedule);
  ItemMask mask = item.mask();
  Value key = heads(op.getKey(), op.keyDims(), keyHead, zero, item.keyLength);
  Value value =
      heads(op.getValue(), op.valueDims(), keyHead, zero, item.keyLength);
  Value bias = op.getBias() ? item.broadcastMatrix(op.getBias()) : Value();
  Value end = arith::AddIOp::create(b, loc, item.begin, item.rows);
  TileMode mode = mask.mask ? TileMode::Edge : TileMode::Full;
  SmallVector<Type> types{sums[1].getType(), sums[2].getType()};
  auto step = GradStepOp::create(
      b, loc, types, state, key, value, item.begin, end, zero, item.queryLength,
      item.keyLength, bias, mask.operands, query, dOut, sums[1], sums[2],
      mask.mask, TileModeAttr::get(op.getContext(), mode), schedule);
  TensorPart part = tensorPartOf(b, sums[0], op.queryDims(), Value(),
                                 headOfItem, b.getIndexAttr(1));
  part.offsets[op.queryDims().sequence] = item.begin;
  part.sizes[op.queryDims().sequence] = item.rows;
  Value rows = item.slice(sums[0], part.offsets, part.sizes, part.kept);
  auto finish = FinishGradOp::create(b, loc, TypeRange{rows.getType()}, state,
                                     rows, schedule);
  Value dQuery =
      tensor::InsertSliceOp::create(b, loc, finish.getResults()[0], sums[0],
                                    part.offsets, part.sizes, part.strides);
  return {dQuery, step.getResults()[0], step.getResults()[1]};
}

SmallVector<Value> Tiler::tile(ArrayRef<Value> destinations) {
  HeadDims q = op.queryDims(), k = op.keyDims(), v = op.valueDims();
  Value batches = sizeOf(b, loc, op.getQuery(), q.batch);
  Value keyHeads = sizeOf(b, loc, op.getKey(), k.head);
  Value group = tiles.group ? tiles.group : index(1);
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batches),
                                   getAsOpFoldResult(keyHeads)};
  auto forall = scf::ForallOp::create(b, loc, bounds, destinations,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Value batch = forall.getInductionVar(0);
  keyHead = forall.getInductionVar(1);
  Value firstHead = arith::MulIOp::create(b, loc, keyHead, group);
  ArrayRef<BlockArgument> outs = forall.getRegionIterArgs();
  OpFoldResult one = b.getIndexAttr(1);
  TensorPart parts[] = {
      tensorPartOf(b, outs[0], q, batch, firstHead, getAsOpFoldResult(group)),
      tensorPartOf(b, outs[1], k, batch, keyHead, one),
      tensorPartOf(b, outs[2], v, batch, keyHead, one)};
  AttentionItem whole{attention,      b,        loc,      batch,
                      keyHead,        index(0), index(1), tiles.queryLength,
                      tiles.keyLength};
  Value dQuery = tensor::ExtractSliceOp::create(
      b, loc, outs[0], parts[0].offsets, parts[0].sizes, parts[0].strides);
  Value dKey = zerosIn(
      b, whole.slice(outs[1], parts[1].offsets, parts[1].sizes, parts[1].kept));
  Value dValue = zerosIn(
      b, whole.slice(outs[2], parts[2].offsets, parts[2].sizes, parts[2].kept));
  Sums sums = loop(group, {dQuery, dKey, dValue}, [&](Value i, ValueRange s) {
    Value head = arith::AddIOp::create(b, loc, firstHead, i);
    return loop(tiles.count, s, [&](Value t, ValueRange inner) {
      Value begin = arith::MulIOp::create(b, loc, t, tiles.size);
      Value left = arith::SubIOp::create(b, loc, tiles.queryLength, begin);
      Value rows = arith::MinUIOp::create(b, loc, left, tiles.size);
      AttentionItem item{attention,
                         b,
                         loc,
                         batch,
                         head,
                         begin,
                         rows,
                         tiles.queryLength,
                         tiles.keyLength,
                         tiles.group};
      return tileOfQueries(item, i, inner);
    });
  });
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [sum, out, part] : llvm::zip(sums, outs, parts))
    tensor::ParallelInsertSliceOp::create(b, loc, sum, out, part.offsets,
                                          part.sizes, part.strides);
  return SmallVector<Value>(forall.getResults());
}

/// An empty tensor of the type and sizes of `tensor`.
static Value emptyLike(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  return tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, tensor),
      cast<RankedTensorType>(tensor.getType()).getElementType());
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
  SmallVector<Value> destinations{emptyLike(rewriter, op.getQuery()),
                                  emptyLike(rewriter, op.getKey()),
                                  emptyLike(rewriter, op.getValue())};
  SmallVector<Value> all;
  if (isStaticallyEmpty(op)) {
    for (Value destination : destinations)
      all.push_back(zerosIn(rewriter, destination));
  } else {
    SdpaOp attention = attentionOf(op, rewriter);
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
