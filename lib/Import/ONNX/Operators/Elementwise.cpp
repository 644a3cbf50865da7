// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that compute each element from those at the same place.
//
// Operands are broadcast to the shape of the result, then one op of arith or
// math computes on whole tensors: what the compiler's own fusion reads.
#include "OperatorTable.h"
#include "Whole.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

//===----------------------------------------------------------------------===//
// Shape arithmetic
//===----------------------------------------------------------------------===//

/// The larger or the smaller size.
static Size extreme(TensorBuilder &t, bool isMost, const Size &a,
                    const Size &b) {
  if (t.sizes.isAtMost(b, a))
    return isMost ? a : b;
  if (t.sizes.isAtMost(a, b))
    return isMost ? b : a;
  Value left = t.index(a), right = t.index(b);
  return t.unknown(isMost
                       ? t.b.createOrFold<arith::MaxSIOp>(t.loc, left, right)
                       : t.b.createOrFold<arith::MinSIOp>(t.loc, left, right));
}

/// What is left of `a` by a size, which it is below: where a rotation begins.
static Size remainder(TensorBuilder &t, const Size &a, const Size &b) {
  Value zero = arith::ConstantIndexOp::create(t.b, t.loc, 0),
        one = arith::ConstantIndexOp::create(t.b, t.loc, 1);
  // Nothing is divided by 0.
  Value by = t.b.createOrFold<arith::MaxSIOp>(t.loc, t.index(b), one);
  Value rest = t.b.createOrFold<arith::RemSIOp>(t.loc, t.index(a), by);
  Value isBelow =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, rest, zero);
  Value more = t.b.createOrFold<arith::AddIOp>(t.loc, rest, by);
  return t.unknown(
      arith::SelectOp::create(t.b, t.loc, isBelow, more, rest).getResult());
}

/// `a op b` for integers that follow from sizes; none where there is no such
/// formula.
static std::optional<Size> compute(TensorBuilder &t, StringRef op,
                                   const Size &a, const Size &b) {
  if (op == "Add")
    return a + b;
  if (op == "Sub")
    return a - b;
  if (op == "Mul")
    return a * b;
  std::optional<int64_t> x = a.constant(), y = b.constant();
  if (op == "Div" && !b.is(0)) {
    if (std::optional<Size> exact = a.dividedBy(b))
      return exact;
    if (x && y && !(*x == INT64_MIN && *y == -1))
      return Size(*x / *y);
    // Sizes are not negative: rounding to 0 is rounding down.
    if (y && *y > 0 && (a - Size(a.fixed())).isSum())
      return t.quotient(a, *y);
    if (y && *y > 0)
      return t.unknown(
          arith::DivSIOp::create(t.b, t.loc, t.index(a), t.index(b)));
  }
  if (op == "Max" || op == "Min")
    return extreme(t, /*isMost=*/op == "Max", a, b);
  if (op == "Mod" && !x && y && *y > 0)
    return a - t.quotient(a, *y) * Size(*y);
  // The last place of an axis, as that of a rotation by 1 is written.
  if (op == "Mod" && x == -1 && !y && b.isSum())
    return b - Size(1);
  if (op == "Mod" && !y && b.isSum())
    return remainder(t, a, b);
  if (!x || !y)
    return std::nullopt;
  if (op == "Mod" && *y != 0 && *y != -1) {
    int64_t rest = *x % *y;
    return Size(rest && (rest < 0) != (*y < 0) ? rest + *y : rest);
  }
  return std::nullopt;
}

/// The places of `shape` in a tensor that broadcasts to it.
static size_t placeOf(const Tensor &t, ArrayRef<Size> shape, size_t place) {
  size_t at = 0, stride = 1;
  for (size_t i = 0; i < t.shape.size(); ++i) {
    size_t dim = t.shape.size() - 1 - i;
    size_t size = *shape[shape.size() - 1 - i].constant();
    size_t own = *t.shape[dim].constant();
    at += own == 1 ? 0 : place % size * stride;
    place /= size;
    stride *= own;
  }
  return at;
}

