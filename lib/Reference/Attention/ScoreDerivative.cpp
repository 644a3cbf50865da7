// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward mode: every op of a score function passes on the derivatives of its
// operands. `select`, `max` and `min` pass on those of what they took, so that
// a branch that was not taken reaches nothing.
#include "ScoreDerivative.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {
/// The tangents of a function's values so far.
class Tangents {
public:
  explicit Tangents(Frame &frame) : frame(frame) {}

  /// Follows `op`, whose result has been computed; whether there is a rule.
  bool follow(Operation *op);

  Tangent of(Value value) const {
    auto found = tangents.find(value);
    return found == tangents.end() ? Tangent() : found->second;
  }
  void set(Value value, Tangent tangent) {
    tangents[value] = std::move(tangent);
  }

private:
  double number(Value value) const { return frame.scalar(value).real; }
  std::optional<Tangent> read(tensor::ExtractOp op) const;
  std::optional<Tangent> chosen(Operation *op, bool larger) const;
  std::optional<Tangent> power(math::PowFOp op) const;
  std::optional<double> slope(Operation *op) const;
  std::optional<Tangent> arithmetic(Operation *op) const;

  Frame &frame;
  llvm::DenseMap<Value, Tangent> tangents;
};
} // namespace

/// 1 by the element that was read, the nearest one where an index is outside.
std::optional<Tangent> Tangents::read(tensor::ExtractOp op) const {
  auto argument = dyn_cast<BlockArgument>(op.getTensor());
  if (!argument)
    return std::nullopt;
  const Tensor &tensor = frame.tensor(argument);
  SmallVector<int64_t> at;
  for (auto [index, size] : llvm::zip(op.getIndices(), tensor.shape))
    at.push_back(std::clamp<int64_t>(frame.integer(index), 0, size - 1));
  Tangent tangent;
  tangent.by[{argument.getArgNumber() - FirstCapture, tensor.offset(at)}] = 1;
  return tangent;
}

/// Of max and min: what was taken, and half of each where they are equal.
std::optional<Tangent> Tangents::chosen(Operation *op, bool larger) const {
  Value left = op->getOperand(0), right = op->getOperand(1);
  double a = number(left), b = number(right);
  if (std::isnan(a) || std::isnan(b)) { // maxnumf takes the other one
    bool number = isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
    return of(std::isnan(a) == number ? right : left);
  }
  if (a == b)
    return Tangent().add(of(left), 0.5).add(of(right), 0.5);
  return of((a > b) == larger ? left : right);
}

std::optional<Tangent> Tangents::power(math::PowFOp op) const {
  double a = number(op.getLhs()), b = number(op.getRhs()),
         y = number(op.getResult());
  Tangent tangent;
  tangent.add(of(op.getLhs()), b == 0 ? 0 : b * std::pow(a, b - 1));
  return tangent.add(of(op.getRhs()), a == 0 && b >= 0 ? 0 : y * std::log(a));
}

/// The derivative of a function of one number.
std::optional<double> Tangents::slope(Operation *op) const {
  double a = number(op->getOperand(0)), y = number(op->getResult(0));
  using Slope = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Slope>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([](auto) { return 1.0; })
      .Case<arith::NegFOp>([](auto) { return -1.0; })
      .Case<math::AbsFOp>(
          [&](auto) { return a == 0 ? 0.0 : std::copysign(1.0, a); })
      .Case<math::ExpOp>([&](auto) { return y; })
      .Case<math::Exp2Op>([&](auto) { return y * std::log(2.0); })
      .Case<math::ExpM1Op>([&](auto) { return y + 1; })
      .Case<math::LogOp>([&](auto) { return 1 / a; })
      .Case<math::Log2Op>([&](auto) { return 1 / (a * std::log(2.0)); })
      .Case<math::Log1pOp>([&](auto) { return 1 / (1 + a); })
      .Case<math::SqrtOp>([&](auto) { return 1 / (2 * y); })
      .Case<math::RsqrtOp>([&](auto) { return -y / (2 * a); })
      .Case<math::TanhOp>([&](auto) { return (1 - y) * (1 + y); })
      .Case<math::ErfOp>([&](auto) {
        return 2 / std::sqrt(std::acos(-1.0)) * std::exp(-a * a);
      })
      .Case<math::SinOp>([&](auto) { return std::cos(a); })
      .Case<math::CosOp>([&](auto) { return -std::sin(a); })
      .Default([](auto) { return std::nullopt; });
}

