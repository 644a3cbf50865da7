// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose results come from attributes and sizes alone.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

/// A list of numbers, or one.
static ElementsAttr fromNumbers(Node &node) {
  Builder &b = node.build().b;
  auto count = [](const auto &list) {
    return static_cast<int64_t>(list.size());
  };
  auto row = [](int64_t n, Type element) {
    return RankedTensorType::get({n}, element);
  };
  Type f32 = b.getF32Type(), i64 = b.getI64Type();
  if (const auto *one = node.find("value_float"))
    return DenseElementsAttr::get(RankedTensorType::get({}, f32), one->f());
  if (const auto *one = node.find("value_int"))
    return DenseElementsAttr::get(RankedTensorType::get({}, i64), one->i());
  if (const auto *list = node.find("value_floats"))
    return DenseElementsAttr::get(
        row(count(list->floats()), f32),
        ArrayRef<float>(list->floats().data(), list->floats().size()));
  if (const auto *list = node.find("value_ints"))
    return DenseElementsAttr::get(
        row(count(list->ints()), i64),
        ArrayRef<int64_t>(list->ints().data(), list->ints().size()));
  return {};
}

static LogicalResult importConstant(Node &node) {
  ElementsAttr contents;
  if (const auto *tensor = node.find("value")) {
    contents = node.shared().read(
        tensor->t(), [&](const Twine &reason) { (void)node.fail(reason); });
    if (!contents)
      return failure();
  } else {
    contents = fromNumbers(node);
  }
  if (!contents)
    return node.fail("expects value, value_float, value_int, value_floats or "
                     "value_ints");
  return node.give(node.build().constant(contents));
}

static LogicalResult importConstantOfShape(Node &node) {
  FailureOr<Shape> shape = node.numbers(0);
  if (failed(shape))
    return failure();
  Builder &b = node.build().b;
  TypedAttr number = b.getF32FloatAttr(0);
  if (const auto *tensor = node.find("value")) {
    ElementsAttr contents = node.shared().read(
        tensor->t(), [&](const Twine &reason) { (void)node.fail(reason); });
    if (!contents)
      return failure();
    auto dense = dyn_cast<DenseElementsAttr>(contents);
    if (!dense || dense.getNumElements() != 1)
      return node.fail("expects a value of one element");
    number = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  }
  return node.give(node.build().splat(*shape, number));
}

/// How many numbers there are, of constants of any type or sizes.
/// An integer that follows from sizes, or a floating-point number that is one.
static FailureOr<Size> wholeNumber(Node &node, unsigned i) {
  Tensor &x = node.input(i);
  if (auto known = dyn_cast_or_null<DenseFPElementsAttr>(x.constant)) {
    double number = (*known.begin()).convertToDouble();
    if (number != std::floor(number) || std::abs(number) > INT32_MAX)
      return node.fail("expects limits and a step that are whole numbers, if "
                       "not all are known when the model is read");
    return Size(static_cast<int64_t>(number));
  }
  if (x.counts && x.counts->size() == 1)
    return x.counts->front();
  FailureOr<Shape> numbers = node.numbers(i);
  if (failed(numbers) || numbers->size() != 1)
    return failure();
  return numbers->front();
}