/// The result where both inputs follow from sizes.
static std::optional<Tensor> computeNumbers(Node &node, ArrayRef<Size> shape) {
  Tensor &a = node.input(0), &b = node.input(1);
  std::optional<int64_t> count = product(shape).constant();
  if (!a.numbers || !b.numbers || !count || *count > mostNumbers)
    return std::nullopt;
  Shape results;
  for (int64_t i = 0; i < *count; ++i) {
    std::optional<Size> one =
        compute(node.build(), node.op(), (*a.numbers)[placeOf(a, shape, i)],
                (*b.numbers)[placeOf(b, shape, i)]);
    if (!one || !one->isValid())
      return std::nullopt;
    results.push_back(*one);
  }
  return node.build().numbers(shape, results, a.element);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// The inputs, broadcast to one shape and of one type.
static FailureOr<SmallVector<Value>> broadcastInputs(Node &node, Shape &shape,
                                                     unsigned first = 0) {
  shape = node.input(0).shape;
  for (unsigned i = 1; i < node.inputs(); ++i) {
    std::optional<Shape> both = broadcastShape(shape, node.input(i).shape);
    if (!both)
      return node.fail("expects inputs that broadcast to each other, but got " +
                       describe(node.input(0)) + " and " +
                       describe(node.input(i)));
    shape = *both;
  }
  SmallVector<Value> values;
  for (unsigned i = 0; i < node.inputs(); ++i) {
    if (i > first && node.input(i).element != node.input(first).element)
      return node.fail("expects inputs of one type, but got " +
                       describe(node.input(first)) + " and " +
                       describe(node.input(i)));
    values.push_back(node.build().broadcast(node.input(i), shape));
  }
  return values;
}

/// Integers to divide by, with 1 for 0 and -1, by which the processor ends the
/// program: 0 has no quotient in ONNX, and -1 one that is done without.
static Value divisorOf(Node &node, Whole &w, Value b) {
  auto by = integersOf(node.input(1).constant);
  if (by && !llvm::is_contained(*by, 0) && !llvm::is_contained(*by, -1))
    return b;
  Value next = w.op<arith::AddIOp>(b, w.number(b, 1));
  Value isEither = w.compare(arith::CmpIPredicate::ule, next, w.number(b, 1));
  return w.select(isEither, w.number(b, 1), b);
}

/// ONNX's division of integers rounds to 0.
static Value divide(Node &node, Whole &w, Value a, Value b) {
  if (isFloat(a))
    return w.op<arith::DivFOp>(a, b);
  Value divisor = divisorOf(node, w, b);
  Value quotient = w.op<arith::DivSIOp>(a, divisor);
  if (divisor == b)
    return quotient;
  Value isMinusOne = w.compare(arith::CmpIPredicate::eq, b, w.number(b, -1));
  return w.select(isMinusOne, w.op<arith::SubIOp>(w.number(a, 0), a), quotient);
}

/// The remainder has the sign of the divisor, or with fmod of the dividend.
static FailureOr<Value> remainder(Node &node, Whole &w, Value a, Value b) {
  bool byDividend = node.getInt("fmod", 0) != 0;
  if (isFloat(a)) {
    if (!byDividend)
      return node.fail("expects fmod = 1 for floating-point numbers");
    Value quotient = w.op<arith::DivFOp>(a, b);
    Value whole = w.op<math::TruncOp>(quotient);
    return w.op<arith::SubFOp>(a, w.op<arith::MulFOp>(whole, b));
  }
  b = divisorOf(node, w, b);
  Value rest = w.op<arith::RemSIOp>(a, b);
  if (byDividend)
    return rest;
  // Of another sign than the divisor.
  Value zero = w.number(rest, 0), signs = w.op<arith::XOrIOp>(rest, b);
  Value isOther = w.compare(arith::CmpIPredicate::slt, signs, zero);
  Value isMore = w.compare(arith::CmpIPredicate::ne, rest, zero);
  return w.select(w.op<arith::AndIOp>(isOther, isMore),
                  w.op<arith::AddIOp>(rest, b), rest);
}

/// Squares are products; other powers a function.
static FailureOr<Value> power(Node &node, Whole &w, Value a, Value b) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(node.input(1).constant);
  std::optional<double> exponent;
  if (dense && dense.isSplat()) {
    if (auto number = dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>()))
      exponent = number.getValueAsDouble();
    else
      exponent = dense.getSplatValue<APInt>().getSExtValue();
  }
  if (exponent == 1.0)
    return a;
  if (exponent == 2.0)
    return isFloat(a) ? w.op<arith::MulFOp>(a, a) : w.op<arith::MulIOp>(a, a);
  if (!isFloat(a))
    return node.fail("expects an exponent of 1 or 2 for integers");
  if (exponent == 0.5)
    return w.op<math::SqrtOp>(a);
  if (exponent == -1.0)
    return w.op<arith::DivFOp>(w.number(a, 1), a);
  if (exponent == 3.0)
    return w.op<arith::MulFOp>(w.op<arith::MulFOp>(a, a), a);
  return w.op<math::PowFOp>(a, b);
}

