// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FlexAttention of the preview domain: attention whose scores, and whose
// weights, go through graphs of the model.
//
// Its graphs see whole tensors and spell indices with Shape, Range and Reshape.
// They are imported as they stand, and then read as functions of one score
// (ElementFunction). Where that works, the result is a region of
// attn.score_mod, and with `Where(condition, score, -inf)` at the end an
// attn.mask_fn, so that all of it is fused. Where it does not, and for
// prob_mod, products and softmax stay on their own, and a remark says so.
#include "AttentionSteps.h"
#include "ElementFunction.h"
#include "OperatorTable.h"
#include "Operators/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::onnx;

namespace {
struct FlexAttention {
  Node &node;
  TensorBuilder &t;
  Tensor query, key, value;
  double scale = 1;

  LogicalResult run();
  FailureOr<Tensor> fused();
  LogicalResult modify(AttentionSteps &steps, bool &isFunction);
  FailureOr<Tensor> unfused();
  FailureOr<Tensor> modified(StringRef graph, Tensor input);
  Tensor repeated(Tensor heads);
};
} // namespace

/// Erases ops behind `last` that neither an op nor `kept` needs.
static void eraseUnused(Block &block, Operation *last, Value kept) {
  SmallVector<Operation *> made;
  auto begin = last ? std::next(last->getIterator()) : block.begin();
  for (Operation &op : llvm::make_range(begin, block.end()))
    made.push_back(&op);
  for (Operation *op : llvm::reverse(made))
    if (isOpTriviallyDead(op) && !(kept && op == kept.getDefiningOp()))
      op->erase();
}

/// What the graph `name` makes of `input`.
FailureOr<Tensor> FlexAttention::modified(StringRef name, Tensor input) {
  const auto *graph = node.find(name);
  auto results = node.shared().inlineGraph(graph->g(), input);
  if (!results)
    return failure();
  if (results->size() != 1 ||
      !ArrayRef(results->front().shape).equals(input.shape) ||
      results->front().element != input.element)
    return node.fail("expects " + name +
                     " to give one tensor like its input, " + describe(input));
  return results->front();
}

/// A region of `op` whose block has `leading` and four indices.
static Block &addBody(Region &region, TypeRange leading, Location loc) {
  Block &body = region.emplaceBlock();
  SmallVector<Type> types(leading);
  types.append(4, IndexType::get(region.getContext()));
  body.addArguments(types, SmallVector<Location>(types.size(), loc));
  return body;
}

/// Whether `tensor` is -inf everywhere.
static bool isMinusInfinity(Value tensor) {
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    tensor = splat.getInput();
  APFloat number(0.0);
  // Matches a scalar constant and a dense splat alike.
  return matchPattern(tensor, m_ConstantFloat(&number)) &&
         number.isInfinity() && number.isNegative();
}

/// `condition` of `Where(condition, x, -inf)`, and x.
static std::pair<Value, Value> excluded(Value result) {
  auto select = result.getDefiningOp<arith::SelectOp>();
  if (!select || !isa<RankedTensorType>(select.getCondition().getType()) ||
      !isMinusInfinity(select.getFalseValue()))
    return {};
  return {select.getCondition(), select.getTrueValue()};
}

/// attn.score_mod of what computes `result`; null where it is no function of
/// one score.
static Value scoreMod(TensorBuilder &t, Value scores, Value result) {
  auto op =
      ScoreModOp::create(t.b, t.loc, scores.getType(), scores, ValueRange());
  Block &body =
      addBody(op.getScoreFunction(), getElementTypeOrSelf(scores), t.loc);
  ElementFunction function(scores, body.getArgument(0), body, /*first=*/1);
  Value score = function.element(result);
  if (!score)
    return op.erase(), Value();
  OpBuilder end = OpBuilder::atBlockEnd(&body);
  attn::YieldOp::create(end, t.loc, score);
  op.getCapturesMutable().assign(function.captures());
  return op;
}

