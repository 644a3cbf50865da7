// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GroupQueryAttention of com.microsoft.
//
// Its caches are written at run-time places: present entry `length[b] + i` is
// new entry i. The sequence's length is an input, so that causal counts from
// the last live key.
#include "Contrib.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::onnx;

namespace {
enum GroupQueryInput {
  GqaQuery,
  GqaKey,
  GqaValue,
  GqaPastKey,
  GqaPastValue,
  GqaLast, ///< the index of each sequence's last key
  GqaTotal,
  GqaCos,
  GqaSin,
  GqaPositions,
  GqaBias,
  GqaSinks
};

struct GroupQuery {
  Node &node;
  TensorBuilder &t;
  Tensor query{}, key{}, value{};
  Tensor lengths{}; ///< of each sequence, the new entries among them

  LogicalResult run();
  LogicalResult checkInputs();
  LogicalResult splitInputs();
  LogicalResult rotate();
  FailureOr<Tensor> cached(Tensor now, unsigned past, unsigned present);
  Value positions();
  Value beginOf(OpBuilder &b, Value batch);
};
} // namespace

LogicalResult GroupQuery::checkInputs() {
  if (failed(expectNoInput(node, {{12, "k_scale"}, {13, "v_scale"}})))
    return failure();
  if (!node.hasInput(GqaLast) || !node.input(GqaLast).element.isInteger(32))
    return node.fail("expects seqlens_k, one INT32 per sequence");
  if (node.hasInput(GqaPastKey) != node.hasInput(GqaPastValue))
    return node.fail("expects past_key and past_value together");
  if (node.hasOutput(3))
    return node.fail("output output_qk is not supported");
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (node.getString(name, "NONE") != "NONE")
      return node.fail("quantized keys and values are not supported");
  if (node.getInt("smooth_softmax", 0) > 0 && node.hasInput(GqaSinks))
    return node.fail("expects either smooth_softmax or head_sink");
  return node.expectFloats(GqaQuery);
}

/// Three inputs, or one that holds all heads side by side.
LogicalResult GroupQuery::splitInputs() {
  int64_t heads = node.getInt("num_heads", 0),
          groups = node.getInt("kv_num_heads", 0);
  Tensor whole = node.input(GqaQuery), k, v;
  if (node.hasInput(GqaKey) && node.hasInput(GqaValue)) {
    k = node.input(GqaKey), v = node.input(GqaValue);
  } else {
    int64_t all = heads + 2 * groups;
    std::optional<int64_t> size =
        whole.rank() == 3 ? whole.shape[2].constant() : std::nullopt;
    if (heads < 1 || groups < 1 || !size || *size % all)
      return node.fail("expects queries, keys and values of all heads side by "
                       "side, but got " +
                       describe(whole));
    int64_t features = *size / all;
    Tensor packed = whole;
    whole = t.slice(packed, 2, 0, heads * features);
    k = t.slice(packed, 2, heads * features, groups * features);
    v = t.slice(packed, 2, (heads + groups) * features, groups * features);
  }
  FailureOr<Tensor> q4 = asHeads(node, whole, heads),
                    k4 = asHeads(node, k, groups),
                    v4 = asHeads(node, v, groups);
  if (failed(q4) || failed(k4) || failed(v4))
    return failure();
  query = *q4, key = *k4, value = *v4;
  if (key.element != query.element || value.element != query.element)
    return node.fail("expects queries, keys and values of one type");
  return success();
}

/// The place of the first new entry of a sequence in its cache.
Value GroupQuery::beginOf(OpBuilder &b, Value batch) {
  if (!node.hasInput(GqaPastKey))
    return arith::ConstantIndexOp::create(b, t.loc, 0);
  Value length = tensor::ExtractOp::create(b, t.loc, lengths.value, batch);
  Value all = arith::IndexCastOp::create(b, t.loc, b.getIndexType(), length);
  Value now = t.sizes.emit(b, t.loc, query.shape[2]);
  return arith::SubIOp::create(b, t.loc, all, now);
}

Value GroupQuery::positions() {
  if (Tensor *given = node.optionalInput(GqaPositions))
    return t.value(*given);
  Tensor places = t.generate(
      {query.shape[0], query.shape[2]}, t.b.getI64Type(),
      [&](OpBuilder &b, ValueRange at) -> Value {
        Value place = arith::AddIOp::create(b, t.loc, beginOf(b, at[0]), at[1]);
        return arith::IndexCastOp::create(b, t.loc, b.getI64Type(), place);
      });
  return places.value;
}

LogicalResult GroupQuery::rotate() {
  if (!node.getInt("do_rotary", 0))
    return success();
  if (!node.hasInput(GqaCos) || !node.hasInput(GqaSin))
    return node.fail("expects cos_cache and sin_cache with do_rotary");
  Type statistics =
      query.element.isF64() ? query.element : Type(t.b.getF32Type());
  Tensor cos = t.cast(node.input(GqaCos), statistics),
         sin = t.cast(node.input(GqaSin), statistics);
  std::optional<int64_t> columns =
      cos.rank() == 2 ? cos.shape[1].constant() : std::nullopt;
  if (!columns || sin.rank() != 2 || sin.shape[1] != cos.shape[1] ||
      2 * *columns > query.shape[3].constant().value_or(0))
    return node.fail(
        "expects cosines and sines of pairs of features, but got " +
        describe(cos) + " and " + describe(sin));
  Value places = positions();
  for (Tensor *x : {&query, &key})
    x->value = RopeOp::create(t.b, t.loc, t.type(*x), t.value(*x), t.value(cos),
                              t.value(sin), places,
                              node.getInt("rotary_interleaved", 0) != 0);
  return success();
}