static FailureOr<Value> arithmetic(Node &node, Whole &w, Value a, Value b) {
  StringRef op = node.op();
  bool f = isFloat(a);
  if (op == "Add")
    return f ? w.op<arith::AddFOp>(a, b) : w.op<arith::AddIOp>(a, b);
  if (op == "Sub")
    return f ? w.op<arith::SubFOp>(a, b) : w.op<arith::SubIOp>(a, b);
  if (op == "Mul")
    return f ? w.op<arith::MulFOp>(a, b) : w.op<arith::MulIOp>(a, b);
  if (op == "Max")
    return f ? w.op<arith::MaximumFOp>(a, b) : w.op<arith::MaxSIOp>(a, b);
  if (op == "Min")
    return f ? w.op<arith::MinimumFOp>(a, b) : w.op<arith::MinSIOp>(a, b);
  if (op == "Div")
    return divide(node, w, a, b);
  if (op == "Mod")
    return remainder(node, w, a, b);
  return power(node, w, a, b);
}

static LogicalResult importArithmetic(Node &node) {
  Tensor &a = node.input(0), &b = node.input(1);
  std::optional<Shape> both = broadcastShape(a.shape, b.shape);
  if (both && a.element == b.element)
    if (std::optional<Tensor> known = computeNumbers(node, *both))
      return node.give(*known);
  Shape shape;
  // An exponent may have a type of its own.
  if (node.op() == "Pow" && b.element != a.element)
    b = node.build().cast(b, a.element);
  auto values = broadcastInputs(node, shape);
  if (failed(values))
    return failure();
  Whole w{node.build(), shape};
  FailureOr<Value> result = arithmetic(node, w, (*values)[0], (*values)[1]);
  if (failed(result))
    return failure();
  return node.give(node.build().made(*result, shape));
}

/// Max, Min, Sum and Mean take any number of inputs.
static LogicalResult importMany(Node &node) {
  Shape shape;
  if (node.inputs() == 2) {
    Tensor &a = node.input(0), &b = node.input(1);
    std::optional<Shape> both = broadcastShape(a.shape, b.shape);
    if (both && a.element == b.element)
      if (std::optional<Tensor> known = computeNumbers(node, *both))
        return node.give(*known);
  }
  auto values = broadcastInputs(node, shape);
  if (failed(values))
    return failure();
  Whole w{node.build(), shape};
  StringRef op = node.op();
  Value all = values->front();
  if ((op == "Sum" || op == "Mean") && !isFloat(all))
    return node.expectFloats(0);
  for (Value next : ArrayRef(*values).drop_front()) {
    if (op == "Sum" || op == "Mean") {
      all = w.op<arith::AddFOp>(all, next);
      continue;
    }
    all = *arithmetic(node, w, all, next);
  }
  if (op == "Mean")
    all = w.op<arith::DivFOp>(all, w.number(all, values->size()));
  return node.give(node.build().made(all, shape));
}

/// `a op b` where that does not depend on sizes.
static std::optional<bool> compare(const Sizes &sizes, StringRef op,
                                   const Size &a, const Size &b) {
  if (!(a - b).isValid())
    return std::nullopt;
  std::optional<int64_t> difference = (a - b).constant();
  if ((a - b).isPositive())
    difference = 1;
  else if ((b - a).isPositive())
    difference = -1;
  else if (sizes.isOfTensor(a) && b.constant().value_or(0) < 0)
    difference = 1;
  if (!difference)
    return std::nullopt;
  return op == "Equal"         ? *difference == 0
         : op == "Less"        ? *difference < 0
         : op == "LessOrEqual" ? *difference <= 0
         : op == "Greater"     ? *difference > 0
                               : *difference >= 0;
}

/// The result where both inputs follow from sizes.
static std::optional<Tensor> compareNumbers(Node &node) {
  Tensor &a = node.input(0), &b = node.input(1);
  std::optional<Shape> shape = broadcastShape(a.shape, b.shape);
  if (!a.numbers || !b.numbers || !shape || a.element != b.element)
    return std::nullopt;
  std::optional<int64_t> count = product(*shape).constant();
  if (!count || *count > mostNumbers)
    return std::nullopt;
  Shape results;
  for (int64_t i = 0; i < *count; ++i) {
    std::optional<bool> one = compare(node.build().sizes, node.op(),
                                      (*a.numbers)[placeOf(a, *shape, i)],
                                      (*b.numbers)[placeOf(b, *shape, i)]);
    if (!one)
      return std::nullopt;
    results.push_back(Size(*one));
  }
  TensorBuilder &t = node.build();
  return t.numbers(*shape, results, t.b.getI1Type());
}

