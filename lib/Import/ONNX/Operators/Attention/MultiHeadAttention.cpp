// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MultiHeadAttention of com.microsoft, and Attention of the same domain, which
// projects its input first.
//
// Queries, keys and values may come packed: [B, S, H, 3, D] for all three, or
// [B, T, H, 2, D] for keys and values.
#include "Contrib.h"
#include "OperatorTable.h"
#include "Operators/Products.h"

using namespace mlir;
using namespace attn;
using namespace attn::onnx;

namespace {
enum MultiHeadInput {
  MhaQuery,
  MhaKey,
  MhaValue,
  MhaBias,
  MhaPadding,
  MhaScores,
  MhaPastKey,
  MhaPastValue
};
} // namespace

/// Part `which` of `count` that are packed in [B, S, H, count, D], as
/// (B, S, H*D).
static FailureOr<Tensor> unpacked(Node &node, Tensor &packed, int64_t which,
                                  int64_t count) {
  if (packed.rank() != 5 || !packed.shape[3].is(count))
    return node.fail("expects queries, keys and values in inputs of their own, "
                     "or packed as (B, S, heads, 3, features) or with 2, but "
                     "got " +
                     describe(packed));
  TensorBuilder &t = node.build();
  Tensor part = t.slice(packed, 3, which, 1);
  std::optional<Tensor> joined = t.reshaped(
      part, {part.shape[0], part.shape[1], part.shape[2] * part.shape[4]});
  if (!joined)
    return node.fail("expects known heads and features, but got " +
                     describe(packed));
  return *joined;
}

/// Queries, keys and values, each in three dimensions, or keys and values as
/// heads.
static FailureOr<SmallVector<Tensor, 3>> threeInputs(Node &node) {
  SmallVector<Tensor, 3> parts;
  auto add = [&](FailureOr<Tensor> part) {
    if (succeeded(part))
      parts.push_back(*part);
  };
  if (!node.hasInput(MhaKey) && !node.hasInput(MhaValue)) {
    for (int64_t i = 0; i < 3 && static_cast<int64_t>(parts.size()) == i; ++i)
      add(unpacked(node, node.input(MhaQuery), i, 3));
  } else if (!node.hasInput(MhaValue)) {
    parts.push_back(node.input(MhaQuery));
    for (int64_t i = 0; i < 2 && static_cast<int64_t>(parts.size()) == i + 1;
         ++i)
      add(unpacked(node, node.input(MhaKey), i, 2));
  } else if (node.hasInput(MhaKey)) {
    for (unsigned i : {MhaQuery, MhaKey, MhaValue})
      parts.push_back(node.input(i));
  }
  if (parts.size() == 3 && parts[0].rank() == 3)
    return parts;
  return parts.size() == 3 ||
                 (!node.hasInput(MhaKey) && node.hasInput(MhaValue))
             ? node.fail("expects queries of rank 3 and keys with values")
             : failure();
}

/// Rows of queries (B, S, H*D) see keys and values; what is in front of them
/// comes first.
struct PlainAttention {
  Node &node;
  Tensor query, key, value; ///< heads
  Size past = 0;

  FailureOr<Tensor> run(unsigned added, unsigned padding) {
    AttentionSteps steps(node, query, key, value);
    if (failed(steps.check()))
      return failure();
    steps.multiply();
    if (failed(steps.scale(scaleOf(node, query))))
      return failure();
    if (Tensor *bias = node.optionalInput(added))
      if (failed(steps.addMask(*bias)))
        return failure();
    if (failed(addPadding(node, padding, steps)))
      return failure();
    if (node.getInt("unidirectional", 0))
      steps.addCausal(past);
    steps.exclude();
    steps.softmax();
    Tensor out = steps.context();
    return mergeHeads(node.build(), out);
  }
};

static LogicalResult importMultiHead(Node &node) {
  if (failed(expectNoInput(
          node, {{8, "past_sequence_length"}, {9, "cache_indirection"}})))
    return failure();
  if (node.hasOutput(3))
    return node.fail("output qk is not supported");
  for (unsigned i : {MhaQuery, MhaKey, MhaValue})
    if (node.hasInput(i) &&
        (failed(node.expectFloats(i)) ||
         node.input(i).element != node.input(MhaQuery).element))
      return node.fail("expects queries, keys and values of one type");
  auto parts = threeInputs(node);
  if (failed(parts))
    return failure();
  int64_t heads = node.getInt("num_heads", 0), begin = 0;
  for (Tensor &part : *parts) {
    FailureOr<Tensor> biased =
        columnsWithBias(node, part, node.optionalInput(MhaBias), begin);
    FailureOr<Tensor> split =
        failed(biased) ? biased : asHeads(node, *biased, heads);
    if (failed(split))
      return failure();
    begin += part.rank() == 3 ? part.shape[2].constant().value_or(0) : 0;
    part = *split;
  }
  Tensor *pastKey = node.optionalInput(MhaPastKey),
         *pastValue = node.optionalInput(MhaPastValue);
  FailureOr<Tensor> key = behindPast(node, pastKey, (*parts)[1]),
                    value = failed(key)
                                ? key
                                : behindPast(node, pastValue, (*parts)[2]);
  if (failed(value))
    return failure();
  node.setOutput(1, *key);
  node.setOutput(2, *value);
  PlainAttention plain{node, (*parts)[0], *key, *value,
                       pastKey ? pastKey->shape[2] : Size(0)};
  FailureOr<Tensor> out = plain.run(MhaScores, MhaPadding);
  return failed(out) ? failure() : node.give(*out);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
enum ProjectedInput {
  ProjectedX,
  ProjectedWeight,
  ProjectedBias,
  ProjectedPadding,
  ProjectedPast,
  ProjectedScores,
  ProjectedPastLength
};
} // namespace

