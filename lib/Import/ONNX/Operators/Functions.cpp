// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of single elements, and conversions of their types.
#include "OperatorTable.h"
#include "Whole.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

using namespace mlir;
using namespace attn::onnx;

static Value ofFloats(StringRef op, Whole &w, Value x) {
  using Make = Value (Whole::*)(Value);
  static const llvm::StringMap<Make> functions = {
      {"Sqrt", &Whole::op<math::SqrtOp>},
      {"Exp", &Whole::op<math::ExpOp>},
      {"Log", &Whole::op<math::LogOp>},
      {"Tanh", &Whole::op<math::TanhOp>},
      {"Erf", &Whole::op<math::ErfOp>},
      {"Sin", &Whole::op<math::SinOp>},
      {"Cos", &Whole::op<math::CosOp>},
      {"Floor", &Whole::op<math::FloorOp>},
      {"Ceil", &Whole::op<math::CeilOp>},
      {"Round", &Whole::op<math::RoundEvenOp>}};
  if (auto known = functions.find(op); known != functions.end())
    return (w.*known->second)(x);
  if (op == "Reciprocal")
    return w.op<arith::DivFOp>(w.number(x, 1), x);
  return w.op<arith::DivFOp>(w.op<math::SinOp>(x), w.op<math::CosOp>(x)); // Tan
}

static LogicalResult importFloats(Node &node) {
  if (failed(node.expectFloats(0)))
    return failure();
  Tensor &x = node.input(0);
  Whole w{node.build(), x.shape};
  return node.give(node.build().made(
      ofFloats(node.op(), w, node.build().value(x)), x.shape));
}

/// -1, 0 or 1; NaN stays.
static Value signOf(Whole &w, Value x) {
  Value zero = w.number(x, 0), one = w.number(x, 1), below = w.number(x, -1);
  Value isAbove = isFloat(x) ? w.compare(arith::CmpFPredicate::OGT, x, zero)
                             : w.compare(arith::CmpIPredicate::sgt, x, zero);
  Value isBelow = isFloat(x) ? w.compare(arith::CmpFPredicate::OLT, x, zero)
                             : w.compare(arith::CmpIPredicate::slt, x, zero);
  return w.select(isAbove, one, w.select(isBelow, below, x));
}

static LogicalResult importNumbers(Node &node) {
  Tensor &x = node.input(0);
  if (x.element.isInteger(1))
    return node.fail("expects numbers, but got " + describe(x));
  if (node.op() == "Neg" && x.numbers) {
    Shape negative;
    for (const Size &size : *x.numbers)
      negative.push_back(Size(0) - size);
    return node.give(node.build().numbers(x.shape, negative, x.element));
  }
  Value value = node.build().value(x);
  Whole w{node.build(), x.shape};
  Value result;
  if (node.op() == "Neg")
    result = x.isFloat() ? w.op<arith::NegFOp>(value)
                         : w.op<arith::SubIOp>(w.number(value, 0), value);
  else if (node.op() == "Abs")
    result =
        x.isFloat() ? w.op<math::AbsFOp>(value) : w.op<math::AbsIOp>(value);
  else
    result = signOf(w, value);
  return node.give(node.build().made(result, x.shape));
}

static LogicalResult importNot(Node &node) {
  Tensor &x = node.input(0);
  bool ofBits = node.op() == "BitwiseNot";
  if (x.isFloat() || x.element.isInteger(1) == ofBits)
    return node.fail(Twine("expects ") + (ofBits ? "integers" : "booleans") +
                     ", but got " + describe(x));
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  return node.give(node.build().made(
      w.op<arith::XOrIOp>(value, w.number(value, ofBits ? -1 : 1)), x.shape));
}

static LogicalResult importIsNaN(Node &node) {
  if (failed(node.expectFloats(0)))
    return failure();
  Tensor &x = node.input(0);
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  return node.give(node.build().made(
      w.compare(arith::CmpFPredicate::UNO, value, value), x.shape));
}

static LogicalResult importIsInf(Node &node) {
  if (failed(node.expectFloats(0)))
    return failure();
  Tensor &x = node.input(0);
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  double infinity = std::numeric_limits<double>::infinity();
  auto is = [&](double what) {
    return w.compare(arith::CmpFPredicate::OEQ, value, w.number(value, what));
  };
  bool above = node.getInt("detect_positive", 1) != 0,
       below = node.getInt("detect_negative", 1) != 0;
  Tensor none = node.build().splat(x.shape, node.build().b.getI1Type(), 0);
  Value result = above && below
                     ? w.op<arith::OrIOp>(is(infinity), is(-infinity))
                 : above ? is(infinity)
                 : below ? is(-infinity)
                         : node.build().value(none);
  return node.give(node.build().made(result, x.shape));
}