static LogicalResult importComparison(Node &node) {
  if (std::optional<Tensor> known = compareNumbers(node))
    return node.give(*known);
  Shape shape;
  auto values = broadcastInputs(node, shape);
  if (failed(values))
    return failure();
  struct How {
    StringRef op;
    arith::CmpFPredicate floats;
    arith::CmpIPredicate integers;
  };
  static constexpr How all[] = {
      {"Equal", arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq},
      {"Less", arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt},
      {"LessOrEqual", arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle},
      {"Greater", arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt},
      {"GreaterOrEqual", arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge}};
  const How *how =
      llvm::find_if(all, [&](const How &h) { return h.op == node.op(); });
  Whole w{node.build(), shape};
  Value a = (*values)[0], b = (*values)[1];
  return node.give(node.build().made(isFloat(a)
                                         ? w.compare(how->floats, a, b)
                                         : w.compare(how->integers, a, b),
                                     shape));
}

static LogicalResult importLogic(Node &node) {
  Shape shape;
  auto values = broadcastInputs(node, shape);
  if (failed(values))
    return failure();
  StringRef op = node.op();
  bool ofBits = op.consume_front("Bitwise");
  const Tensor &first = node.input(0);
  if (first.isFloat() || first.element.isInteger(1) == ofBits)
    return node.fail(Twine("expects ") + (ofBits ? "integers" : "booleans") +
                     ", but got " + describe(first));
  Whole w{node.build(), shape};
  Value a = (*values)[0], b = (*values)[1];
  Value result = op == "And"  ? w.op<arith::AndIOp>(a, b)
                 : op == "Or" ? w.op<arith::OrIOp>(a, b)
                              : w.op<arith::XOrIOp>(a, b);
  return node.give(node.build().made(result, shape));
}

/// Known choices between integers that follow from sizes.
static std::optional<Tensor> chooseNumbers(Node &node) {
  Tensor &where = node.input(0), &a = node.input(1), &b = node.input(2);
  std::optional<Shape> values = broadcastShape(a.shape, b.shape);
  std::optional<Shape> shape =
      values ? broadcastShape(where.shape, *values) : std::nullopt;
  if (!where.numbers || !a.numbers || !b.numbers || !shape ||
      a.element != b.element)
    return std::nullopt;
  std::optional<int64_t> count = product(*shape).constant();
  if (!count || *count > mostNumbers)
    return std::nullopt;
  Shape results;
  for (int64_t i = 0; i < *count; ++i) {
    const Size &one = (*where.numbers)[placeOf(where, *shape, i)];
    if (!one.constant())
      return std::nullopt;
    const Tensor &from = one.is(0) ? b : a;
    results.push_back((*from.numbers)[placeOf(from, *shape, i)]);
  }
  return node.build().numbers(*shape, results, a.element);
}

static LogicalResult importWhere(Node &node) {
  if (std::optional<Tensor> known = chooseNumbers(node))
    return node.give(*known);
  Shape shape;
  auto values = broadcastInputs(node, shape, /*first=*/1);
  if (failed(values))
    return failure();
  if (!node.input(0).element.isInteger(1))
    return node.fail("expects a condition of booleans, but got " +
                     describe(node.input(0)));
  Whole w{node.build(), shape};
  return node.give(node.build().made(
      w.select((*values)[0], (*values)[1], (*values)[2]), shape));
}

ArrayRef<Operator> attn::onnx::elementwiseOperators() {
  static const Operator all[] = {
      {"", "Add", importArithmetic, 2, 2},
      {"", "Sub", importArithmetic, 2, 2},
      {"", "Mul", importArithmetic, 2, 2},
      {"", "Div", importArithmetic, 2, 2},
      {"", "Mod", importArithmetic, 2, 2},
      {"", "Pow", importArithmetic, 2, 2},
      {"", "Max", importMany, 1, anyNumber},
      {"", "Min", importMany, 1, anyNumber},
      {"", "Sum", importMany, 1, anyNumber},
      {"", "Mean", importMany, 1, anyNumber},
      {"", "Equal", importComparison, 2, 2},
      {"", "Less", importComparison, 2, 2},
      {"", "LessOrEqual", importComparison, 2, 2},
      {"", "Greater", importComparison, 2, 2},
      {"", "GreaterOrEqual", importComparison, 2, 2},
      {"", "And", importLogic, 2, 2},
      {"", "Or", importLogic, 2, 2},
      {"", "Xor", importLogic, 2, 2},
      {"", "BitwiseAnd", importLogic, 2, 2},
      {"", "BitwiseOr", importLogic, 2, 2},
      {"", "BitwiseXor", importLogic, 2, 2},
      {"", "Where", importWhere, 3, 3},
  };
  return all;
}
