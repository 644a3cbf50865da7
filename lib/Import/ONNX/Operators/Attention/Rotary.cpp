// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RotaryEmbedding, as of opset 23, and that of com.microsoft.
//
// Its angles are those of attn.rope: a row of cosines and sines per position,
// found by position_ids. Without these, each batch entry and row has angles of
// its own: all of them in one table, and the places 0, 1, 2, .. in it.
#include "AttentionSteps.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
enum RotaryInput { X, Cos, Sin, Positions };

struct Angles {
  Tensor cos, sin, positions;
};
} // namespace

/// Angles as [rows, pairs] and positions as [B, S].
static FailureOr<Angles> anglesOf(Node &node, const Size &batch,
                                  const Size &length) {
  TensorBuilder &t = node.build();
  Angles angles{node.input(Cos), node.input(Sin), {}};
  if (Tensor *positions = node.optionalInput(Positions)) {
    angles.positions = *positions;
    bool fits = positions->rank() == 2 && positions->element.isInteger(64) &&
                angles.cos.rank() == 2 && angles.sin.rank() == 2;
    if (fits)
      return angles;
    return node.fail("expects matrices of cosines, sines and positions, but "
                     "got " +
                     describe(angles.cos) + " and " + describe(*positions));
  }
  if (angles.cos.rank() != 3 || angles.sin.rank() != 3)
    return node.fail("expects cosines and sines per batch entry and row where "
                     "no positions are given, but got " +
                     describe(angles.cos));
  // Exporters write those of one entry for all.
  bool shared = angles.cos.shape[0].is(1) && angles.sin.shape[0].is(1);
  Size all = shared ? length : batch * length;
  for (Tensor *table : {&angles.cos, &angles.sin}) {
    std::optional<Tensor> rows = t.reshaped(*table, {all, table->shape[2]});
    if (!rows)
      return node.fail("expects cosines and sines per batch entry and row, but "
                       "got " +
                       describe(*table));
    *table = *rows;
  }
  Value stride = t.index(shared ? Size(0) : length);
  angles.positions = t.generate(
      {batch, length}, t.b.getI64Type(), [&](OpBuilder &b, ValueRange at) {
        Value begin = arith::MulIOp::create(b, t.loc, at[0], stride);
        Value place = arith::AddIOp::create(b, t.loc, begin, at[1]);
        return arith::IndexCastOp::create(b, t.loc, b.getI64Type(), place)
            .getResult();
      });
  return angles;
}

/// The input as heads, of which there are `heads` where it has rank 3.
static FailureOr<Tensor> headsOf(Node &node, Tensor x, int64_t heads) {
  if (x.rank() == 3) {
    std::optional<int64_t> all = x.shape[2].constant();
    if (!all || heads < 1 || *all % heads)
      return node.fail("expects an input of rank 3 whose last size is known "
                       "and a multiple of num_heads, but got " +
                       describe(x) + " and " + Twine(heads));
    x = splitHeads(node.build(), x, heads);
  }
  if (x.rank() != 4 || !x.shape[3].constant())
    return node.fail("expects an input of rank 3 or 4 with known features, but "
                     "got " +
                     describe(x));
  return x;
}

/// Rotates `x`, which are heads, and gives it as the input was.
static LogicalResult rotate(Node &node, Tensor x, Angles angles) {
  TensorBuilder &t = node.build();
  int64_t features = *x.shape[3].constant(),
          rotated = node.getInt("rotary_embedding_dim", 0);
  rotated = rotated == 0 ? features : rotated;
  if (rotated < 0 || rotated > features || rotated % 2 ||
      !angles.cos.shape[1].is(rotated / 2) ||
      angles.sin.shape[1] != angles.cos.shape[1])
    return node.fail("expects cosines and sines for each of " +
                     Twine(rotated / 2) + " pairs of features, but got " +
                     describe(angles.cos) + " and " + describe(angles.sin));
  Type statistics = x.element.isF64() ? x.element : Type(t.b.getF32Type());
  Tensor cos = t.cast(angles.cos, statistics),
         sin = t.cast(angles.sin, statistics);
  Value y = attn::RopeOp::create(
      t.b, t.loc, t.type(x), t.value(x), t.value(cos), t.value(sin),
      t.value(angles.positions), node.getInt("interleaved", 0) != 0);
  Tensor result{x.element, x.shape, y, {}, {}};
  bool isJoined = node.input(0).rank() == 3;
  return node.give(isJoined ? mergeHeads(t, result) : result);
}

static LogicalResult importRotary(Node &node) {
  for (unsigned i : {Cos, Sin})
    if (failed(node.expectFloats(i)))
      return failure();
  FailureOr<Tensor> x =
      headsOf(node, node.input(X), node.getInt("num_heads", 0));
  if (failed(x) || failed(node.expectFloats(X)))
    return failure();
  FailureOr<Angles> angles = anglesOf(node, x->shape[0], x->shape[2]);
  return failed(angles) ? failure() : rotate(node, *x, *angles);
}

/// Positions come second: one per batch entry and row, or that of row 0.
static LogicalResult importContribRotary(Node &node) {
  enum { Input, Places, CosCache, SinCache };
  TensorBuilder &t = node.build();
  if (node.getInt("is_packed_batching", 0))
    return node.fail("is_packed_batching is not supported");
  for (unsigned i : {Input, CosCache, SinCache})
    if (failed(node.expectFloats(i)))
      return failure();
  Angles angles{node.input(CosCache), node.input(SinCache), node.input(Places)};
  if (!angles.positions.element.isInteger(64) || angles.cos.rank() != 2 ||
      angles.sin.rank() != 2)
    return node.fail("expects matrices of cosines and sines and positions of "
                     "INT64, but got " +
                     describe(angles.cos) + " and " +
                     describe(angles.positions));
  Tensor given = node.input(Input);
  int64_t heads = node.getInt("num_heads", 0);
  std::optional<int64_t> pairs = angles.cos.shape[1].constant();
  if (heads == 0 && given.rank() == 3 && pairs.value_or(0) > 0)
    heads = given.shape[2].constant().value_or(0) / (2 * *pairs);
  FailureOr<Tensor> x = headsOf(node, given, heads);
  if (failed(x))
    return failure();
  Shape rows = {x->shape[0], x->shape[2]};
  if (angles.positions.rank() == 1 && angles.positions.shape[0].is(1)) {
    Value first = t.value(angles.positions);
    angles.positions = t.generate(
        rows, t.b.getI64Type(), [&](OpBuilder &b, ValueRange at) -> Value {
          Value zero = arith::ConstantIndexOp::create(b, t.loc, 0);
          Value begin = tensor::ExtractOp::create(b, t.loc, first, zero);
          Value row =
              arith::IndexCastOp::create(b, t.loc, b.getI64Type(), at[1]);
          return arith::AddIOp::create(b, t.loc, begin, row);
        });
  }
  if (angles.positions.rank() != 2)
    return node.fail("expects a position per batch entry and row, or one, but "
                     "got " +
                     describe(angles.positions));
  return rotate(node, *x, angles);
}

ArrayRef<Operator> attn::onnx::rotaryOperators() {
  static const Operator all[] = {
      {"", "RotaryEmbedding", importRotary, 3, 4, /*since=*/23},
      {"com.microsoft", "RotaryEmbedding", importContribRotary, 4, 4},
  };
  return all;
}