/// The cache with the new entries in it, as long as the longer of the two.
FailureOr<Tensor> GroupQuery::cached(Tensor now, unsigned past,
                                     unsigned present) {
  Tensor *before = node.optionalInput(past);
  if (before) {
    bool fits = before->rank() == 4 && before->element == now.element &&
                before->shape[1] == now.shape[1] &&
                before->shape[3] == now.shape[3] && !before->shape[2].is(0);
    if (!fits)
      return node.fail("expects a cache that fits the new entries, but got " +
                       describe(*before) + " and " + describe(now));
    Shape shape = now.shape;
    shape[2] = before->shape[2];
    Value old = t.value(*before), recent = t.value(now);
    Value count = t.index(now.shape[2]);
    now = t.generate(
        shape, now.element, [&](OpBuilder &b, ValueRange at) -> Value {
          Value zero = arith::ConstantIndexOp::create(b, t.loc, 0),
                one = arith::ConstantIndexOp::create(b, t.loc, 1);
          Value place =
              arith::SubIOp::create(b, t.loc, at[2], beginOf(b, at[0]));
          // Outside of the new entries one of them is read and not taken.
          Value isNew = arith::CmpIOp::create(
              b, t.loc, arith::CmpIPredicate::ult, place, count);
          Value inside = arith::MaxSIOp::create(
              b, t.loc,
              arith::MinSIOp::create(
                  b, t.loc, place, arith::SubIOp::create(b, t.loc, count, one)),
              zero);
          Value fresh = tensor::ExtractOp::create(
              b, t.loc, recent, ValueRange{at[0], at[1], inside, at[3]});
          Value kept = tensor::ExtractOp::create(b, t.loc, old, at);
          return arith::SelectOp::create(b, t.loc, isNew, fresh, kept);
        });
  }
  node.setOutput(present, now);
  return now;
}

LogicalResult GroupQuery::run() {
  if (failed(checkInputs()) || failed(splitInputs()))
    return failure();
  Tensor last = t.cast(node.input(GqaLast), t.b.getI64Type());
  std::optional<Tensor> row = t.reshaped(last, {query.shape[0]});
  if (!row)
    return node.fail("expects seqlens_k with one number per sequence");
  Tensor one = t.splat(row->shape, row->element, 1);
  lengths =
      t.elementwise<arith::AddIOp>({t.value(*row), t.value(one)}, row->shape);
  if (failed(rotate()))
    return failure();
  FailureOr<Tensor> keys = cached(key, GqaPastKey, 1),
                    values =
                        failed(keys) ? keys : cached(value, GqaPastValue, 2);
  if (failed(values))
    return failure();
  if (node.hasInput(GqaPastKey))
    node.remark("SharedCache", "present keys and values are as long as past "
                               "ones: new entries must fit in the cache");
  AttentionSteps steps(node, query, *keys, *values);
  if (failed(steps.check()))
    return failure();
  steps.multiply();
  if (failed(steps.scale(scaleOf(node, query))))
    return failure();
  if (double cap = node.getFloat("softcap", 0); cap > 0)
    steps.softcap(cap);
  if (Tensor *bias = node.optionalInput(GqaBias))
    if (failed(steps.addMask(*bias)))
      return failure();
  // In a prompt, query 0 stands on key 0, and padding is on the right.
  steps.addKeyLength(lengths, /*movesQueries=*/node.hasInput(GqaPastKey));
  steps.addCausal(0);
  if (int64_t width = node.getInt("local_window_size", -1); width > 0) {
    node.remark("ReleasesDiffer", "releases of ONNX Runtime disagree: some see "
                                  "one key more in a local window");
    steps.addWindow(width - 1, -1, 0);
  }
  steps.exclude();
  Value sinks;
  if (Tensor *given = node.optionalInput(GqaSinks)) {
    Tensor wide = t.cast(*given, steps.scores.element);
    if (wide.rank() != 1 || wide.shape[0] != query.shape[1])
      return node.fail("expects head_sink with one number per head, but got " +
                       describe(wide));
    sinks = t.value(wide);
  } else if (node.getInt("smooth_softmax", 0) > 0) {
    Tensor zero = t.splat(query.shape[1], steps.scores.element, 0);
    sinks = t.value(zero);
  }
  steps.softmax(sinks);
  Tensor out = steps.context();
  return node.give(mergeHeads(t, out));
}

static LogicalResult importGroupQuery(Node &node) {
  return GroupQuery{node, node.build()}.run();
}

ArrayRef<Operator> attn::onnx::groupQueryOperators() {
  static const Operator all[] = {
      {"com.microsoft", "GroupQueryAttention", importGroupQuery, 1, 14},
  };
  return all;
}
