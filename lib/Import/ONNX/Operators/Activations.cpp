// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between the layers of a network: functions of single elements.
#include "OperatorTable.h"
#include "Whole.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

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

/// log(1 + exp x) without an overflow.
static Value softplus(Whole &w, Value x) {
  Value power = w.op<math::ExpOp>(w.op<arith::NegFOp>(w.op<math::AbsFOp>(x)));
  return w.op<arith::AddFOp>(relu(w, x), w.op<math::Log1pOp>(power));
}

/// x * sigmoid(alpha * x).
static Value swish(Whole &w, Value x, double alpha) {
  Value scaled = alpha == 1 ? x : w.op<arith::MulFOp>(x, w.number(x, alpha));
  return w.op<arith::MulFOp>(x, w.sigmoid(scaled));
}

/// gamma * x above 0, and gamma * alpha * (exp(x / width) - 1) below.
static Value elu(Whole &w, Value x, double alpha, double gamma, double width) {
  Value zero = w.number(x, 0);
  Value low = w.op<arith::MinimumFOp>(x, zero);
  Value power = w.op<math::ExpM1Op>(
      width == 1 ? low : w.op<arith::DivFOp>(low, w.number(x, width)));
  Value below = w.op<arith::MulFOp>(power, w.number(x, gamma * alpha));
  Value above = gamma == 1 ? x : w.op<arith::MulFOp>(x, w.number(x, gamma));
  return w.select(w.compare(arith::CmpFPredicate::OLT, x, zero), below, above);
}

/// alpha * x + beta, between 0 and 1.
static Value hardSigmoid(Whole &w, Value x, double alpha, double beta) {
  Value line = w.op<arith::AddFOp>(w.op<arith::MulFOp>(x, w.number(x, alpha)),
                                   w.number(x, beta));
  Value above = w.op<arith::MaximumFOp>(line, w.number(x, 0));
  return w.op<arith::MinimumFOp>(above, w.number(x, 1));
}

static Value activation(Node &node, Whole &w, Value x) {
  StringRef op = node.op();
  if (op == "Sigmoid")
    return w.sigmoid(x);
  if (op == "Gelu")
    return gelu(w, x, node.getString("approximate", "none") == "tanh");
  if (op == "LeakyRelu")
    return leakyRelu(w, x, node.getFloat("alpha", 0.01));
  if (op == "Softplus")
    return softplus(w, x);
  if (op == "Swish")
    return swish(w, x, node.getFloat("alpha", 1));
  if (op == "QuickGelu")
    return swish(w, x, node.getFloat("alpha", 1.702));
  if (op == "Elu")
    return elu(w, x, node.getFloat("alpha", 1), 1, 1);
  if (op == "Selu")
    return elu(w, x, node.getFloat("alpha", 1.67326319217681884765625),
               node.getFloat("gamma", 1.05070102214813232421875), 1);
  if (op == "Celu") {
    double alpha = node.getFloat("alpha", 1);
    return elu(w, x, alpha, 1, alpha);
  }
  if (op == "HardSigmoid")
    return hardSigmoid(w, x, node.getFloat("alpha", 0.2),
                       node.getFloat("beta", 0.5));
  if (op == "HardSwish")
    return w.op<arith::MulFOp>(x, hardSigmoid(w, x, 1.0 / 6, 0.5));
  if (op == "Mish")
    return w.op<arith::MulFOp>(x, w.op<math::TanhOp>(softplus(w, x)));
  if (op == "ThresholdedRelu") {
    Value least = w.number(x, node.getFloat("alpha", 1));
    return w.select(w.compare(arith::CmpFPredicate::OGT, x, least), x,
                    w.number(x, 0));
  }
  // Softsign
  Value size = w.op<arith::AddFOp>(w.op<math::AbsFOp>(x), w.number(x, 1));
  return w.op<arith::DivFOp>(x, size);
}

