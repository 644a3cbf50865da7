// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GradientTile.h"
#include "Gradient/ScoreTangents.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

Type attn::statisticsOf(SdpaGradOp op) {
  Type query = op.getQuery().getType().getElementType();
  return query.isF64() ? query : Float32Type::get(op.getContext());
}

bool attn::isStaticallyEmpty(SdpaGradOp op) {
  return llvm::any_of(
      ValueRange{op.getQuery(), op.getKey(), op.getValue()}.getTypes(),
      [](Type type) {
        return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
      });
}

SmallVector<Value> attn::zeroGradients(OpBuilder &b, SdpaGradOp op) {
  SmallVector<Value> gradients;
  for (auto [name, gradient] :
       llvm::zip(op.getWrt().getAsRange<StringAttr>(), op.getGradients()))
    gradients.push_back(zerosIn(
        b, tensor::EmptyOp::create(
               b, op.getLoc(),
               tensor::getMixedSizes(b, op.getLoc(), op.operandNamed(name)),
               getElementTypeOrSelf(gradient))));
  return gradients;
}

/// Of a tensor with a number per row, those of `queries`.
static Value rowsOf(AttentionItem &queries, Value numbers) {
  if (!numbers)
    return {};
  int64_t rank = cast<RankedTensorType>(numbers.getType()).getRank();
  HeadDims dims = HeadDims::of(rank + 1, Layout::HeadMajor);
  SmallVector<OpFoldResult> offsets(rank, queries.index(0)),
      sizes(rank, queries.index(1));
  if (dims.batch >= 0)
    offsets[dims.batch] = queries.batch;
  if (dims.head >= 0)
    offsets[dims.head] = queries.head;
  offsets[dims.sequence] = queries.begin;
  sizes[dims.sequence] = queries.rows;
  return queries.slice(numbers, offsets, sizes, {dims.sequence});
}

namespace {
/// The matrices of one tile of queries.
struct TileRows {
  Value query, dOut;
};
} // namespace

static Value initGrad(const GradientTiles &tiles, AttentionItem &queries,
                      const TileRows &rows) {
  SdpaGradOp op = tiles.op;
  OpBuilder &b = queries.builder;
  Location loc = queries.loc;
  Value out = rows.dOut, lse;
  if (op.isSigmoid()) { // weights without statistics: no row is empty
    // Of a whole tile, since a document ends where only the kernel sees it.
    OpFoldResult tile = b.getIndexAttr(op.getScheduleAttr().getQueryTile());
    Value zeros = zerosIn(
        b, tensor::EmptyOp::create(b, loc, {tile}, tiles.element).getResult());
    lse = queries.slice(zeros, {b.getIndexAttr(0)},
                        {getAsOpFoldResult(queries.rows)}, {0});
  } else {
    out = queries.headMatrix(op.getOut(), op.outDims(), queries.head,
                             getAsOpFoldResult(queries.begin),
                             getAsOpFoldResult(queries.rows));
    lse = rowsOf(queries, op.getLse());
  }
  auto type = GradStateType::get(
      op.getContext(), op.getScheduleAttr().getQueryTile(),
      op.getQuery().getType().getDimSize(op.queryDims().feature),
      op.getValue().getType().getDimSize(op.valueDims().feature),
      tiles.element);
  return InitGradOp::create(b, loc, type, rows.query, out, rows.dOut, lse,
                            rowsOf(queries, tiles.dLse), op.getScaleAttr(),
                            op.getScheduleAttr());
}

