// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-expand-gradients: what of a gradient needs no pass over the pairs, or is
// one of simpler attentions.
//
// Before:  %dq, %ds = attn.sdpa_grad %q, %k, %v .. sinks %s .. out %o lse %l
//              cotangents %do wrt ["query", "sinks"]
// After:   %dq = attn.sdpa_grad .. wrt ["query"]
//          %delta = linalg.generic // sum_d do * o, per row
//          %ds = linalg.generic    // sum exp(s - l) * -delta, per head
//
// The gradient of two maps, p1 - lambda p2, is the sum of those of two
// attentions: that of p1 with the cotangent do, and that of p2 with -lambda do.
// What they need of the forward pass, out and lse of each, is computed again,
// since no kernel of two maps returns it. An out that is rounded to 16 bits
// would not do: sum do * out, which is subtracted from what it nearly is, would
// be wrong by some percent. d_lambda is -sum do * out2.
//
// A row that sees no key has an out of 0, and its cotangent reaches nothing,
// whatever it holds.
//
// Before: attn-check-gradients has accepted every attn.sdpa_grad. After: none
// has two maps, or is asked for the gradient by sinks or lambda.
#include "Loop.h"
#include "RowCotangents.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Gradients by name, in the order in which they are asked for.
using Gradients = llvm::MapVector<StringRef, Value>;

/// One map of an attention, and its cotangent.
struct Map {
  Value query, key, dOut;
};
} // namespace

/// A sum over all heads as a tensor of one.
static Value asPerHead(OpBuilder &b, Value number, RankedTensorType type) {
  if (cast<RankedTensorType>(number.getType()).getRank() == type.getRank())
    return number;
  return tensor::ExpandShapeOp::create(b, number.getLoc(), type, number,
                                       ArrayRef<ReassociationIndices>());
}

static Value gradientOfSinks(OpBuilder &b, SdpaGradOp op) {
  constexpr double excluded = -std::numeric_limits<double>::infinity();
  Value delta = sumOfProducts(b, op, op.getOut(), rowDims(op));
  int64_t rank = cast<RankedTensorType>(op.getLse().getType()).getRank();
  SmallVector<int64_t> heads;
  if (rank > 1)
    heads.push_back(rank - 2);
  Loop loop(b, op.getLse());
  loop.elements(op.getLse()).elements(delta);
  Value sinks = op.getSinks();
  if (heads.empty()) // one number
    sinks = tensor::CollapseShapeOp::create(
        b, op.getLoc(),
        RankedTensorType::get({}, getElementTypeOrSelf(sinks.getType())), sinks,
        ArrayRef<ReassociationIndices>());
  loop.at(sinks, heads);
  if (Value dLse = cotangentOfLse(b, op))
    loop.elements(dLse);
  Value sum = loop.sumAt(heads, [&](OpBuilder &inner, ValueRange a) -> Value {
    Scalars s{inner, op.getLoc()};
    Value weight = math::ExpOp::create(inner, op.getLoc(), s.sub(a[2], a[0]));
    Value cotangent =
        a.size() > 3 ? s.sub(a[3], a[1]) : s.sub(s.number(0, a[1]), a[1]);
    // Without a sink nothing reaches it; neither does what weighs 0.
    Value term = s.unless(weight, 0, s.mul(weight, cotangent));
    return s.unless(a[2], excluded, term);
  });
  return asPerHead(b, sum, op.getSinks().getType());
}