static LogicalResult importActivation(Node &node) {
  Tensor &x = node.input(0);
  if (node.op() != "Relu" && failed(node.expectFloats(0)))
    return failure();
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  if (node.op() == "Relu" && x.element.isInteger(1))
    return node.fail("expects numbers, but got " + describe(x));
  return node.give(node.build().made(
      node.op() == "Relu" ? relu(w, value) : activation(node, w, value),
      x.shape));
}

/// The second input, broadcast to the first.
static FailureOr<Value> besideInput(Node &node) {
  Tensor &x = node.input(0), &other = node.input(1);
  std::optional<Shape> both = broadcastShape(x.shape, other.shape);
  if (!both || !ArrayRef(*both).equals(x.shape) || other.element != x.element)
    return node.fail("expects a second input that broadcasts to the first, but "
                     "got " +
                     describe(other) + " for " + describe(x));
  return node.build().broadcast(other, x.shape);
}

/// Swish of the first input, times the second.
static LogicalResult importSwiGLU(Node &node) {
  Tensor &gate = node.input(0), &x = node.input(1);
  if (failed(node.expectFloats(0)))
    return failure();
  FailureOr<Value> beside = besideInput(node);
  if (failed(beside) || x.rank() != gate.rank())
    return failed(beside) ? failure()
                          : node.fail("expects inputs of one shape, but got " +
                                      describe(gate) + " and " + describe(x));
  Whole w{node.build(), gate.shape};
  Value opened = swish(w, node.build().value(gate), node.getFloat("alpha", 1));
  return node.give(
      node.build().made(w.op<arith::MulFOp>(opened, *beside), gate.shape));
}

/// A slope below 0 per element.
static LogicalResult importPRelu(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<Value> slope = besideInput(node);
  if (failed(slope) || failed(node.expectFloats(0)))
    return failure();
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  Value isNegative =
      w.compare(arith::CmpFPredicate::OLT, value, w.number(value, 0));
  return node.give(node.build().made(
      w.select(isNegative, w.op<arith::MulFOp>(value, *slope), value),
      x.shape));
}

/// Gelu of the sum with a bias: exact in BiasGelu, by tanh in FastGelu.
static LogicalResult importBiasGelu(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.expectFloats(0)))
    return failure();
  Whole w{node.build(), x.shape};
  Value value = node.build().value(x);
  if (node.hasInput(1)) {
    FailureOr<Value> bias = besideInput(node);
    if (failed(bias))
      return failure();
    value = w.op<arith::AddFOp>(value, *bias);
  }
  bool byTanh = node.op() == "FastGelu";
  return node.give(node.build().made(gelu(w, value, byTanh), x.shape));
}

ArrayRef<Operator> attn::onnx::activationOperators() {
  static const Operator all[] = {
      {"", "Relu", importActivation, 1, 1},
      {"", "Sigmoid", importActivation, 1, 1},
      {"", "Gelu", importActivation, 1, 1},
      {"", "LeakyRelu", importActivation, 1, 1},
      {"", "Softplus", importActivation, 1, 1},
      {"", "Swish", importActivation, 1, 1},
      {"", "Elu", importActivation, 1, 1},
      {"", "Selu", importActivation, 1, 1},
      {"", "Celu", importActivation, 1, 1},
      {"", "HardSigmoid", importActivation, 1, 1},
      {"", "HardSwish", importActivation, 1, 1},
      {"", "Mish", importActivation, 1, 1},
      {"", "ThresholdedRelu", importActivation, 1, 1},
      {"", "Softsign", importActivation, 1, 1},
      {"", "PRelu", importPRelu, 2, 2},
      {"", "SwiGLU", importSwiGLU, 2, 2, /*since=*/28},
      {"com.microsoft", "Gelu", importActivation, 1, 1},
      {"com.microsoft", "QuickGelu", importActivation, 1, 1},
      {"com.microsoft", "BiasGelu", importBiasGelu, 2, 2},
      {"com.microsoft", "FastGelu", importBiasGelu, 1, 2},
  };
  return all;
}