/// By inputs since version 11, either may be absent.
static LogicalResult importClip(Node &node) {
  Tensor &x = node.input(0);
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  for (unsigned i : {1u, 2u}) {
    Tensor *limit = node.optionalInput(i);
    if (!limit)
      continue;
    if (limit->element != x.element || !broadcastShape(x.shape, limit->shape))
      return node.fail("expects a limit of one number of the input's type, but "
                       "got " +
                       describe(*limit));
    Value all = node.build().broadcast(*limit, x.shape);
    if (x.isFloat())
      value = i == 1 ? w.op<arith::MaximumFOp>(value, all)
                     : w.op<arith::MinimumFOp>(value, all);
    else
      value = i == 1 ? w.op<arith::MaxSIOp>(value, all)
                     : w.op<arith::MinSIOp>(value, all);
  }
  return node.give(node.build().made(value, x.shape));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult importCast(Node &node) {
  Type to;
  if (node.op() == "CastLike") {
    to = node.input(1).element;
  } else {
    auto number = static_cast<int32_t>(node.getInt("to", 0));
    to = elementType(node.build().b.getContext(), number);
    if (!to)
      return node.fail("elements of type " + elementTypeName(number) +
                       " are not supported");
  }
  return node.give(node.build().cast(node.input(0), to));
}

static LogicalResult importIdentity(Node &node) {
  return node.give(node.input(0));
}

/// Whether an input is this number, known when the model is read.
static bool isKnown(Node &node, unsigned i, double number) {
  auto known = dyn_cast_or_null<DenseElementsAttr>(node.input(i).constant);
  if (!known || known.getNumElements() != 1)
    return false;
  if (isa<IntegerType>(known.getElementType()))
    return !(*known.value_begin<APInt>()).isZero() == (number != 0);
  return (*known.value_begin<APFloat>()).convertToDouble() == number;
}

/// The input, as in inference; nothing is random.
static LogicalResult importDropout(Node &node) {
  bool drops = node.hasInput(2) && !isKnown(node, 2, 0);
  if (drops && !(node.hasInput(1) && isKnown(node, 1, 0)))
    return node.fail(isKnown(node, 2, 1)
                         ? "drops elements at random (training_mode is true), "
                           "which is not supported; export the model for "
                           "inference"
                         : "expects training_mode to be known when the model "
                           "is read, as false");
  TensorBuilder &t = node.build();
  if (node.hasOutput(1)) // all are kept
    node.setOutput(1, t.splat(node.input(0).shape, t.b.getBoolAttr(true)));
  return node.give(node.input(0));
}

ArrayRef<Operator> attn::onnx::functionOperators() {
  static const Operator all[] = {
      {"", "Sqrt", importFloats, 1, 1},
      {"", "Exp", importFloats, 1, 1},
      {"", "Log", importFloats, 1, 1},
      {"", "Tanh", importFloats, 1, 1},
      {"", "Erf", importFloats, 1, 1},
      {"", "Sin", importFloats, 1, 1},
      {"", "Cos", importFloats, 1, 1},
      {"", "Floor", importFloats, 1, 1},
      {"", "Ceil", importFloats, 1, 1},
      {"", "Round", importFloats, 1, 1},
      {"", "Reciprocal", importFloats, 1, 1},
      {"", "Tan", importFloats, 1, 1},
      {"", "Neg", importNumbers, 1, 1},
      {"", "Abs", importNumbers, 1, 1},
      {"", "Sign", importNumbers, 1, 1},
      {"", "Not", importNot, 1, 1},
      {"", "BitwiseNot", importNot, 1, 1},
      {"", "IsNaN", importIsNaN, 1, 1},
      {"", "IsInf", importIsInf, 1, 1},
      {"", "Clip", importClip, 1, 3},
      {"", "Cast", importCast, 1, 1},
      {"", "CastLike", importCast, 2, 2},
      {"", "Identity", importIdentity, 1, 1},
      {"", "Dropout", importDropout, 1, 3},
  };
  return all;
}