/// attn.mask_fn of `condition`, which must not look at the scores it was
/// `read` beside.
static Value maskFn(TensorBuilder &t, Value scores, Value read,
                    Value condition) {
  auto op =
      MaskFnOp::create(t.b, t.loc, scores.getType(), scores, ValueRange());
  Block &body = addBody(op.getPredicate(), {}, t.loc);
  ElementFunction function(read, Value(), body, /*first=*/0);
  Value isVisible = function.element(condition);
  SmallVector<Value> captures = function.captures();
  bool allTensors = llvm::all_of(captures, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
  if (!isVisible || !allTensors)
    return op.erase(), Value();
  OpBuilder end = OpBuilder::atBlockEnd(&body);
  attn::YieldOp::create(end, t.loc, isVisible);
  op.getCapturesMutable().assign(captures);
  return op;
}

LogicalResult FlexAttention::modify(AttentionSteps &steps, bool &isFunction) {
  isFunction = true;
  if (!node.find("score_mod"))
    return success();
  Value scores = steps.scores.value;
  FailureOr<Tensor> result = modified("score_mod", steps.scores);
  if (failed(result))
    return failure();
  Value whole = t.value(*result);
  if (auto [condition, kept] = excluded(whole); condition) {
    Value score = kept == scores ? scores : scoreMod(t, scores, kept);
    if (score)
      if (Value masked = maskFn(t, score, scores, condition)) {
        steps.scores.value = masked;
        return success();
      }
  }
  if (whole == scores)
    return success();
  Value score = scoreMod(t, scores, whole);
  isFunction = static_cast<bool>(score);
  steps.scores.value = score;
  return success();
}

/// None: it is no attention that fuses, and what was written is gone.
FailureOr<Tensor> FlexAttention::fused() {
  Block &block = *t.b.getInsertionBlock();
  Operation *last = block.empty() ? nullptr : &block.back();
  AttentionSteps steps(node, query, key, value);
  steps.multiply();
  if (failed(steps.scale(scale)))
    return failure();
  bool isFunction;
  if (failed(modify(steps, isFunction)))
    return failure();
  // Nothing, or what the regions do not hold.
  eraseUnused(block, last, steps.scores.value);
  if (!isFunction)
    return Tensor();
  steps.softmax();
  return steps.context();
}

/// Key heads once for each query head.
Tensor FlexAttention::repeated(Tensor heads) {
  Size groups = *query.shape[1].dividedBy(heads.shape[1]);
  if (groups.is(1))
    return heads;
  const Shape &s = heads.shape;
  Tensor one = *t.reshaped(heads, {s[0], s[1], 1, s[2], s[3]});
  Shape wide = {s[0], s[1], groups, s[2], s[3]};
  Tensor all{one.element, wide, t.broadcast(one, wide), {}, {}};
  return *t.reshaped(all, {s[0], query.shape[1], s[2], s[3]});
}

/// Products and softmax on their own.
FailureOr<Tensor> FlexAttention::unfused() {
  node.remark("NotFused",
              node.find("prob_mod")
                  ? "not fused, because prob_mod changes the weights"
                  : "not fused, because score_mod is no function of one score "
                    "and its place");
  Type statistics =
      query.element.isF64() ? query.element : Type(t.b.getF32Type());
  Tensor q = t.cast(query, statistics), k = t.cast(key, statistics),
         v = t.cast(value, statistics);
  k = repeated(k), v = repeated(v);
  Tensor factor = t.splat(q.shape, statistics, scale);
  q = t.elementwise<arith::MulFOp>({t.value(q), t.value(factor)}, q.shape);
  k = t.transpose(k, {0, 1, 3, 2});
  std::optional<Tensor> scores = matmul(t, q, k);
  if (!scores)
    return node.fail("expects Q and K that fit each other");
  FailureOr<Tensor> changed = *scores;
  if (node.find("score_mod"))
    changed = modified("score_mod", *scores);
  if (failed(changed))
    return failure();
  Value weights = linalg::SoftmaxOp::create(
                      t.b, t.loc, TypeRange(t.type(*changed)),
                      t.value(*changed), t.empty(changed->shape, statistics), 3)
                      ->getResult(0);
  changed = Tensor{statistics, scores->shape, weights, {}, {}};
  if (node.find("prob_mod"))
    changed = modified("prob_mod", *changed);
  if (failed(changed))
    return failure();
  std::optional<Tensor> out = matmul(t, *changed, v);
  if (!out)
    return node.fail("expects weights and V that fit each other");
  return *out;
}

LogicalResult FlexAttention::run() {
  for (unsigned i = 0; i < 3; ++i)
    if (failed(node.expectFloats(i)))
      return failure();
  query = node.input(0), key = node.input(1), value = node.input(2);
  Type result = query.element;
  if (key.element != result || value.element != result)
    return node.fail("expects Q, K and V of one type");
  int64_t precision = node.getInt("softmax_precision", 0);
  if (precision == 11 && !result.isF64())
    for (Tensor *x : {&query, &key, &value})
      *x = t.cast(*x, t.b.getF64Type());
  else if (precision != 0 && precision != 1 &&
           !(precision == 11 && result.isF64()))
    return node.fail("expects softmax_precision of 1 or 11, but got " +
                     Twine(precision));
  if (failed(AttentionSteps(node, query, key, value).check()))
    return failure();
  int64_t features = *query.shape[3].constant();
  double usual = features ? 1 / std::sqrt(static_cast<double>(features)) : 1;
  scale = node.getFloat("scale", usual);
  FailureOr<Tensor> out = Tensor();
  if (!node.find("prob_mod"))
    out = fused();
  if (failed(out))
    return failure();
  if (!out->value)
    out = unfused();
  if (failed(out))
    return failure();
  return node.give(t.cast(*out, result));
}

static LogicalResult importFlexAttention(Node &node) {
  return FlexAttention{node, node.build(), {}, {}, {}}.run();
}

ArrayRef<Operator> attn::onnx::flexAttentionOperators() {
  static const Operator all[] = {
      {"ai.onnx.preview", "FlexAttention", importFlexAttention, 3, 3},
  };
  return all;
}
