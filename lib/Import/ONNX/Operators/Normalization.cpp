// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, and what is made of them: softmax and the norms of rows.
//
// 16-bit numbers are reduced in f32.
#include "OperatorTable.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn::onnx;

/// Arithmetic on whole tensors, the second broadcast to the first.
template <typename Op>
static Tensor combine(TensorBuilder &t, Tensor &a, Tensor &b) {
  Value right = t.broadcast(b, a.shape);
  return t.made(t.b.createOrFold<Op>(t.loc, t.value(a), right), a.shape);
}

static Tensor wide(TensorBuilder &t, Tensor &x) {
  bool isNarrow = x.isFloat() && x.element.getIntOrFloatBitWidth() == 16;
  return isNarrow ? t.cast(x, t.b.getF32Type()) : x;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename Float, typename Integer>
static Tensor reduceBy(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes,
                       TypedAttr init) {
  bool isFloat = x.isFloat();
  return t.reduce(
      x, axes, init,
      [isFloat](OpBuilder &b, Location loc, Value next, Value sum) -> Value {
        if (isFloat)
          return Float::create(b, loc, next, sum);
        return Integer::create(b, loc, next, sum);
      });
}

static Tensor sumOf(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes) {
  return reduceBy<arith::AddFOp, arith::AddIOp>(t, x, axes,
                                                t.number(x.element, 0));
}

/// The lowest number that there is, or the highest.
static TypedAttr limit(TensorBuilder &t, Type element, bool lowest) {
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return t.number(element, lowest ? -infinity : infinity);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  return t.b.getIntegerAttr(element, lowest ? APInt::getSignedMinValue(bits)
                                            : APInt::getSignedMaxValue(bits));
}

static Tensor maximumOf(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes) {
  return reduceBy<arith::MaximumFOp, arith::MaxSIOp>(
      t, x, axes, limit(t, x.element, /*lowest=*/true));
}

/// `sum` over how many elements there are.
static Tensor divided(TensorBuilder &t, Tensor sum, const Size &count) {
  Tensor by;
  if (std::optional<int64_t> known = count.constant()) {
    by = t.splat(sum.shape, sum.element, static_cast<double>(*known));
  } else {
    Tensor number = t.numbers({}, count, t.b.getI64Type());
    by = t.cast(number, sum.element);
  }
  return combine<arith::DivFOp>(t, sum, by);
}

static Tensor meanOf(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes) {
  Size count = 1;
  for (int64_t axis : axes)
    count = count * x.shape[axis];
  return divided(t, sumOf(t, x, axes), count);
}

/// By an attribute first, then by an input. Nothing means all, or with
/// noop_with_empty_axes none.
static FailureOr<SmallVector<int64_t>> reducedAxes(Node &node, int64_t rank) {
  SmallVector<int64_t> axes;
  if (node.hasInput(1)) {
    auto given = node.integers(1);
    if (failed(given))
      return failure();
    axes = *given;
  } else if (auto given = node.getInts("axes")) {
    axes = *given;
  }
  if (axes.empty() && !node.getInt("noop_with_empty_axes", 0))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t &one : axes) {
    FailureOr<int64_t> valid = node.axis(one, rank);
    if (failed(valid))
      return failure();
    one = *valid;
  }
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  return axes;
}

static FailureOr<Tensor> reduced(Node &node, Tensor &x,
                                 ArrayRef<int64_t> axes) {
  TensorBuilder &t = node.build();
  StringRef op = node.op();
  if (op == "ReduceMax")
    return maximumOf(t, x, axes);
  if (op == "ReduceMin")
    return reduceBy<arith::MinimumFOp, arith::MinSIOp>(
        t, x, axes, limit(t, x.element, /*lowest=*/false));
  if (op == "ReduceProd")
    return reduceBy<arith::MulFOp, arith::MulIOp>(t, x, axes,
                                                  t.number(x.element, 1));
  if (op == "ReduceSum")
    return sumOf(t, x, axes);
  if (!x.isFloat())
    return node.fail("expects floating-point numbers, but got " + describe(x));
  if (op == "ReduceMean")
    return meanOf(t, x, axes);
  Tensor squares = combine<arith::MulFOp>(t, x, x);
  Tensor sum = sumOf(t, squares, axes);
  if (op == "ReduceSumSquare")
    return sum;
  return t.made(t.b.createOrFold<math::SqrtOp>(t.loc, t.value(sum)),
                sum.shape); // ReduceL2
}

