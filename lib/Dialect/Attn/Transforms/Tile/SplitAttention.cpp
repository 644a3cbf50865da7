// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-attention: attentions that are too much for a kernel of a GPU
// become several.
//
// Before:  %out = attn.sdpa %q1, %k1, %v minus %q2, %k2 by %lambda
// After:   %first = attn.sdpa %q1, %k1, %v : .. -> tensor<?x8x?x64xf32>
//          %second, %lse = attn.sdpa %q2, %k2, %v returning(out, lse)
//          %out = linalg.generic // first - lambda * second; a row of which
//                                // the second map sees no key has no second
//
// Before:  %out = attn.sdpa %q, %k, %v : .. tensor<?x1x?x512xf32>
// After:   %part = tensor.extract_slice %v[0, 0, 0, 0] [.., 256] ..
//          %left = attn.sdpa %q, %k, %part
//          %all = tensor.insert_slice %left into %empty ..
//          .. // and the other 256 features of values and out
//
// Registers of a block hold the context of one map and of 256 features. Parts
// compute the same weights again; the first one returns them, and scores and
// lse.
//
// Before: fused attentions. After: none has two maps, and values have at most
// 256 features, but where a state is a result.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_SPLITATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Features of a value whose sums fit into the registers of a block.
static constexpr int64_t mostFeatures = 256;

namespace {
/// What a part has of its own.
struct FeaturePart {
  Value query, key, value;
  RankedTensorType out;
  RankedTensorType lse, weights, scores; ///< null: no result
};
} // namespace

/// `op` with one map.
static SdpaOp attend(OpBuilder &b, SdpaOp op, const FeaturePart &part) {
  auto layout = [&](Layout which) {
    return LayoutAttr::get(b.getContext(), which);
  };
  auto attention = SdpaOp::create(
      b, op.getLoc(), part.out, part.lse, part.weights, part.scores,
      /*maximum=*/Type(), /*sum=*/Type(), /*acc=*/Type(), part.query, part.key,
      part.value, op.getBias(), op.getMaskOperands(), op.getCaptures(),
      op.getSinks(), /*second_query=*/Value(), /*second_key=*/Value(),
      /*lambda=*/Value(), op.getSeed(), op.getScaleAttr(), op.getMaskAttr(),
      op.getDropoutAttr(), layout(op.getQueryLayout()),
      layout(op.getKeyLayout()), layout(op.getValueLayout()),
      layout(op.getOutLayout()), op.getNormalizationAttr(),
      part.scores ? op.getScoresStageAttr() : ScoresStageAttr(),
      op.getScheduleAttr(), op.getDecodeScheduleAttr());
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&attention.getScoreFunction(), mapping);
  return attention;
}

// --- two maps ---

/// Where an element of out finds its row in lse, and its head's lambda.
static AffineMap rowsOf(OpBuilder &b, SdpaOp op) {
  SdpaOp::Dims dims = op.outDims();
  SmallVector<unsigned> taken;
  for (int dim : {dims.batch, dims.head, dims.sequence})
    if (dim >= 0)
      taken.push_back(static_cast<unsigned>(dim));
  return AffineMap::getMultiDimMapWithTargets(op.getOut().getType().getRank(),
                                              taken, b.getContext());
}
static AffineMap lambdaOf(OpBuilder &b, SdpaOp op) {
  RankedTensorType lambda = op.getLambda().getType();
  int64_t rank = op.getOut().getType().getRank();
  SmallVector<AffineExpr> places;
  if (lambda.getRank() == 1) {
    int head = op.outDims().head;
    bool perHead = head >= 0 && lambda.getDimSize(0) != 1;
    places.push_back(perHead ? b.getAffineDimExpr(head)
                             : b.getAffineConstantExpr(0));
  }
  return AffineMap::get(rank, 0, places, b.getContext());
}

static Value subtract(OpBuilder &b, SdpaOp op, Value first, SdpaOp second) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getOut().getType();
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, first), type.getElementType());
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs{first, second.getOut(), op.getLambda()};
  SmallVector<AffineMap> maps{all, all, lambdaOf(b, op)};
  if (second.getLse()) {
    inputs.push_back(second.getLse());
    maps.push_back(rowsOf(b, op));
  }
  maps.push_back(all);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location, ValueRange x) {
    Type wide = x[0].getType();
    Value lambda = x[2];
    if (lambda.getType() != wide)
      lambda = arith::ExtFOp::create(inner, loc, wide, lambda);
    Value term = arith::MulFOp::create(inner, loc, lambda, x[1]);
    if (second.getLse()) {
      auto number = [&](double value) -> Value {
        return arith::ConstantOp::create(inner, loc,
                                         inner.getFloatAttr(wide, value));
      };
      Value none = arith::CmpFOp::create(
          inner, loc, arith::CmpFPredicate::OEQ, x[3],
          number(-std::numeric_limits<double>::infinity()));
      term = arith::SelectOp::create(inner, loc, none, number(0.0), term);
    }
    Value result = arith::SubFOp::create(inner, loc, x[0], term);
    if (wide != type.getElementType())
      result =
          arith::TruncFOp::create(inner, loc, type.getElementType(), result);
    linalg::YieldOp::create(inner, loc, result);
  };
  return linalg::GenericOp::create(b, loc, empty.getType(), inputs, empty, maps,
                                   iterators, body)
      .getResult(0);
}