/// How many columns queries, keys and values have.
static FailureOr<SmallVector<int64_t>> projectedSizes(Node &node) {
  Tensor &x = node.input(ProjectedX), &w = node.input(ProjectedWeight);
  std::optional<int64_t> all =
      w.rank() == 2 ? w.shape[1].constant() : std::nullopt;
  auto sizes = node.getInts("qkv_hidden_sizes");
  if (!sizes && all && *all % 3 == 0)
    sizes = SmallVector<int64_t>(3, *all / 3);
  bool fits = x.rank() == 3 && all && sizes && sizes->size() == 3 &&
              x.element == w.element && x.isFloat() &&
              (!x.shape[2].constant() || x.shape[2] == w.shape[0]);
  if (fits)
    for (int64_t size : *sizes)
      fits &= size > 0 && size <= *all;
  if (fits && (*sizes)[0] + (*sizes)[1] + (*sizes)[2] == *all)
    return *sizes;
  return node.fail("expects rows and one matrix for queries, keys and values, "
                   "but got " +
                   describe(x) + " and " + describe(w));
}

/// Keys (0) or values (1) of (2, B, H, past, D).
static FailureOr<Tensor> pastPart(Node &node, int64_t which) {
  TensorBuilder &t = node.build();
  Tensor &past = node.input(ProjectedPast);
  if (past.rank() != 5 || !past.shape[0].is(2))
    return node.fail("expects past keys and values as (2, B, heads, past, "
                     "features), but got " +
                     describe(past));
  Tensor part = t.slice(past, 0, which, 1);
  Shape shape(past.shape.begin() + 1, past.shape.end());
  return *t.reshaped(part, shape);
}

static LogicalResult importProjectedAttention(Node &node) {
  TensorBuilder &t = node.build();
  if (failed(
          expectNoInput(node, {{ProjectedPastLength, "past_sequence_length"}})))
    return failure();
  if (node.getInt("do_rotary", 0))
    return node.fail("do_rotary is not supported");
  auto sizes = projectedSizes(node);
  if (failed(sizes))
    return failure();
  std::optional<Tensor> all =
      matmul(t, node.input(ProjectedX), node.input(ProjectedWeight));
  if (!all)
    return node.fail("expects rows and a matrix that fit each other");
  int64_t heads = node.getInt("num_heads", 0), begin = 0;
  SmallVector<Tensor, 3> parts;
  for (int64_t size : *sizes) {
    Tensor part = t.slice(*all, 2, begin, size);
    FailureOr<Tensor> biased =
        columnsWithBias(node, part, node.optionalInput(ProjectedBias), begin);
    FailureOr<Tensor> split =
        failed(biased) ? biased : asHeads(node, *biased, heads);
    if (failed(split))
      return failure();
    parts.push_back(*split);
    begin += size;
  }
  Size past = 0;
  if (node.hasInput(ProjectedPast))
    for (int64_t i = 0; i < 2; ++i) {
      FailureOr<Tensor> before = pastPart(node, i);
      FailureOr<Tensor> whole =
          failed(before) ? before : behindPast(node, &*before, parts[i + 1]);
      if (failed(whole))
        return failure();
      past = before->shape[2];
      parts[i + 1] = *whole;
    }
  if (node.hasOutput(1)) {
    Tensor present[] = {parts[1], parts[2]};
    for (Tensor &part : present) {
      Shape shape = part.shape;
      shape.insert(shape.begin(), 1);
      part = *t.reshaped(part, shape);
    }
    if (present[0].shape.back() != present[1].shape.back())
      return node.fail("expects keys and values of one size with past ones");
    node.setOutput(1, t.concat(present, 0));
  }
  PlainAttention plain{node, parts[0], parts[1], parts[2], past};
  FailureOr<Tensor> out = plain.run(ProjectedScores, ProjectedPadding);
  return failed(out) ? failure() : node.give(*out);
}

ArrayRef<Operator> attn::onnx::multiHeadOperators() {
  static const Operator all[] = {
      {"com.microsoft", "MultiHeadAttention", importMultiHead, 1, 10},
      {"com.microsoft", "Attention", importProjectedAttention, 2, 7},
  };
  return all;
}
