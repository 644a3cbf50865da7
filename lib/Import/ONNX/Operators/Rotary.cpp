// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RotaryEmbedding, as of opset 23.
//
// Its angles are those of attn.rope: a row of cosines and sines per position,
// found by position_ids. Without these, each batch entry and row has angles of
// its own: all of them in one table, and the places 0, 1, 2, .. in it.
#include "AttentionSteps.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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
  for (Tensor *table : {&angles.cos, &angles.sin}) {
    std::optional<Tensor> rows =
        t.reshaped(*table, {batch * length, table->shape[2]});
    if (!rows)
      return node.fail("expects cosines and sines per batch entry and row, but "
                       "got " +
                       describe(*table));
    *table = *rows;
  }
  Value stride = t.index(length);
  angles.positions = t.generate(
      {batch, length}, t.b.getI64Type(), [&](OpBuilder &b, ValueRange at) {
        Value begin = arith::MulIOp::create(b, t.loc, at[0], stride);
        Value place = arith::AddIOp::create(b, t.loc, begin, at[1]);
        return arith::IndexCastOp::create(b, t.loc, b.getI64Type(), place)
            .getResult();
      });
  return angles;
}

static LogicalResult importRotary(Node &node) {
  TensorBuilder &t = node.build();
  Tensor x = node.input(X);
  if (failed(node.expectFloats(X)) || failed(node.expectFloats(Cos)) ||
      failed(node.expectFloats(Sin)))
    return failure();
  bool isJoined = x.rank() == 3;
  if (isJoined) {
    int64_t heads = node.getInt("num_heads", 0);
    std::optional<int64_t> all = x.shape[2].constant();
    if (!all || heads < 1 || *all % heads)
      return node.fail("expects an input of rank 3 whose last size is known "
                       "and a multiple of num_heads, but got " +
                       describe(x) + " and " + Twine(heads));
    x = splitHeads(t, x, heads);
  }
  if (x.rank() != 4 || !x.shape[3].constant())
    return node.fail("expects an input of rank 3 or 4 with known features, but "
                     "got " +
                     describe(x));
  FailureOr<Angles> angles = anglesOf(node, x.shape[0], x.shape[2]);
  if (failed(angles))
    return failure();
  int64_t features = *x.shape[3].constant(),
          rotated = node.getInt("rotary_embedding_dim", 0);
  rotated = rotated == 0 ? features : rotated;
  if (rotated < 0 || rotated > features || rotated % 2 ||
      !angles->cos.shape[1].is(rotated / 2) ||
      angles->sin.shape[1] != angles->cos.shape[1])
    return node.fail("expects cosines and sines for each of " +
                     Twine(rotated / 2) + " pairs of features, but got " +
                     describe(angles->cos) + " and " + describe(angles->sin));
  Type statistics = x.element.isF64() ? x.element : Type(t.b.getF32Type());
  angles->cos = t.cast(angles->cos, statistics);
  angles->sin = t.cast(angles->sin, statistics);
  Value y = attn::RopeOp::create(t.b, t.loc, t.type(x), t.value(x),
                                 t.value(angles->cos), t.value(angles->sin),
                                 t.value(angles->positions),
                                 node.getInt("interleaved", 0) != 0);
  Tensor result{x.element, x.shape, y, {}, {}};
  return node.give(isJoined ? mergeHeads(t, result) : result);
}

ArrayRef<Operator> attn::onnx::rotaryOperators() {
  static const Operator all[] = {
      {"", "RotaryEmbedding", importRotary, 3, 4, /*since=*/23},
  };
  return all;
}
