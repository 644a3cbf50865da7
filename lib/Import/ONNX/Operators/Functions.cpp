// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of single elements, and conversions of their types.
#include "OperatorTable.h"
#include "Whole.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

static Value sigmoid(Whole &w, Value x) {
  Value one = w.number(x, 1);
  Value power = w.op<math::ExpOp>(w.op<arith::NegFOp>(x));
  return w.op<arith::DivFOp>(one, w.op<arith::AddFOp>(one, power));
}

/// x/2 * (1 + erf(x / sqrt 2)), or with tanh its usual approximation.
static Value gelu(Whole &w, Value x, bool byTanh) {
  Value inner;
  if (byTanh) {
    Value cube = w.op<arith::MulFOp>(w.op<arith::MulFOp>(x, x), x);
    Value sum = w.op<arith::AddFOp>(
        x, w.op<arith::MulFOp>(cube, w.number(x, 0.044715)));
    inner = w.op<math::TanhOp>(
        w.op<arith::MulFOp>(sum, w.number(x, std::sqrt(2 / M_PI))));
  } else {
    inner = w.op<math::ErfOp>(w.op<arith::MulFOp>(x, w.number(x, M_SQRT1_2)));
  }
  Value half = w.op<arith::MulFOp>(x, w.number(x, 0.5));
  return w.op<arith::MulFOp>(half, w.op<arith::AddFOp>(inner, w.number(x, 1)));
}

static Value relu(Whole &w, Value x) {
  return isFloat(x) ? w.op<arith::MaximumFOp>(x, w.number(x, 0))
                    : w.op<arith::MaxSIOp>(x, w.number(x, 0));
}

/// Zero or the slope times x below 0.
static Value leakyRelu(Whole &w, Value x, double slope) {
  Value isNegative = w.compare(arith::CmpFPredicate::OLT, x, w.number(x, 0));
  return w.select(isNegative, w.op<arith::MulFOp>(x, w.number(x, slope)), x);
}

static Value ofFloats(Node &node, Whole &w, Value x) {
  StringRef op = node.op();
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
  if (op == "Sigmoid")
    return sigmoid(w, x);
  if (op == "Gelu")
    return gelu(w, x, node.getString("approximate", "none") == "tanh");
  if (op == "LeakyRelu")
    return leakyRelu(w, x, node.getFloat("alpha", 0.01));
  if (op == "Softplus")
    return w.op<arith::AddFOp>(
        relu(w, x), w.op<math::Log1pOp>(w.op<math::ExpOp>(
                        w.op<arith::NegFOp>(w.op<math::AbsFOp>(x)))));
  // Swish
  double alpha = node.getFloat("alpha", 1);
  Value scaled = alpha == 1 ? x : w.op<arith::MulFOp>(x, w.number(x, alpha));
  return w.op<arith::MulFOp>(x, sigmoid(w, scaled));
}

static LogicalResult importFloats(Node &node) {
  if (failed(node.expectFloats(0)))
    return failure();
  Tensor &x = node.input(0);
  Whole w{node.build(), x.shape};
  return node.give(
      node.build().made(ofFloats(node, w, node.build().value(x)), x.shape));
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
    result = relu(w, value);
  return node.give(node.build().made(result, x.shape));
}

static LogicalResult importNot(Node &node) {
  Tensor &x = node.input(0);
  if (!x.element.isInteger(1))
    return node.fail("expects booleans, but got " + describe(x));
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  return node.give(node.build().made(
      w.op<arith::XOrIOp>(value, w.number(value, 1)), x.shape));
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
      {"", "Sigmoid", importFloats, 1, 1},
      {"", "Gelu", importFloats, 1, 1},
      {"", "LeakyRelu", importFloats, 1, 1},
      {"", "Softplus", importFloats, 1, 1},
      {"", "Swish", importFloats, 1, 1},
      {"", "Neg", importNumbers, 1, 1},
      {"", "Abs", importNumbers, 1, 1},
      {"", "Relu", importNumbers, 1, 1},
      {"", "Not", importNot, 1, 1},
      {"", "IsNaN", importIsNaN, 1, 1},
      {"", "Clip", importClip, 1, 3},
      {"", "Cast", importCast, 1, 1},
      {"", "CastLike", importCast, 2, 2},
      {"", "Identity", importIdentity, 1, 1},
      {"", "Dropout", importIdentity, 1, 3},
  };
  return all;
}