/// What every field has.
std::optional<Tangent> Tangents::arithmetic(Operation *op) const {
  auto at = [&](unsigned i) { return number(op->getOperand(i)); };
  auto by = [&](unsigned i) { return of(op->getOperand(i)); };
  if (isa<arith::AddFOp>(op))
    return by(0).add(by(1), 1);
  if (isa<arith::SubFOp>(op))
    return by(0).add(by(1), -1);
  if (isa<arith::MulFOp>(op))
    return Tangent().add(by(0), at(1)).add(by(1), at(0));
  if (isa<arith::DivFOp>(op))
    return Tangent()
        .add(by(0), 1 / at(1))
        .add(by(1), -number(op->getResult(0)) / at(1));
  if (isa<math::FmaOp>(op))
    return Tangent().add(by(0), at(1)).add(by(1), at(0)).add(by(2), 1);
  return std::nullopt;
}

bool Tangents::follow(Operation *op) {
  if (!isa<FloatType>(op->getResult(0).getType()))
    return true; // a comparison, an index
  bool active = llvm::any_of(op->getOperands(),
                             [&](Value v) { return !of(v).by.empty(); });
  std::optional<Tangent> tangent;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    tangent = read(extract);
  else if (!active)
    return true;
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    tangent = of(frame.integer(select.getCondition()) ? select.getTrueValue()
                                                      : select.getFalseValue());
  else if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    tangent = chosen(op, /*larger=*/true);
  else if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    tangent = chosen(op, /*larger=*/false);
  else if (auto power = dyn_cast<math::PowFOp>(op))
    tangent = this->power(power);
  else if (isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
               math::RoundEvenOp>(op))
    tangent = Tangent(); // constant between jumps
  else if (auto sign = dyn_cast<math::CopySignOp>(op)) {
    double a = number(sign.getLhs()), b = number(sign.getRhs());
    double same = std::signbit(a) == std::signbit(b) ? 1 : -1;
    tangent = Tangent().add(of(sign.getLhs()), a == 0 ? 0 : same);
  } else if (auto factor = slope(op))
    tangent = Tangent().add(of(op->getOperand(0)), *factor);
  else
    tangent = arithmetic(op);
  if (!tangent)
    return false;
  set(op->getResult(0), std::move(*tangent));
  return true;
}

FailureOr<ScoreDerivative::Result>
ScoreDerivative::operator()(double score, int64_t b, int64_t h, int64_t q,
                            int64_t k) const {
  Tangent one;
  one.by[{-1, 0}] = 1;
  if (!region)
    return Result{score, one};
  SmallVector<Datum> arguments{Number::ofReal(score)};
  for (int64_t index : {b, h, q, k})
    arguments.push_back(Number::ofInteger(index));
  arguments.append(captures);
  Block &block = region->front();
  auto results = frame.run(block, arguments);
  if (failed(results))
    return failure();
  Tangents tangents(frame);
  tangents.set(block.getArgument(Score), one);
  for (Operation &inner : block.without_terminator())
    if (!tangents.follow(&inner))
      return op->emitOpError()
             << "has a score function with '" << inner.getName().getStringRef()
             << "', whose gradient is not known";
  return Result{std::get<Number>(results->front()).real,
                tangents.of(block.getTerminator()->getOperand(0))};
}