/// The gradient of one map by what is named, as an op of its own.
static Gradients gradientOf(OpBuilder &b, SdpaGradOp op, const Map &map,
                            Value out, Value lse, ArrayRef<StringRef> names) {
  SmallVector<Type> types;
  for (StringRef name : names) {
    Value gradient = op.gradientBy(name);
    types.push_back(gradient ? gradient.getType()
                             : op.operandNamed(name).getType());
  }
  auto layout = [&](Layout which) {
    return LayoutAttr::get(b.getContext(), which);
  };
  auto grad = SdpaGradOp::create(
      b, op.getLoc(), types, map.query, map.key, op.getValue(), op.getBias(),
      op.getMaskOperands(), op.getCaptures(), op.getSinks(),
      /*second_query=*/Value(), /*second_key=*/Value(), /*lambda=*/Value(),
      op.getSeed(), out, lse, op.getWeights(), map.dOut, op.getDLse(),
      op.getDWeights(), b.getStrArrayAttr(names), op.getScaleAttr(),
      op.getMaskAttr(), op.getDropoutAttr(), layout(op.getQueryLayout()),
      layout(op.getKeyLayout()), layout(op.getValueLayout()),
      layout(op.getOutLayout()), op.getNormalizationAttr(),
      /*schedule=*/ScheduleInterface());
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&grad.getScoreFunction(), mapping);
  Gradients gradients;
  for (auto [name, gradient] : llvm::zip(names, grad.getGradients()))
    gradients[name] = gradient;
  return gradients;
}

/// Out, in the type of the statistics, and lse of one map of `op`; no lse where
/// weights are those of sigmoid.
static SdpaOp attend(OpBuilder &b, SdpaGradOp op, const Map &map) {
  auto layout = [&](Layout which) {
    return LayoutAttr::get(b.getContext(), which);
  };
  SmallVector<int64_t> rows = op.scoresShape();
  rows.pop_back();
  Type element = getElementTypeOrSelf(map.query);
  Type statistics = element.isF64() ? element : b.getF32Type();
  auto attention = SdpaOp::create(
      b, op.getLoc(), op.getDOut().getType().clone(statistics),
      op.isSigmoid() ? Type() : RankedTensorType::get(rows, statistics),
      /*weights=*/Type(), /*scores=*/Type(), /*maximum=*/Type(), /*sum=*/Type(),
      /*acc=*/Type(), map.query, map.key, op.getValue(), op.getBias(),
      op.getMaskOperands(), op.getCaptures(), op.getSinks(),
      /*second_query=*/Value(), /*second_key=*/Value(), /*lambda=*/Value(),
      op.getSeed(), op.getScaleAttr(), op.getMaskAttr(), op.getDropoutAttr(),
      layout(op.getQueryLayout()), layout(op.getKeyLayout()),
      layout(op.getValueLayout()), layout(op.getOutLayout()),
      op.getNormalizationAttr(),
      /*scores_stage=*/ScoresStageAttr(), /*schedule=*/ScheduleInterface(),
      /*decode_schedule=*/ScheduleInterface());
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&attention.getScoreFunction(), mapping);
  return attention;
}

/// Where a factor of the second map is read in a tensor like out.
static SmallVector<int64_t> lambdaDims(SdpaGradOp op) {
  RankedTensorType lambda = op.getLambda().getType();
  int head = op.outDims().head;
  bool perHead =
      lambda.getRank() == 1 && head >= 0 && lambda.getDimSize(0) != 1;
  return perHead ? SmallVector<int64_t>{head} : SmallVector<int64_t>{};
}

/// The factor as a tensor that is read at `lambdaDims`.
static Value lambdaOf(OpBuilder &b, SdpaGradOp op, ArrayRef<int64_t> dims) {
  RankedTensorType type = op.getLambda().getType();
  if (static_cast<int64_t>(dims.size()) == type.getRank())
    return op.getLambda();
  return tensor::CollapseShapeOp::create(
      b, op.getLoc(), RankedTensorType::get({}, type.getElementType()),
      op.getLambda(), ArrayRef<ReassociationIndices>());
}

/// -lambda * the cotangent of out.
static Value secondCotangent(OpBuilder &b, SdpaGradOp op) {
  SmallVector<int64_t> dims = lambdaDims(op);
  return Loop(b, op.getDOut())
      .elements(op.getDOut())
      .at(lambdaOf(b, op, dims), dims)
      .map(op.getDOut().getType().getElementType(),
           [&](OpBuilder &inner, ValueRange a) -> Value {
             Scalars s{inner, op.getLoc()};
             return s.mul(s.sub(s.number(0, a[1]), a[1]), a[0]);
           });
}

