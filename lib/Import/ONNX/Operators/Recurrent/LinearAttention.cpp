// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinearAttention of operator set 27: a state S (features of keys, features of
// values) per head instead of a softmax, one step after the other.
//   linear       S = S' + k v^T
//   gated        S = exp(g) S' + k v^T
//   delta        S = S' + k w^T, w = beta (v - S'^T k)
//   gated_delta  S = exp(g) S' + k w^T, w = beta (v - (exp(g) S')^T k)
//   out = scale S^T q
// Katharopoulos and others, "Transformers are RNNs", 2020; Yang and others,
// "Gated Delta Networks", 2024.
//
// A step reads the state once and writes it once: what key and queries see of
// exp(g) S' are rows of one product, and of what the step adds a query sees
// (q k) w.
#include "OperatorTable.h"
#include "Operators/Products.h"
#include "Operators/Reductions.h"
#include "Operators/Turns.h"
#include "Operators/Whole.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

namespace {
/// What the node says of itself.
struct LinearForm {
  int64_t heads, group; ///< of keys, and queries of each
  int64_t keyFeatures, valueFeatures;
  Size batch, steps;
  bool decays, corrects;
  double scale;
};

/// What a step reads, (steps, batch, heads, ..).
struct LinearSteps {
  Tensor rows;   ///< decayed queries, behind the key where it corrects
  Tensor own;    ///< (.., group, 1): each query times the key
  Tensor key;    ///< (.., key features, 1)
  Tensor value;  ///< (.., 1, value features)
  Tensor decay;  ///< (.., key features or 1, 1), of a form that decays
  Tensor update; ///< (.., 1, 1): beta, of a form that corrects
};
} // namespace

static FailureOr<LinearForm> linearFormOf(Node &node) {
  std::string rule = node.getString("update_rule", "gated_delta");
  int64_t queries = node.getInt("q_num_heads", 0),
          heads = node.getInt("kv_num_heads", 0);
  if (!llvm::is_contained({"linear", "gated", "delta", "gated_delta"}, rule))
    return node.fail("expects update_rule linear, gated, delta or "
                     "gated_delta, but got " +
                     rule);
  if (heads < 1 || queries < heads || queries % heads)
    return node.fail("expects q_num_heads to be a multiple of kv_num_heads, "
                     "but got " +
                     Twine(queries) + " and " + Twine(heads));
  Tensor &q = node.input(0), &k = node.input(1), &v = node.input(2);
  int64_t features[3] = {};
  Tensor *all[] = {&q, &k, &v};
  for (auto [i, x] : llvm::enumerate(all)) {
    int64_t count = i == 0 ? queries : heads;
    int64_t width = x->rank() == 3 ? x->shape[2].constant().value_or(0) : 0;
    if (!x->isFloat() || x->element != q.element || width < count ||
        width % count)
      return node.fail("expects query, key and value of one type and of shape "
                       "(batch, steps, heads * features), but got " +
                       describe(*x));
    features[i] = width / count;
  }
  if (features[0] != features[1])
    return node.fail("expects queries and keys of as many features, but got " +
                     Twine(features[0]) + " and " + Twine(features[1]));
  for (Tensor *x : {&k, &v})
    for (unsigned dim : {0u, 1u})
      if (failed(node.expectEqual(q.shape[dim], x->shape[dim],
                                  "query, key and value agree",
                                  "expects as many steps of each, but got " +
                                      describe(*x) + " for " + describe(q))))
        return failure();
  double scale = node.getFloat("scale", 0);
  LinearForm form{heads,       queries / heads, features[1],
                  features[2], q.shape[0],      q.shape[1],
                  false,       false,           scale};
  form.decays = StringRef(rule).starts_with("gated");
  form.corrects = StringRef(rule).ends_with("delta");
  if (scale == 0)
    form.scale = 1 / std::sqrt(static_cast<double>(features[0]));
  return form;
}

/// (batch, steps, ..) as (steps, batch, heads or 1, rest..).
static Tensor inSteps(TensorBuilder &t, Tensor &x, const LinearForm &form,
                      ArrayRef<Size> rest) {
  int64_t heads = *x.shape[2].constant() / *product(rest).constant();
  Shape shape{form.batch, form.steps, heads};
  llvm::append_range(shape, rest);
  Tensor all = wide(t, x);
  Tensor apart = *t.reshaped(all, shape);
  SmallVector<int64_t> order{1, 0};
  for (int64_t i = 2; i < apart.rank(); ++i)
    order.push_back(i);
  return t.transpose(apart, order);
}

/// Input `i`, a gate of a form that `uses` it, (batch, steps, widths' one).
static LogicalResult checkGate(Node &node, unsigned i, bool uses,
                               const LinearForm &form,
                               ArrayRef<int64_t> widths) {
  StringRef name = i == 4 ? "decay" : "beta";
  if (node.hasInput(i) != uses)
    return node.fail("expects " + name +
                     (uses ? " for its update_rule"
                           : ", which its update_rule does not use, to be "
                             "absent"));
  if (!uses)
    return success();
  Tensor &gate = node.input(i);
  bool fits = gate.element == node.input(0).element && gate.rank() == 3 &&
              llvm::is_contained(widths, gate.shape[2].constant().value_or(0));
  std::string wrong = ("expects " + name + " to fit the keys, but got " +
                       describe(gate) + " for " + describe(node.input(1)))
                          .str();
  if (!fits)
    return node.fail(wrong);
  for (unsigned dim : {0u, 1u})
    if (failed(node.expectEqual(dim ? form.steps : form.batch, gate.shape[dim],
                                name + " has a row for each key", wrong)))
      return failure();
  return success();
}

