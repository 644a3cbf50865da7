// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, as of opset 23, 24 and 25.
//
// The operator changed its meaning several times; what holds here is the text
// of release 1.22 and later, for all versions. Where a model depends on a
// difference, a remark says so.
#include "AttentionSteps.h"
#include "OperatorTable.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn::onnx;

namespace {
enum AttentionInput { Q, K, V, Mask, PastKey, PastValue, KeyLengths };
enum AttentionOutput { Y, PresentKey, PresentValue, Scores };
/// What the output Scores has.
enum Mode { Scaled, Capped, Biased, Weights };

struct Attention {
  Node &node;
  TensorBuilder &t;
  bool isJoined = false; ///< rank 3: (B, length, heads * features)
  Type result;

  LogicalResult run();
  LogicalResult checkAttributes();
  LogicalResult checkInputs();
  FailureOr<Tensor> heads(unsigned input, StringRef attribute);
  FailureOr<Tensor> withPast(Tensor now, unsigned past, unsigned present);
  Type computedType();
  void remarkDifferences(const AttentionSteps &steps);
  LogicalResult addMasks(AttentionSteps &steps, const Size &past);
  void giveScores(const AttentionSteps &steps, Mode stage);
};
} // namespace

LogicalResult Attention::checkAttributes() {
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  if (mode < Scaled || mode > Weights)
    return node.fail("expects qk_matmul_output_mode of 0 to 3, but got " +
                     Twine(mode));
  for (StringRef name : {"left_window_size", "right_window_size"}) {
    int64_t width = node.getInt(name, -1);
    if (width < -1 || width > (int64_t(1) << 40))
      return node.fail("expects " + name + " of at least -1, but got " +
                       Twine(width));
    if (width >= 0 && node.opset() < 25)
      return node.fail("expects no " + name + " before opset 25");
  }
  if (double cap = node.getFloat("softcap", 0); !std::isfinite(cap) || cap < 0)
    return node.fail("expects a softcap of at least 0");
  bool hasHeads = node.find("q_num_heads") || node.find("kv_num_heads");
  if (hasHeads && !isJoined && node.opset() >= 25)
    return node.fail("expects numbers of heads for inputs of rank 3 only");
  int64_t precision = node.getInt("softmax_precision", 1);
  if (precision != 1 && precision != 10 && precision != 11 && precision != 16)
    return node.fail("expects softmax_precision of 1, 10, 11 or 16, but got " +
                     Twine(precision));
  return success();
}

LogicalResult Attention::checkInputs() {
  for (unsigned i : {Q, K, V})
    if (failed(node.expectFloats(i)))
      return failure();
  if (node.input(K).element != node.input(Q).element)
    return node.fail("expects Q and K of one type, but got " +
                     describe(node.input(Q)) + " and " +
                     describe(node.input(K)));
  if (node.hasInput(PastKey) != node.hasInput(PastValue))
    return node.fail("expects past_key and past_value together");
  if (node.hasOutput(PresentKey) != node.hasOutput(PresentValue))
    return node.fail("expects present_key and present_value together");
  if (!node.hasInput(KeyLengths))
    return success();
  if (node.opset() < 24)
    return node.fail("expects no nonpad_kv_seqlen before opset 24");
  if (node.hasInput(PastKey) || node.hasOutput(PresentKey))
    return node.fail("expects no nonpad_kv_seqlen beside past or present keys");
  Tensor &lengths = node.input(KeyLengths);
  if (!lengths.element.isInteger(64) || lengths.rank() != 1)
    return node.fail("expects nonpad_kv_seqlen of one INT64 per batch entry, "
                     "but got " +
                     describe(lengths));
  return success();
}

/// Q, K or V as (B, heads, length, features).
FailureOr<Tensor> Attention::heads(unsigned input, StringRef attribute) {
  Tensor &x = node.input(input);
  if (!isJoined && x.rank() != 4)
    return node.fail("expects Q, K and V of one rank, 3 or 4, but got " +
                     describe(x));
  if (!isJoined)
    return x;
  int64_t count = node.getInt(attribute, 0);
  std::optional<int64_t> all =
      x.rank() == 3 ? x.shape[2].constant() : std::nullopt;
  if (!all || count < 1 || *all % count)
    return node.fail("expects inputs of rank 3 whose last size is known and a "
                     "multiple of " +
                     attribute + ", but got " + describe(x) + " and " +
                     Twine(count));
  return splitHeads(t, x, count);
}

/// Past entries in front of those of now.
FailureOr<Tensor> Attention::withPast(Tensor now, unsigned past,
                                      unsigned present) {
  if (node.hasInput(past)) {
    Tensor before = node.input(past);
    bool fits = before.rank() == 4 && before.element == now.element;
    for (int64_t i : {0, 1, 3})
      fits = fits && (!before.shape[i].constant() || !now.shape[i].constant() ||
                      before.shape[i] == now.shape[i]);
    if (!fits)
      return node.fail("expects past entries that fit those of now, but got " +
                       describe(before) + " and " + describe(now));
    Tensor parts[] = {before, now};
    now = t.concat(parts, 2);
  }
  node.setOutput(present, now);
  return now;
}

