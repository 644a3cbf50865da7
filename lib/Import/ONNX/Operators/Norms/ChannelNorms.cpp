// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Norms of channels, as speech and image models have them:
//   x (N, C, D1, ..), a scale and a bias per channel.
//
// 16-bit numbers are computed in f32.
#include "Norms.h"
#include "OperatorTable.h"
#include "Operators/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn::onnx;

/// Whether input `i` has a number per channel, or per group of them.
static LogicalResult expectPer(Node &node, unsigned i, const Size &count) {
  Tensor &t = node.input(i);
  if (failed(node.expectFloats(i)))
    return failure();
  if (t.rank() == 1 && t.shape[0] == count)
    return success();
  Tensor &x = node.input(0);
  return node.fail("expects a number per channel of " + describe(x) +
                   ", but got " + describe(t));
}

static LogicalResult expectChannels(Node &node, int64_t rank) {
  Tensor &x = node.input(0);
  if (failed(node.expectFloats(0)))
    return failure();
  if (x.rank() >= rank && x.shape[1].constant().value_or(0) > 0)
    return success();
  return node.fail("expects a known number of channels, but got " +
                   describe(x));
}

/// (C) as (C, 1, ..), which broadcasts to a tensor of that rank.
static Tensor perChannel(TensorBuilder &t, Tensor &x, int64_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = x.shape[0];
  return *t.reshaped(x, shape);
}

static SmallVector<int64_t> behindChannels(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(2, rank));
}

static LogicalResult importInstanceNorm(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  if (failed(expectChannels(node, 3)) ||
      failed(expectPer(node, 1, x.shape[1])) ||
      failed(expectPer(node, 2, x.shape[1])))
    return failure();
  Tensor scale = perChannel(t, node.input(1), x.rank()),
         bias = perChannel(t, node.input(2), x.rank());
  NormWeights weights{&scale, &bias, node.getFloat("epsilon", 1e-5)};
  return node.give(layerNorm(t, x, weights, behindChannels(x.rank())));
}

static LogicalResult importGroupNorm(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  int64_t groups = node.getInt("num_groups", 0);
  if (failed(expectChannels(node, 3)))
    return failure();
  int64_t channels = *x.shape[1].constant();
  if (groups < 1 || channels % groups)
    return node.fail("expects num_groups to divide " +
                     std::to_string(channels) + " channels, but got " +
                     std::to_string(groups));
  // A number per group until opset 21.
  bool isOld = node.opset() < 21;
  Size count = isOld ? Size(groups) : x.shape[1];
  if (failed(expectPer(node, 1, count)) || failed(expectPer(node, 2, count)))
    return failure();
  Size rest =
      product(ArrayRef<Size>(x.shape).drop_front(2)) * Size(channels / groups);
  std::optional<Tensor> rows = t.reshaped(x, {x.shape[0], groups, rest});
  if (!rows)
    return node.fail("expects sizes that join, but got " + describe(x));
  double epsilon = node.getFloat("epsilon", 1e-5);
  int64_t rank = isOld ? 3 : x.rank();
  Tensor scale = perChannel(t, node.input(1), rank),
         bias = perChannel(t, node.input(2), rank);
  NormWeights weights{&scale, &bias, epsilon}, none{nullptr, nullptr, epsilon};
  Tensor normed = layerNorm(t, *rows, isOld ? weights : none, {2});
  std::optional<Tensor> y = t.reshaped(normed, x.shape);
  if (!y)
    return node.fail("expects sizes that join, but got " + describe(x));
  return node.give(isOld ? *y : withScale(t, *y, weights, x.element));
}

/// With the mean and the variance that training left.
static LogicalResult importBatchNorm(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  if (node.getInt("training_mode", 0) != 0)
    return node.fail("expects training_mode 0: no statistics are updated");
  if (failed(expectChannels(node, 2)))
    return failure();
  for (unsigned i = 1; i <= 4; ++i)
    if (failed(expectPer(node, i, x.shape[1])))
      return failure();
  auto number = [&](unsigned i) {
    Tensor each = perChannel(t, node.input(i), x.rank());
    return wide(t, each);
  };
  Tensor scale = number(1), bias = number(2), mean = number(3),
         variance = number(4);
  Tensor input = wide(t, x);
  Tensor moved = combine<arith::SubFOp>(t, input, mean);
  Tensor small =
      t.splat(variance.shape, variance.element, node.getFloat("epsilon", 1e-5));
  Tensor sum = combine<arith::AddFOp>(t, variance, small);
  Tensor root = t.elementwise<math::SqrtOp>(t.value(sum), sum.shape);
  Tensor factor = combine<arith::DivFOp>(t, scale, root);
  Tensor scaled = combine<arith::MulFOp>(t, moved, factor);
  Tensor y = combine<arith::AddFOp>(t, scaled, bias);
  return node.give(t.cast(y, x.element));
}

ArrayRef<Operator> attn::onnx::channelNormOperators() {
  static const Operator all[] = {
      {"", "InstanceNormalization", importInstanceNorm, 3, 3},
      {"", "GroupNormalization", importGroupNorm, 3, 3, /*since=*/18},
      {"", "BatchNormalization", importBatchNorm, 5, 5},
  };
  return all;
}