/// How many numbers a range has.
static FailureOr<Size> countOf(Node &node) {
  auto constant = [&](unsigned i) {
    return dyn_cast_or_null<DenseFPElementsAttr>(node.input(i).constant);
  };
  if (constant(0) && constant(1) && constant(2)) {
    auto number = [&](unsigned i) {
      return (*constant(i).begin()).convertToDouble();
    };
    double count = std::ceil((number(1) - number(0)) / number(2));
    if (!(count < 1e12))
      return node.fail("expects a step other than 0");
    return Size(count > 0 ? static_cast<int64_t>(count) : 0);
  }
  std::array<Size, 3> limits;
  for (auto [i, limit] : llvm::enumerate(limits)) {
    // From 0.5 on there are as many numbers as from 0 on.
    if (double first = i == 0 && constant(0)
                           ? (*constant(0).begin()).convertToDouble()
                           : 0;
        std::abs(first) < INT32_MAX && first != std::floor(first)) {
      bool falls = constant(2) && (*constant(2).begin()).isNegative();
      limit = Size(
          static_cast<int64_t>(falls ? std::ceil(first) : std::floor(first)));
      continue;
    }
    FailureOr<Size> number = wholeNumber(node, i);
    if (failed(number))
      return failure();
    limit = *number;
  }
  auto &[begin, end, step] = limits;
  Size length = end - begin;
  std::optional<int64_t> by = step.constant(), known = length.constant();
  if (!by || *by == 0 || std::abs(*by) > INT32_MAX)
    return node.fail("expects a constant step other than 0, of at most 2^31");
  if (!known) { // sizes are not negative
    Size way = *by > 0 ? length : begin - end;
    int64_t each = std::abs(*by);
    return node.build().quotient(way + Size(each - 1), each);
  }
  int64_t count =
      *known / *by + (*known % *by != 0 && (*known > 0) == (*by > 0));
  return Size(std::max<int64_t>(count, 0));
}

/// begin, begin + step, ..
static LogicalResult importRange(Node &node) {
  TensorBuilder &t = node.build();
  for (unsigned i = 0; i < 3; ++i)
    if (!product(node.input(i).shape).is(1) ||
        node.input(i).element != node.input(0).element)
      return node.fail("expects limits and a step of one number and one type");
  FailureOr<Size> count = countOf(node);
  if (failed(count))
    return failure();
  Type element = node.input(0).element;
  auto scalar = [&](unsigned i) -> Value {
    Tensor &x = node.input(i);
    if (auto dense = dyn_cast_or_null<DenseElementsAttr>(x.constant))
      return arith::ConstantOp::create(
          t.b, t.loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    Value number = arith::IndexCastOp::create(
        t.b, t.loc, x.counts ? t.b.getI64Type() : element,
        t.index((x.counts ? x.counts : x.numbers)->front()));
    return x.counts ? arith::SIToFPOp::create(t.b, t.loc, element, number)
                    : number;
  };
  Value begin = scalar(0), step = scalar(2);
  return node.give(
      t.generate(*count, element, [&](OpBuilder &b, ValueRange at) -> Value {
        Value place =
            arith::IndexCastOp::create(b, t.loc, b.getI64Type(), at[0]);
        if (isa<FloatType>(element)) {
          Value number = arith::SIToFPOp::create(b, t.loc, element, place);
          return arith::AddFOp::create(
              b, t.loc, begin, arith::MulFOp::create(b, t.loc, number, step));
        }
        Value number = place;
        if (!element.isInteger(64))
          number = arith::TruncIOp::create(b, t.loc, element, place);
        return arith::AddIOp::create(
            b, t.loc, begin, arith::MulIOp::create(b, t.loc, number, step));
      }));
}

/// 1 on a diagonal of a matrix of the input's sizes, 0 elsewhere.
static LogicalResult importEyeLike(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  Type element = x.element;
  if (node.find("dtype"))
    element = elementType(t.b.getContext(), node.getInt("dtype", 0));
  if (x.rank() != 2 || !element || !element.isIntOrFloat())
    return node.fail("expects a matrix and a type of numbers, but got " +
                     describe(x));
  Value shift = t.index(node.getInt("k", 0));
  auto number = [&](OpBuilder &b, double value) {
    return arith::ConstantOp::create(b, t.loc, t.number(element, value));
  };
  return node.give(
      t.generate(x.shape, element, [&](OpBuilder &b, ValueRange at) -> Value {
        Value column = arith::AddIOp::create(b, t.loc, at[0], shift);
        Value isOn = arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::eq,
                                           column, at[1]);
        return arith::SelectOp::create(b, t.loc, isOn, number(b, 1),
                                       number(b, 0));
      }));
}

ArrayRef<Operator> attn::onnx::constantOperators() {
  static const Operator all[] = {
      {"", "Constant", importConstant, 0, 0},
      {"", "ConstantOfShape", importConstantOfShape, 1, 1},
      {"", "EyeLike", importEyeLike, 1, 1, /*since=*/9},
      {"", "Range", importRange, 3, 3},
  };
  return all;
}
