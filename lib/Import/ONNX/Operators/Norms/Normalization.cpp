// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and the norms of rows.
//
// 16-bit numbers are computed in f32.
#include "Norms.h"
#include "OperatorTable.h"
#include "Operators/Reductions.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn::onnx;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static LogicalResult importSoftmax(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  if (failed(node.expectFloats(0)))
    return failure();
  bool isOld = node.opset() < 13; // all dimensions from the axis on are one
  FailureOr<int64_t> axis =
      node.axis(node.getInt("axis", isOld ? 1 : -1), x.rank());
  if (failed(axis))
    return failure();
  Shape shape = x.shape;
  int64_t dim = *axis;
  if (isOld && dim != x.rank() - 1) {
    ArrayRef<Size> all = x.shape;
    shape = {product(all.take_front(dim)), product(all.drop_front(dim))};
    dim = 1;
  }
  std::optional<Tensor> rows = t.reshaped(x, shape);
  if (!rows)
    return node.fail("expects sizes that join, but got " + describe(x));
  Value weights =
      linalg::SoftmaxOp::create(t.b, t.loc, TypeRange(t.type(*rows)),
                                t.value(*rows), t.empty(shape, x.element), dim)
          ->getResult(0);
  Tensor y{x.element, shape, weights, {}, {}};
  return node.give(*t.reshaped(y, x.shape));
}

static LogicalResult importLogSoftmax(Node &node) {
  TensorBuilder &t = node.build();
  if (failed(node.expectFloats(0)))
    return failure();
  Tensor x = wide(t, node.input(0));
  bool isOld = node.opset() < 13; // all dimensions from the axis on are one
  FailureOr<int64_t> axis =
      node.axis(node.getInt("axis", isOld ? 1 : -1), x.rank());
  if (failed(axis))
    return failure();
  if (isOld && *axis != x.rank() - 1)
    return node.fail("expects its last axis, or opset 13 or later");
  Tensor most = maximumOf(t, x, *axis);
  Tensor moved = combine<arith::SubFOp>(t, x, most);
  Tensor powers = t.elementwise<math::ExpOp>(t.value(moved), x.shape);
  Tensor sum = sumOf(t, powers, *axis);
  Tensor logs = t.elementwise<math::LogOp>(t.value(sum), sum.shape);
  Tensor y = combine<arith::SubFOp>(t, moved, logs);
  return node.give(t.cast(y, node.input(0).element));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// x / sqrt(mean + epsilon), where `mean` is that of squares.
static Tensor normalized(TensorBuilder &t, Tensor &x, Tensor &mean,
                         double epsilon) {
  Tensor small = t.splat(mean.shape, mean.element, epsilon);
  Tensor sum = combine<arith::AddFOp>(t, mean, small);
  Tensor root = t.elementwise<math::SqrtOp>(t.value(sum), sum.shape);
  return combine<arith::DivFOp>(t, x, root);
}

Tensor attn::onnx::withScale(TensorBuilder &t, Tensor x,
                             const NormWeights &weights, Type element) {
  if (weights.scale) {
    Tensor scale = t.cast(*weights.scale, x.element);
    x = combine<arith::MulFOp>(t, x, scale);
  }
  if (weights.bias) {
    Tensor added = t.cast(*weights.bias, x.element);
    x = combine<arith::AddFOp>(t, x, added);
  }
  return t.cast(x, element);
}

/// Over the last dimension, with one weight and at most one bias per feature:
/// one op.
static bool isNormOfRows(const Tensor &x, const NormWeights &weights,
                         ArrayRef<int64_t> axes) {
  auto isPerFeature = [&](const Tensor *t) {
    return !t || (t->rank() == 1 && t->shape[0] == x.shape.back() &&
                  t->element == x.element);
  };
  return axes.size() == 1 && x.rank() >= 2 && x.rank() <= 4 &&
         isPerFeature(weights.scale) && isPerFeature(weights.bias);
}

Tensor attn::onnx::layerNorm(TensorBuilder &t, Tensor x,
                             const NormWeights &weights,
                             ArrayRef<int64_t> axes) {
  Type element = x.element;
  if (weights.scale && isNormOfRows(x, weights, axes)) {
    Value scale = t.value(*weights.scale),
          bias = weights.bias ? t.value(*weights.bias) : Value();
    Value y =
        attn::LayerNormOp::create(t.b, t.loc, t.type(x), t.value(x), scale,
                                  bias, t.b.getF64FloatAttr(weights.epsilon));
    return {element, x.shape, y, {}, {}};
  }
  x = wide(t, x);
  Tensor mean = meanOf(t, x, axes);
  Tensor moved = combine<arith::SubFOp>(t, x, mean);
  Tensor squares = combine<arith::MulFOp>(t, moved, moved);
  Tensor variance = meanOf(t, squares, axes);
  return withScale(t, normalized(t, moved, variance, weights.epsilon), weights,
                   element);
}

Tensor attn::onnx::rmsNorm(TensorBuilder &t, Tensor x,
                           const NormWeights &weights, ArrayRef<int64_t> axes) {
  Type element = x.element;
  if (!weights.bias && isNormOfRows(x, weights, axes)) {
    Value scale = weights.scale ? t.value(*weights.scale) : Value();
    Value y = attn::RmsNormOp::create(t.b, t.loc, t.type(x), t.value(x), scale,
                                      t.b.getF64FloatAttr(weights.epsilon));
    return {element, x.shape, y, {}, {}};
  }
  x = wide(t, x);
  Tensor squares = combine<arith::MulFOp>(t, x, x);
  Tensor mean = meanOf(t, squares, axes);
  return withScale(t, normalized(t, x, mean, weights.epsilon), weights,
                   element);
}

/// Checks what a norm is told, and gives the dimensions from its axis on.
static FailureOr<SmallVector<int64_t>> normAxes(Node &node) {
  Tensor &x = node.input(0), &scale = node.input(1);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", -1), x.rank());
  if (failed(axis) || failed(node.expectFloats(0)) ||
      failed(node.expectFloats(1)))
    return failure();
  for (unsigned i : {1u, 2u})
    if (Tensor *t = node.optionalInput(i)) {
      std::optional<Shape> both = broadcastShape(x.shape, t->shape);
      if (!both || both->size() != x.shape.size())
        return node.fail("expects scale and bias that broadcast to the input, "
                         "but got " +
                         describe(scale) + " for " + describe(x));
    }
  return llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank()));
}

static LogicalResult importNorm(Node &node) {
  auto axes = normAxes(node);
  if (failed(axes))
    return failure();
  NormWeights weights{&node.input(1), node.optionalInput(2),
                      node.getFloat("epsilon", 1e-5)};
  auto make = node.op() == "LayerNormalization" ? layerNorm : rmsNorm;
  return node.give(make(node.build(), node.input(0), weights, *axes));
}

ArrayRef<Operator> attn::onnx::normalizationOperators() {
  static const Operator all[] = {
      {"", "Softmax", importSoftmax, 1, 1},
      {"", "LogSoftmax", importLogSoftmax, 1, 1},
      {"", "RMSNormalization", importNorm, 2, 2, /*since=*/23},
      // Of ONNX Runtime, which also gives them ONNX's domain, and the first one
      // to opsets before 17.
      {"", "LayerNormalization", importNorm, 2, 3},
      {"", "SimplifiedLayerNormalization", importNorm, 2, 2},
      {"com.microsoft", "SimplifiedLayerNormalization", importNorm, 2, 2},
  };
  return all;
}