static Value gradientOfLambda(OpBuilder &b, SdpaGradOp op, Value secondOut) {
  Value sum = sumOfProducts(b, op, secondOut, lambdaDims(op));
  Value negative = arith::NegFOp::create(b, op.getLoc(), sum);
  return asPerHead(b, negative, op.getLambda().getType());
}

/// What the first map is asked for under these names, the second one is under
/// `secondName`.
static StringRef secondName(StringRef name) {
  return name == "query" ? "second_query" : name == "key" ? "second_key" : name;
}

/// What a gradient costs beside the pass over its pairs.
static void remarkOnCost(SdpaGradOp op, StringRef text) {
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("Expanded").category("attn-expand-gradients"))
      << text.str();
}

static Gradients expandTwoMaps(OpBuilder &b, SdpaGradOp op) {
  SmallVector<StringRef> first, second;
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>()) {
    if (name == "lambda")
      continue;
    bool ofSecond = name.getValue().starts_with("second_");
    bool ofFirst = name == "query" || name == "key";
    if (!ofSecond)
      first.push_back(name);
    if (!ofFirst)
      second.push_back(ofSecond ? name.getValue().drop_front(7)
                                : name.getValue());
  }
  Map maps[] = {{op.getQuery(), op.getKey(), op.getDOut()},
                {op.getSecondQuery(), op.getSecondKey(), Value()}};
  remarkOnCost(op, "the gradient of two maps is a pass for each, and out and "
                   "lse of each are computed again");
  SdpaOp attention = attend(b, op, maps[0]), other = attend(b, op, maps[1]);
  auto residuals = [&](SdpaOp of) -> std::pair<Value, Value> {
    return op.isSigmoid() ? std::pair<Value, Value>()
                          : std::pair<Value, Value>(of.getOut(), of.getLse());
  };
  Gradients all;
  if (!first.empty()) {
    auto [out, lse] = residuals(attention);
    all = gradientOf(b, op, maps[0], out, lse, first);
  }
  if (!second.empty()) {
    maps[1].dOut = secondCotangent(b, op);
    auto [out, lse] = residuals(other);
    for (auto [name, gradient] : gradientOf(b, op, maps[1], out, lse, second)) {
      Value &sum = all[secondName(name)];
      sum =
          sum ? arith::AddFOp::create(b, op.getLoc(), sum, gradient) : gradient;
    }
  }
  if (op.gradientBy("lambda"))
    all["lambda"] = gradientOfLambda(b, op, other.getOut());
  return all;
}

static Gradients expandSinks(OpBuilder &b, SdpaGradOp op) {
  SmallVector<StringRef> others;
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>())
    if (name != "sinks")
      others.push_back(name);
  Gradients all;
  if (!others.empty())
    all = gradientOf(b, op, {op.getQuery(), op.getKey(), op.getDOut()},
                     op.getOut(), op.getLse(), others);
  remarkOnCost(op, "the gradient by sinks is a sum over rows, with no pass "
                   "over the pairs");
  all["sinks"] = gradientOfSinks(b, op);
  return all;
}

static void replace(OpBuilder &b, SdpaGradOp op, const Gradients &gradients) {
  for (auto [name, result] :
       llvm::zip(op.getWrt().getAsRange<StringAttr>(), op.getGradients()))
    result.replaceAllUsesWith(tensor::CastOp::create(
        b, op.getLoc(), result.getType(), gradients.lookup(name)));
  op.erase();
}

namespace {
struct ExpandGradients : attn::impl::ExpandGradientsBase<ExpandGradients> {
  template <typename Predicate>
  void each(Predicate predicate,
            function_ref<Gradients(OpBuilder &, SdpaGradOp)> expand) {
    SmallVector<SdpaGradOp> ops;
    getOperation()->walk([&](SdpaGradOp op) {
      if (predicate(op))
        ops.push_back(op);
    });
    for (SdpaGradOp op : ops) {
      OpBuilder b(op);
      replace(b, op, expand(b, op));
    }
  }
  void runOnOperation() override {
    each([](SdpaGradOp op) { return op.isDifferential(); }, expandTwoMaps);
    each([](SdpaGradOp op) { return op.gradientBy("sinks") != nullptr; },
         expandSinks);
  }
};
} // namespace