static void splitMaps(SdpaOp op) {
  OpBuilder b(op);
  RankedTensorType out = op.getOut().getType();
  Type element = op.getQuery().getType().getElementType();
  if (!element.isF64())
    element = b.getF32Type();
  SmallVector<int64_t> rows = op.scoresShape();
  rows.pop_back();
  RankedTensorType lse;
  if (!op.isSigmoid())
    lse = RankedTensorType::get(rows, element);
  auto wide = RankedTensorType::get(out.getShape(), element);
  SdpaOp first = attend(b, op,
                        {op.getQuery(), op.getKey(), op.getValue(), wide,
                         /*lse=*/{},
                         /*weights=*/{},
                         /*scores=*/{}});
  SdpaOp second =
      attend(b, op,
             {op.getSecondQuery(), op.getSecondKey(), op.getValue(), wide, lse,
              /*weights=*/{}, /*scores=*/{}});
  Value result = subtract(b, op, first.getOut(), second);
  if (result.getType() != out)
    result = tensor::CastOp::create(b, op.getLoc(), out, result);
  op.getOut().replaceAllUsesWith(result);
  op.erase();
}

// --- wide values ---

static void splitValues(SdpaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType out = op.getOut().getType(), value = op.getValue().getType();
  int outDim = op.outDims().feature, valueDim = op.valueDims().feature;
  int64_t features = out.getDimSize(outDim);
  auto cut = [&](RankedTensorType type, int dim, int64_t size) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return RankedTensorType::get(shape, type.getElementType());
  };
  Value all;
  for (int64_t begin = 0; begin < features; begin += mostFeatures) {
    int64_t count = std::min(mostFeatures, features - begin);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, loc, op.getValue());
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
        strides(sizes.size(), b.getIndexAttr(1));
    sizes[valueDim] = b.getIndexAttr(count);
    offsets[valueDim] = b.getIndexAttr(begin);
    Value slice =
        tensor::ExtractSliceOp::create(b, loc, cut(value, valueDim, count),
                                       op.getValue(), offsets, sizes, strides);
    FeaturePart own{
        op.getQuery(), op.getKey(), slice, cut(out, outDim, count), {}, {}, {}};
    Value others[] = {op.getLse(), op.getWeights(), op.getScores()};
    RankedTensorType *types[] = {&own.lse, &own.weights, &own.scores};
    if (begin == 0)
      for (auto [result, type] : llvm::zip_equal(others, types))
        if (result)
          *type = cast<RankedTensorType>(result.getType());
    SdpaOp part = attend(b, op, own);
    SmallVector<OpFoldResult> outSizes =
        tensor::getMixedSizes(b, loc, part.getOut());
    SmallVector<OpFoldResult> outOffsets(outSizes.size(), b.getIndexAttr(0));
    if (begin == 0) {
      Value made[] = {part.getLse(), part.getWeights(), part.getScores()};
      for (auto [result, replacement] : llvm::zip_equal(others, made))
        if (result)
          result.replaceAllUsesWith(replacement);
      SmallVector<OpFoldResult> whole = outSizes;
      whole[outDim] = b.getIndexAttr(features);
      all = tensor::EmptyOp::create(b, loc, whole, out.getElementType());
    }
    outOffsets[outDim] = b.getIndexAttr(begin);
    all = tensor::InsertSliceOp::create(b, loc, part.getOut(), all, outOffsets,
                                        outSizes, strides);
  }
  if (all.getType() != out)
    all = tensor::CastOp::create(b, loc, out, all);
  op.getOut().replaceAllUsesWith(all);
  op.erase();
}

namespace {
struct SplitAttention : attn::impl::SplitAttentionBase<SplitAttention> {
  template <typename Predicate>
  void forEach(Predicate predicate, void (*split)(SdpaOp)) {
    SmallVector<SdpaOp> ops;
    getOperation()->walk([&](SdpaOp op) {
      if (predicate(op))
        ops.push_back(op);
    });
    for (SdpaOp op : ops)
      split(op);
  }
  void runOnOperation() override {
    forEach([](SdpaOp op) { return op.isDifferential(); }, splitMaps);
    forEach(
        [](SdpaOp op) {
          return op.getValue().getType().getDimSize(op.valueDims().feature) >
                     mostFeatures &&
                 !op.getAcc();
        },
        splitValues);
  }
};
} // namespace