/// The first state, in f32 (f64), or zeros.
static FailureOr<Tensor> firstState(Node &node, const LinearForm &form,
                                    Type element) {
  TensorBuilder &t = node.build();
  Shape shape{form.batch, form.heads, form.keyFeatures, form.valueFeatures};
  if (!node.hasInput(3))
    return t.splat(shape, element, 0);
  Tensor given = node.input(3);
  std::string wrong = "expects a past_state of shape (batch, heads, key "
                      "features, value features), but got " +
                      describe(given);
  if (given.rank() != 4 || !given.isFloat() ||
      !ArrayRef<Size>(given.shape)
           .drop_front()
           .equals(ArrayRef<Size>(shape).drop_front()))
    return node.fail(wrong);
  if (failed(node.expectEqual(form.batch, given.shape[0],
                              "each batch entry has a past_state", wrong)))
    return failure();
  return t.cast(given, element);
}

/// What the steps read, computed for all of them at once.
static LinearSteps stepsOf(Node &node, const LinearForm &form) {
  TensorBuilder &t = node.build();
  LinearSteps steps;
  Tensor query =
      inSteps(t, node.input(0), form, {form.group, form.keyFeatures});
  Tensor factor = t.splat(query.shape, query.element, form.scale);
  query = combine<arith::MulFOp>(t, query, factor);
  Tensor key = inSteps(t, node.input(1), form, {1, form.keyFeatures});
  steps.value = inSteps(t, node.input(2), form, {1, form.valueFeatures});
  Tensor products = combine<arith::MulFOp>(t, query, key);
  steps.own = sumOf(t, products, 4);
  Shape column = key.shape;
  std::swap(column[3], column[4]);
  steps.key = *t.reshaped(key, column);
  Tensor decay;
  if (form.decays) {
    Tensor &given = node.input(4);
    int64_t each = *given.shape[2].constant() / form.heads;
    decay = inSteps(t, given, form, {1, each});
    decay = t.elementwise<math::ExpOp>({t.value(decay)}, decay.shape);
    query = combine<arith::MulFOp>(t, query, decay);
    Shape turned = decay.shape;
    std::swap(turned[3], turned[4]);
    steps.decay = *t.reshaped(decay, turned);
  }
  steps.rows = query;
  if (!form.corrects)
    return steps;
  if (form.decays)
    key = combine<arith::MulFOp>(t, key, decay);
  Tensor parts[] = {key, query};
  steps.rows = t.concat(parts, 3);
  steps.update = inSteps(t, node.input(5), form, {1, 1});
  return steps;
}

/// a b^T, of tensors that broadcast to `shape`.
static Tensor outer(TensorBuilder &t, Tensor &a, Tensor &b,
                    ArrayRef<Size> shape) {
  return t.elementwise<arith::MulFOp>(
      {t.broadcast(a, shape), t.broadcast(b, shape)}, shape);
}

/// (batch, heads, group, value features) of one step, and the next state.
static Turn step(TensorBuilder &t, LinearSteps &steps, const LinearForm &form,
                 Value index, const Tensor &before) {
  Tensor state = before, rows = partOf(t, steps.rows, index),
         value = partOf(t, steps.value, index),
         key = partOf(t, steps.key, index), own = partOf(t, steps.own, index);
  Tensor seen = *matmul(t, rows, state);
  if (form.corrects) {
    Tensor known = t.slice(seen, 2, 0, 1),
           update = partOf(t, steps.update, index);
    Tensor change = combine<arith::SubFOp>(t, value, known);
    value = combine<arith::MulFOp>(t, change, update);
    seen = t.slice(seen, 2, 1, form.group);
  }
  Tensor added = outer(t, own, value, seen.shape);
  Tensor out = combine<arith::AddFOp>(t, seen, added);
  if (form.decays) {
    Tensor decay = partOf(t, steps.decay, index);
    state = combine<arith::MulFOp>(t, state, decay);
  }
  Tensor written = outer(t, key, value, state.shape);
  return {{combine<arith::AddFOp>(t, state, written)}, {out}};
}

static LogicalResult importLinearAttention(Node &node) {
  TensorBuilder &t = node.build();
  FailureOr<LinearForm> form = linearFormOf(node);
  if (failed(form))
    return failure();
  int64_t heads = form->heads;
  if (failed(checkGate(node, 4, form->decays, *form,
                       {heads, heads * form->keyFeatures})) ||
      failed(checkGate(node, 5, form->corrects, *form, {1, heads})))
    return failure();
  LinearSteps steps = stepsOf(node, *form);
  FailureOr<Tensor> first = firstState(node, *form, steps.key.element);
  if (failed(first))
    return failure();
  Course course = inTurns(
      t, form->steps, {*first}, {}, [&](Value index, ArrayRef<Tensor> states) {
        return std::optional(step(t, steps, *form, index, states[0]));
      });
  Tensor out = t.transpose(course.results[0], {1, 0, 2, 3, 4});
  out = *t.reshaped(out, {form->batch, form->steps,
                          heads * form->group * form->valueFeatures});
  node.setOutput(0, t.cast(out, node.input(0).element));
  Type element = node.input(node.hasInput(3) ? 3 : 0).element;
  node.setOutput(1, t.cast(course.states[0], element));
  return success();
}

ArrayRef<Operator> attn::onnx::linearAttentionOperators() {
  static const Operator all[] = {
      {"", "LinearAttention", importLinearAttention, 3, 6, /*since=*/27},
  };
  return all;
}