/// f64 where anything is or the softmax should be; else null.
Type Attention::computedType() {
  bool isDouble = node.getInt("softmax_precision", 1) == 11;
  for (unsigned i : {Q, V, Mask})
    if (Tensor *x = node.optionalInput(i))
      isDouble |= x->element.isF64();
  return isDouble ? Type(t.b.getF64Type()) : Type();
}

void Attention::remarkDifferences(const AttentionSteps &steps) {
  bool masks = node.hasInput(Mask) || node.hasInput(KeyLengths) ||
               node.getInt("is_causal", 0);
  bool caps = node.getFloat("softcap", 0) > 0;
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  auto say = [&](const Twine &what) {
    node.remark("ReleasesDiffer", "releases of ONNX disagree: " + what);
  };
  if (isJoined)
    say("before 1.19, inputs of rank 3 were cut into heads otherwise");
  if (steps.query.shape[1] != steps.key.shape[1] && !steps.key.shape[1].is(1))
    say("before 1.19.1, query heads shared key heads in another order");
  if (caps && masks)
    say("before 1.22, the mask was added before softcap");
  if (node.hasOutput(Scores) && (mode == Capped || mode == Biased))
    say("before 1.22, modes 1 and 2 of qk_matmul_output_mode were swapped");
  if (node.getInt("is_causal", 0) && node.hasInput(PastKey))
    say("before 1.22, past keys did not move the diagonal of is_causal");
}

LogicalResult Attention::addMasks(AttentionSteps &steps, const Size &past) {
  if (Tensor *mask = node.optionalInput(Mask))
    if (failed(steps.addMask(*mask)))
      return failure();
  // First, because positions depend on them.
  if (Tensor *lengths = node.optionalInput(KeyLengths))
    steps.addKeyLength(*lengths, /*movesQueries=*/true);
  if (node.getInt("is_causal", 0))
    steps.addCausal(past);
  int64_t left = node.getInt("left_window_size", -1),
          right = node.getInt("right_window_size", -1);
  if (left >= 0 || right >= 0)
    steps.addWindow(left, right, past);
  steps.exclude();
  return success();
}

void Attention::giveScores(const AttentionSteps &steps, Mode stage) {
  if (!node.hasOutput(Scores) ||
      node.getInt("qk_matmul_output_mode", 0) != stage)
    return;
  Tensor scores = steps.scores;
  node.setOutput(Scores, t.cast(scores, result));
}

LogicalResult Attention::run() {
  isJoined = node.input(Q).rank() == 3;
  result = node.input(Q).element;
  if (failed(checkAttributes()) || failed(checkInputs()))
    return failure();
  FailureOr<Tensor> q = heads(Q, "q_num_heads"), k = heads(K, "kv_num_heads"),
                    v = heads(V, "kv_num_heads");
  if (failed(q) || failed(k) || failed(v))
    return failure();
  Size past = node.hasInput(PastKey) && node.input(PastKey).rank() == 4
                  ? node.input(PastKey).shape[2]
                  : Size(0);
  k = withPast(*k, PastKey, PresentKey);
  if (failed(k))
    return failure();
  v = withPast(*v, PastValue, PresentValue);
  if (failed(v))
    return failure();
  // Values of another type meet weights in f32, which is rounded once.
  Type computed = computedType();
  if (computed)
    q = t.cast(*q, computed), k = t.cast(*k, computed);
  else if (v->element != result)
    computed = t.b.getF32Type();
  if (computed)
    v = t.cast(*v, computed);

  AttentionSteps steps(node, *q, *k, *v);
  if (failed(steps.check()))
    return failure();
  remarkDifferences(steps);
  steps.multiply();
  int64_t features = *q->shape[3].constant();
  double usual = features ? 1 / std::sqrt(static_cast<double>(features)) : 1;
  double scale = node.getFloat("scale", usual);
  if (scale < 0) {
    node.remark("NegativeScale",
                "the scale is negative, and its root, by which "
                "ONNX multiplies, is NaN: so is every row");
    scale = std::numeric_limits<double>::quiet_NaN();
  }
  if (failed(steps.scale(scale)))
    return failure();
  giveScores(steps, Scaled);
  if (double cap = node.getFloat("softcap", 0); cap > 0)
    steps.softcap(cap);
  giveScores(steps, Capped);
  if (failed(addMasks(steps, past)))
    return failure();
  giveScores(steps, Biased);
  steps.softmax();
  giveScores(steps, Weights);
  Tensor out = steps.context();
  if (isJoined)
    out = mergeHeads(t, out);
  return node.give(t.cast(out, result));
}

static LogicalResult importAttention(Node &node) {
  return Attention{node, node.build()}.run();
}

ArrayRef<Operator> attn::onnx::attentionOperators() {
  static const Operator all[] = {
      {"", "Attention", importAttention, 3, 7, /*since=*/23},
  };
  return all;
}
