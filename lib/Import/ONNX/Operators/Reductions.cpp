// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that make one number of many along some dimensions.
//
// 16-bit numbers are reduced in f32.
#include "Reductions.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace attn::onnx;

Tensor attn::onnx::wide(TensorBuilder &t, Tensor &x) {
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

Tensor attn::onnx::sumOf(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes) {
  return reduceBy<arith::AddFOp, arith::AddIOp>(t, x, axes,
                                                t.number(x.element, 0));
}

TypedAttr attn::onnx::limit(TensorBuilder &t, Type element, bool lowest) {
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return t.number(element, lowest ? -infinity : infinity);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  return t.b.getIntegerAttr(element, lowest ? APInt::getSignedMinValue(bits)
                                            : APInt::getSignedMaxValue(bits));
}

Tensor attn::onnx::maximumOf(TensorBuilder &t, Tensor &x,
                             ArrayRef<int64_t> axes) {
  return reduceBy<arith::MaximumFOp, arith::MaxSIOp>(
      t, x, axes, limit(t, x.element, /*lowest=*/true));
}

Tensor attn::onnx::minimumOf(TensorBuilder &t, Tensor &x,
                             ArrayRef<int64_t> axes) {
  return reduceBy<arith::MinimumFOp, arith::MinSIOp>(
      t, x, axes, limit(t, x.element, /*lowest=*/false));
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

Tensor attn::onnx::meanOf(TensorBuilder &t, Tensor &x, ArrayRef<int64_t> axes) {
  Size count = 1;
  for (int64_t axis : axes)
    count = count * x.shape[axis];
  return divided(t, sumOf(t, x, axes), count);
}

Tensor attn::onnx::logSumExpOf(TensorBuilder &t, Tensor &x,
                               ArrayRef<int64_t> axes) {
  // Infinities are not subtracted from each other.
  Tensor most = maximumOf(t, x, axes);
  Tensor low =
      t.splat(most.shape, most.element, std::numeric_limits<float>::lowest());
  Tensor high =
      t.splat(most.shape, most.element, std::numeric_limits<float>::max());
  Tensor above = combine<arith::MaximumFOp>(t, most, low);
  Tensor shift = combine<arith::MinimumFOp>(t, above, high);
  Tensor moved = combine<arith::SubFOp>(t, x, shift);
  Tensor powers = t.elementwise<math::ExpOp>(t.value(moved), x.shape);
  Tensor sum = sumOf(t, powers, axes);
  Tensor logs = t.elementwise<math::LogOp>(t.value(sum), sum.shape);
  return combine<arith::AddFOp>(t, logs, shift);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// What is reduced. Nothing means all, or with noop_with_empty_axes none.
static FailureOr<SmallVector<int64_t>> reducedAxes(Node &node, int64_t rank) {
  auto axes = node.axes(1, rank);
  if (failed(axes))
    return failure();
  if (axes->empty() && !node.getInt("noop_with_empty_axes", 0))
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  axes->erase(llvm::unique(*axes), axes->end());
  return axes;
}

static FailureOr<Tensor> reduced(Node &node, Tensor &x,
                                 ArrayRef<int64_t> axes) {
  TensorBuilder &t = node.build();
  StringRef op = node.op();
  if (op == "ReduceMax")
    return maximumOf(t, x, axes);
  if (op == "ReduceMin")
    return minimumOf(t, x, axes);
  if (op == "ReduceProd")
    return reduceBy<arith::MulFOp, arith::MulIOp>(t, x, axes,
                                                  t.number(x.element, 1));
  if (op == "ReduceSum")
    return sumOf(t, x, axes);
  if (!x.isFloat())
    return node.fail("expects floating-point numbers, but got " + describe(x));
  if (op == "ReduceMean")
    return meanOf(t, x, axes);
  if (op == "ReduceLogSumExp")
    return logSumExpOf(t, x, axes);
  if (op == "ReduceLogSum") {
    Tensor sum = sumOf(t, x, axes);
    return t.elementwise<math::LogOp>(t.value(sum), sum.shape);
  }
  if (op == "ReduceL1") {
    Tensor sizes = t.elementwise<math::AbsFOp>(t.value(x), x.shape);
    return sumOf(t, sizes, axes);
  }
  Tensor squares = combine<arith::MulFOp>(t, x, x);
  Tensor sum = sumOf(t, squares, axes);
  if (op == "ReduceSumSquare")
    return sum;
  return t.elementwise<math::SqrtOp>(t.value(sum), sum.shape); // ReduceL2
}

/// `t` without the dimensions `axes`, if the node says so.
static LogicalResult giveReduced(Node &node, Tensor t, ArrayRef<int64_t> axes) {
  if (node.getInt("keepdims", 1))
    return node.give(t);
  Shape shape;
  for (int64_t i = 0; i < t.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      shape.push_back(t.shape[i]);
  return node.give(*node.build().reshaped(t, shape));
}

static LogicalResult importReduce(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &given = node.input(0);
  auto axes = reducedAxes(node, given.rank());
  if (failed(axes))
    return failure();
  if (axes->empty())
    return node.give(given);
  StringRef op = node.op();
  if (given.numbers && given.rank() == 1 &&
      (op == "ReduceProd" || op == "ReduceSum")) {
    Size all = op == "ReduceProd" ? product(*given.numbers) : Size(0);
    if (op == "ReduceSum")
      for (const Size &number : *given.numbers)
        all = all + number;
    Shape one(node.getInt("keepdims", 1) ? 1 : 0, Size(1));
    if (all.isValid())
      return node.give(t.numbers(one, all, given.element));
  }
  // A maximum of booleans is whether there is any.
  bool isBool = given.element.isInteger(1);
  Tensor x = isBool ? t.cast(given, t.b.getI8Type()) : wide(t, given);
  FailureOr<Tensor> y = reduced(node, x, *axes);
  if (failed(y))
    return failure();
  if (isBool) { // of none, the lowest number
    Tensor zero = t.splat(y->shape, y->element, 0);
    y = combine<arith::MaxSIOp>(t, *y, zero);
  }
  return giveReduced(node, t.cast(*y, given.element), *axes);
}

/// The place of the largest element, or of the smallest: the first of several,
/// or with select_last_index the last.
static LogicalResult importArg(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &given = node.input(0);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), given.rank());
  if (failed(axis))
    return failure();
  if (given.element.isInteger(1))
    return node.fail("expects numbers, but got " + describe(given));
  bool takesLast = node.getInt("select_last_index", 0) != 0;
  Tensor most = node.op() == "ArgMax" ? maximumOf(t, given, *axis)
                                      : minimumOf(t, given, *axis);
  Value whole = t.broadcast(most, given.shape);
  Type i64 = t.b.getI64Type();
  Value none = arith::ConstantOp::create(
      t.b, t.loc, t.b.getI64IntegerAttr(takesLast ? -1 : INT64_MAX));
  Value equal =
      given.isFloat()
          ? t.b.createOrFold<arith::CmpFOp>(t.loc, arith::CmpFPredicate::OEQ,
                                            t.value(given), whole)
          : t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                            t.value(given), whole);
  Tensor isMost = t.made(equal, given.shape);
  Tensor places =
      t.generate(given.shape, i64, [&](OpBuilder &b, ValueRange at) -> Value {
        Value here = tensor::ExtractOp::create(b, t.loc, t.value(isMost), at);
        Value place = arith::IndexCastOp::create(b, t.loc, i64, at[*axis]);
        return arith::SelectOp::create(b, t.loc, here, place, none);
      });
  Tensor found =
      takesLast ? maximumOf(t, places, *axis) : minimumOf(t, places, *axis);
  return giveReduced(node, found, *axis);
}

ArrayRef<Operator> attn::onnx::reductionOperators() {
  static const Operator all[] = {
      {"", "ReduceSum", importReduce, 1, 2},
      {"", "ReduceMean", importReduce, 1, 2},
      {"", "ReduceMax", importReduce, 1, 2},
      {"", "ReduceMin", importReduce, 1, 2},
      {"", "ReduceProd", importReduce, 1, 2},
      {"", "ReduceL1", importReduce, 1, 2},
      {"", "ReduceL2", importReduce, 1, 2},
      {"", "ReduceLogSum", importReduce, 1, 2},
      {"", "ReduceLogSumExp", importReduce, 1, 2},
      {"", "ReduceSumSquare", importReduce, 1, 2},
      {"", "ArgMax", importArg, 1, 1},
      {"", "ArgMin", importArg, 1, 1},
  };
  return all;
}