static LogicalResult importReduce(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &given = node.input(0);
  auto axes = reducedAxes(node, given.rank());
  if (failed(axes))
    return failure();
  if (axes->empty())
    return node.give(given);
  // A maximum of booleans is whether there is any.
  bool isBool = given.element.isInteger(1);
  Tensor x = isBool ? t.cast(given, t.b.getI8Type()) : wide(t, given);
  FailureOr<Tensor> y = reduced(node, x, *axes);
  if (failed(y))
    return failure();
  Tensor result = t.cast(*y, given.element);
  if (node.getInt("keepdims", 1))
    return node.give(result);
  Shape shape;
  for (int64_t i = 0; i < result.rank(); ++i)
    if (!llvm::is_contained(*axes, i))
      shape.push_back(result.shape[i]);
  return node.give(*t.reshaped(result, shape));
}

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
  if (failed(node.expectFloats(0)) || node.opset() < 13)
    return node.fail("expects floating-point numbers and opset 13 or later");
  Tensor x = wide(t, node.input(0));
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", -1), x.rank());
  if (failed(axis))
    return failure();
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

/// `x` times the scale and plus the bias, of the input's type.
static Tensor withScale(Node &node, Tensor x) {
  TensorBuilder &t = node.build();
  Tensor scale = t.cast(node.input(1), x.element);
  Tensor y = combine<arith::MulFOp>(t, x, scale);
  if (Tensor *bias = node.optionalInput(2)) {
    Tensor added = t.cast(*bias, x.element);
    y = combine<arith::AddFOp>(t, y, added);
  }
  return t.cast(y, node.input(0).element);
}

/// Over the last dimension, with one weight and at most one bias per feature:
/// one op.
static bool isNormOfRows(Node &node, ArrayRef<int64_t> axes) {
  Tensor &x = node.input(0);
  auto isPerFeature = [&](Tensor *t) {
    return !t || (t->rank() == 1 && t->shape[0] == x.shape.back() &&
                  t->element == x.element);
  };
  return axes.size() == 1 && x.rank() >= 2 && x.rank() <= 4 &&
         isPerFeature(&node.input(1)) && isPerFeature(node.optionalInput(2));
}

static LogicalResult importLayerNorm(Node &node) {
  TensorBuilder &t = node.build();
  auto axes = normAxes(node);
  if (failed(axes))
    return failure();
  double epsilon = node.getFloat("epsilon", 1e-5);
  Tensor *bias = node.optionalInput(2);
  if (isNormOfRows(node, *axes)) {
    Tensor &x = node.input(0);
    Value y = attn::LayerNormOp::create(
        t.b, t.loc, t.type(x), t.value(x), t.value(node.input(1)),
        bias ? t.value(*bias) : Value(), t.b.getF64FloatAttr(epsilon));
    return node.give({x.element, x.shape, y, {}, {}});
  }
  Tensor x = wide(t, node.input(0));
  Tensor mean = meanOf(t, x, *axes);
  Tensor moved = combine<arith::SubFOp>(t, x, mean);
  Tensor squares = combine<arith::MulFOp>(t, moved, moved);
  Tensor variance = meanOf(t, squares, *axes);
  return node.give(withScale(node, normalized(t, moved, variance, epsilon)));
}

static LogicalResult importRmsNorm(Node &node) {
  TensorBuilder &t = node.build();
  auto axes = normAxes(node);
  if (failed(axes))
    return failure();
  double epsilon = node.getFloat("epsilon", 1e-5);
  if (isNormOfRows(node, *axes)) {
    Tensor &x = node.input(0);
    Value y = attn::RmsNormOp::create(t.b, t.loc, t.type(x), t.value(x),
                                      t.value(node.input(1)),
                                      t.b.getF64FloatAttr(epsilon));
    return node.give({x.element, x.shape, y, {}, {}});
  }
  Tensor x = wide(t, node.input(0));
  Tensor squares = combine<arith::MulFOp>(t, x, x);
  Tensor mean = meanOf(t, squares, *axes);
  return node.give(withScale(node, normalized(t, x, mean, epsilon)));
}

ArrayRef<Operator> attn::onnx::normalizationOperators() {
  static const Operator all[] = {
      {"", "ReduceSum", importReduce, 1, 2},
      {"", "ReduceMean", importReduce, 1, 2},
      {"", "ReduceMax", importReduce, 1, 2},
      {"", "ReduceMin", importReduce, 1, 2},
      {"", "ReduceProd", importReduce, 1, 2},
      {"", "ReduceL2", importReduce, 1, 2},
      {"", "ReduceSumSquare", importReduce, 1, 2},
      {"", "Softmax", importSoftmax, 1, 1},
      {"", "LogSoftmax", importLogSoftmax, 1, 1},
      {"", "LayerNormalization", importLayerNorm, 2, 3, /*since=*/17},
      {"", "RMSNormalization", importRmsNorm, 2, 2, /*since=*/23},
  };
  return all;
}