/// The step against all keys of the item, with destinations `sums`.
static GradStepOp addStep(const GradientTiles &tiles, AttentionItem &queries,
                          const GradientItem &item, const TileRows &rows,
                          ArrayRef<Value> sums) {
  SdpaGradOp op = tiles.op;
  OpBuilder &b = queries.builder;
  auto keysOf = [&](Value tensor, HeadDims dims) -> Value {
    return queries.headMatrix(tensor, dims, item.keyHead,
                              getAsOpFoldResult(item.firstKey),
                              getAsOpFoldResult(item.keys));
  };
  Value key = keysOf(op.getKey(), op.keyDims());
  Value value = keysOf(op.getValue(), op.valueDims());
  Value state = initGrad(tiles, queries, rows);
  ItemMask mask = queries.mask();
  Value bias = op.getBias() ? queries.broadcastMatrix(op.getBias()) : Value();
  Value end =
      arith::AddIOp::create(b, queries.loc, queries.begin, queries.rows);
  TileMode mode = mask.mask ? TileMode::Edge : TileMode::Full;
  SmallVector<Attribute> by;
  for (const GradientSum &sum : tiles.learned)
    by.push_back(sum.getName());
  SmallVector<Value> captures = queries.captures();
  Value dWeights =
      op.getDWeights() ? queries.broadcastMatrix(op.getDWeights()) : Value();
  auto step = GradStepOp::create(
      b, queries.loc, ValueRange(sums).getTypes(), state, key, value,
      queries.begin, end, item.firstKey, queries.queryLength, queries.keyLength,
      bias, mask.operands, captures, queries.dropped(), rows.query, rows.dOut,
      dWeights, sums[0], sums[1], sums.drop_front(2),
      by.empty() ? ArrayAttr() : b.getArrayAttr(by),
      by.empty() && !dWeights ? FloatAttr() : op.getScaleAttr(), mask.mask,
      op.getDropoutAttr(), TileModeAttr::get(op.getContext(), mode),
      op.getNormalizationAttr(), op.getScheduleAttr(),
      /*score_functionCount=*/captures.empty() ? 0 : 1);
  queries.copyScoreFunction(step);
  if (Region *function = scoreFunctionOf(step))
    addTangents(*function,
                [&](unsigned capture) { return step.isLearned(capture); });
  return step;
}

SmallVector<Value> attn::addTile(const GradientTiles &tiles,
                                 AttentionItem &queries,
                                 const GradientItem &item, Value headOfItem,
                                 ValueRange sums) {
  SdpaGradOp op = tiles.op;
  OpBuilder &b = queries.builder;
  auto rowsOfHead = [&](Value tensor, HeadDims dims) -> Value {
    return queries.headMatrix(tensor, dims, queries.head,
                              getAsOpFoldResult(queries.begin),
                              getAsOpFoldResult(queries.rows));
  };
  TileRows rows{rowsOfHead(op.getQuery(), op.queryDims()),
                rowsOfHead(op.getDOut(), op.outDims())};
  SmallVector<Value> ofStep{sums[1], sums[2]};
  SmallVector<HeadSlice> slices;
  for (auto [learned, sum] : llvm::zip(tiles.learned, sums.drop_front(3))) {
    HeadSlice &slice = slices.emplace_back(
        learned.ofStep(b, sum, headOfItem, queries.begin, queries.rows));
    ofStep.push_back(
        queries.slice(sum, slice.offsets, slice.sizes, slice.kept));
  }
  GradStepOp step = addStep(tiles, queries, item, rows, ofStep);
  const SliceDims &dims = tiles.dQueryDims;
  HeadSlice part = headSliceOf(b, sums[0], dims, b.getIndexAttr(0), headOfItem,
                               b.getIndexAttr(1));
  part.offsets[dims.sequence] = queries.begin;
  part.sizes[dims.sequence] = queries.rows;
  Value dQuery = queries.slice(sums[0], part.offsets, part.sizes, part.kept);
  auto finish =
      FinishGradOp::create(b, queries.loc, TypeRange{dQuery.getType()},
                           step.getState(), dQuery, op.getScheduleAttr());
  SmallVector<Value> next(step.getResults());
  next.insert(next.begin(),
              insertSlice(b, finish.getResults()[0], sums[0], part));
  for (auto [i, slice] : llvm::enumerate(slices))
    next[3 + i] = insertSlice(b, next[3 + i], sums[3 + i], slice);
  return next;
}
