// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rule per op: the derivative by an operand times a number.
//
// Ties of max and min give each operand half; |x| and copysign have 0 at x = 0;
// what is constant between jumps has none. `select`, `max`, `min` choose
// instead of multiplying by 0, so that nothing leaks out of the branch that was
// not taken.
#include "Partials.h"
#include "FloatConstant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace attn;

namespace {
/// Arithmetic on values of one type, which may be tensors of unknown sizes.
struct PartialEmitter {
  OpBuilder &b;
  Location loc;
  Value like;

  Value number(double value) {
    Type type = like.getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    TypedAttr attr = b.getFloatAttr(element, value);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape())
      attr = DenseElementsAttr::get(tensor, attr);
    Value constant = arith::ConstantOp::create(b, loc, attr);
    if (!tensor || tensor.hasStaticShape())
      return constant;
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < tensor.getRank(); ++i)
      if (tensor.isDynamicDim(i))
        sizes.push_back(tensor::DimOp::create(b, loc, like, i));
    return tensor::SplatOp::create(b, loc, constant, tensor, sizes);
  }
  template <typename Op> Value make(Value x) { return Op::create(b, loc, x); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  /// Constants of products are joined: what follows a scale and a slope is
  /// computed for every pair.
  Value mul(Value x, Value y) {
    auto [left, first] = withoutFactor(x);
    auto [right, second] = withoutFactor(y);
    if (!first && !second)
      return arith::MulFOp::create(b, loc, x, y);
    Value factor = number(first.value_or(1) * second.value_or(1));
    Value product = left && right
                        ? arith::MulFOp::create(b, loc, left, right).getResult()
                        : (left ? left : right);
    if (!product || matchPattern(factor, m_OneFloat()))
      return product ? product : factor;
    return arith::MulFOp::create(b, loc, product, factor);
  }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value equal(Value x, Value y) {
    return compare(arith::CmpFPredicate::OEQ, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

private:
  static std::optional<double> constantOf(Value x) {
    // Beyond, products of some with numbers might not be finite.
    constexpr double most = 0x1p32;
    APFloat value(0.0);
    if (!matchPattern(x, m_ConstantFloat(&value)))
      return std::nullopt;
    double number = value.convertToDouble();
    if (std::abs(number) > most || std::abs(number) < 1 / most)
      return std::nullopt;
    return number;
  }
  /// x as a product of a value (null: 1) and a constant (none: 1).
  static std::pair<Value, std::optional<double>> withoutFactor(Value x) {
    if (std::optional<double> whole = constantOf(x))
      return {Value(), whole};
    if (auto product = x.getDefiningOp<arith::MulFOp>())
      for (unsigned i : {0, 1})
        if (std::optional<double> factor = constantOf(product.getOperand(i)))
          return {product.getOperand(1 - i), factor};
    return {x, std::nullopt};
  }
};
} // namespace

/// Functions of one number: t times the slope, where `y` is the result.
static Value applySlope(PartialEmitter e, Operation *op, Value t) {
  Value a = op->getOperand(0), y = op->getResult(0);
  const double ln2 = std::log(2.0), pi = std::acos(-1.0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return e.mul(t, y); })
      .Case<math::Exp2Op>(
          [&](auto) { return e.mul(t, e.mul(y, e.number(ln2))); })
      .Case<math::ExpM1Op>(
          [&](auto) { return e.mul(t, e.add(y, e.number(1))); })
      .Case<math::LogOp>([&](auto) { return e.div(t, a); })
      .Case<math::Log2Op>(
          [&](auto) { return e.div(t, e.mul(a, e.number(ln2))); })
      .Case<math::Log1pOp>(
          [&](auto) { return e.div(t, e.add(a, e.number(1))); })
      .Case<math::SqrtOp>([&](auto) { return e.div(t, e.add(y, y)); })
      .Case<math::RsqrtOp>(
          [&](auto) { return e.div(e.mul(t, e.mul(y, e.number(-0.5))), a); })
      .Case<math::TanhOp>([&](auto) {
        Value one = e.number(1);
        Value below = e.sub(one, y), above = e.add(one, y);
        return e.mul(t, e.mul(below, above));
      })
      .Case<math::ErfOp>([&](auto) {
        Value power = e.make<math::ExpOp>(e.neg(e.mul(a, a)));
        return e.mul(t, e.mul(power, e.number(2 / std::sqrt(pi))));
      })
      .Case<math::SinOp>([&](auto) { return e.mul(t, e.make<math::CosOp>(a)); })
      .Case<math::CosOp>(
          [&](auto) { return e.neg(e.mul(t, e.make<math::SinOp>(a))); })
      .Default([](auto) { return Value(); });
}

static bool hasSlope(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
             math::Log2Op, math::Log1pOp, math::SqrtOp, math::RsqrtOp,
             math::TanhOp, math::ErfOp, math::SinOp, math::CosOp>(op);
}

static bool isConstantBetweenJumps(Operation *op) {
  return isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
             math::RoundEvenOp, arith::CmpFOp, arith::FPToSIOp, arith::FPToUIOp,
             arith::SIToFPOp, arith::UIToFPOp>(op);
}

static bool isLarger(Operation *op) {
  return isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
}
static bool isSmaller(Operation *op) {
  return isa<arith::MinimumFOp, arith::MinNumFOp>(op);
}

bool attn::hasPartial(Operation *op, unsigned operand) {
  if (isa<arith::RemFOp>(op))
    return operand == 0;
  return hasSlope(op) || isConstantBetweenJumps(op) || isLarger(op) ||
         isSmaller(op) ||
         isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp,
             math::FmaOp, math::AbsFOp, math::CopySignOp, math::PowFOp>(op);
}

/// t to the operand that was taken, half of it to each of two equal ones, and
/// all of it to a NaN that became the result.
static Value applyChoice(PartialEmitter e, Operation *op, unsigned operand,
                         Value t) {
  Value own = op->getOperand(operand), other = op->getOperand(1 - operand);
  auto taken =
      isLarger(op) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  bool keepsNaN = isa<arith::MaximumFOp, arith::MinimumFOp>(op);
  Value of = keepsNaN ? own : other; // what of the two must be NaN
  Value nan = e.compare(arith::CmpFPredicate::UNO, of, of);
  Value wins = e.compare(taken, own, other);
  Value zero = e.number(0), half = e.mul(t, e.number(0.5));
  Value rest = e.select(e.equal(own, other), half, zero);
  Value numbers = e.select(wins, t, rest);
  return e.select(nan, t, numbers);
}

static Value applyPower(PartialEmitter e, math::PowFOp op, unsigned operand,
                        Value t) {
  Value a = op.getLhs(), exponent = op.getRhs(), zero = e.number(0);
  if (operand == 0) {
    Value less = e.sub(exponent, e.number(1));
    Value power = math::PowFOp::create(e.b, e.loc, a, less);
    Value slope = e.mul(exponent, power);
    return e.select(e.equal(exponent, zero), zero, e.mul(t, slope));
  }
  Value slope = e.mul(op.getResult(), e.make<math::LogOp>(a));
  Value flat = e.compare(arith::CmpFPredicate::OGE, exponent, zero);
  Value nothing = arith::AndIOp::create(e.b, e.loc, e.equal(a, zero), flat);
  return e.select(nothing, zero, e.mul(t, slope));
}

/// x, where `divisor` is c + exp x.
static Value logisticArgument(Value divisor) {
  auto sum = divisor.getDefiningOp<arith::AddFOp>();
  for (unsigned i : {0, 1})
    if (sum && floatConstant(sum.getOperand(1 - i)))
      if (auto power = sum.getOperand(i).getDefiningOp<math::ExpOp>())
        return power.getOperand();
  return {};
}

Value attn::partialArgument(Operation *op, unsigned operand) {
  Value given = op->getOperand(operand);
  Value inner = operand == 1 && isa<arith::DivFOp>(op) ? logisticArgument(given)
                                                       : Value();
  return inner ? inner : given;
}

/// Of y = a / d by d, or where d is c + exp x by x: -y exp(x) / d, and of
/// that exp(x) / d is 1 - c / d.
static Value applyDivisor(PartialEmitter e, arith::DivFOp op, Value t) {
  Value y = op.getResult(), divisor = op.getRhs();
  Value scaled = e.neg(e.mul(t, y));
  if (!logisticArgument(divisor))
    return e.div(scaled, divisor);
  auto sum = divisor.getDefiningOp<arith::AddFOp>();
  Value constant = sum.getOperand(floatConstant(sum.getOperand(0)) ? 0 : 1);
  return e.mul(scaled, e.sub(e.number(1), e.div(constant, divisor)));
}

/// A tangent of the operand as one of the result, or a cotangent back.
static Value applyCast(OpBuilder &b, Operation *op, Value t) {
  Type own = op->getOperand(0).getType(), result = op->getResult(0).getType();
  Type to = t.getType() == result ? own : result;
  bool widens = getElementTypeOrSelf(t).getIntOrFloatBitWidth() <
                getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (widens)
    return arith::ExtFOp::create(b, op->getLoc(), to, t);
  return arith::TruncFOp::create(b, op->getLoc(), to, t);
}

Value attn::applyPartial(OpBuilder &b, Operation *op, unsigned operand,
                         Value t) {
  PartialEmitter e{b, op->getLoc(), t};
  auto at = [&](unsigned i) { return op->getOperand(i); };
  if (isConstantBetweenJumps(op))
    return Value();
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return applyCast(b, op, t);
  if (hasSlope(op))
    return applySlope(e, op, t);
  if (isLarger(op) || isSmaller(op))
    return applyChoice(e, op, operand, t);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddFOp, arith::RemFOp>([&](auto) { return t; })
      .Case<arith::SubFOp>([&](auto) { return operand ? e.neg(t) : t; })
      .Case<arith::NegFOp>([&](auto) { return e.neg(t); })
      .Case<arith::MulFOp>([&](auto) { return e.mul(t, at(1 - operand)); })
      .Case<arith::DivFOp>([&](arith::DivFOp quotient) {
        return operand ? applyDivisor(e, quotient, t) : e.div(t, at(1));
      })
      .Case<math::FmaOp>(
          [&](auto) { return operand == 2 ? t : e.mul(t, at(1 - operand)); })
      .Case<arith::SelectOp>([&](arith::SelectOp select) {
        Value zero = e.number(0), condition = select.getCondition();
        return operand == 1 ? e.select(condition, t, zero)
                            : e.select(condition, zero, t);
      })
      .Case<math::AbsFOp>([&](auto) {
        Value sign = math::CopySignOp::create(b, e.loc, e.number(1), at(0));
        Value zero = e.number(0);
        return e.select(e.equal(at(0), zero), zero, e.mul(t, sign));
      })
      .Case<math::CopySignOp>([&](auto) {
        if (operand == 1)
          return Value();
        // The sign of the result against that of the operand.
        Value one = e.number(1), zero = e.number(0);
        Value own = math::CopySignOp::create(b, e.loc, one, at(0));
        Value given = math::CopySignOp::create(b, e.loc, one, at(1));
        Value sign = e.mul(own, given);
        return e.select(e.equal(at(0), zero), zero, e.mul(t, sign));
      })
      .Case<math::PowFOp>(
          [&](math::PowFOp power) { return applyPower(e, power, operand, t); })
      .Default([](auto) { return Value(); });
}

Value attn::applyPartialUnlessZero(OpBuilder &b, Operation *op,
                                   unsigned operand, Value t) {
  Value product = applyPartial(b, op, operand, t);
  bool multiplies =
      hasSlope(op) ||
      isa<arith::MulFOp, arith::DivFOp, math::FmaOp, math::PowFOp>(op);
  if (!product || !multiplies || product == t)
    return product;
  PartialEmitter e{b, op->getLoc(), t};
  return e.select(e.equal(t, e.number(0)), t, product);
}

bool attn::spreadDependence(Operation *op, llvm::DenseSet<Value> &dependent) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!dependent.contains(operand.get()))
      continue;
    if (!hasPartial(op, operand.getOperandNumber()))
      return false;
    if (isa<FloatType>(op->getResult(0).getType()))
      dependent.insert(op->getResult(0));
  }
  return true;
}

Value attn::tangentOf(OpBuilder &b, Operation *op,
                      const llvm::DenseMap<Value, Value> &tangents) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value first = tangents.lookup(select.getTrueValue());
    Value second = tangents.lookup(select.getFalseValue());
    if (first && second)
      return arith::SelectOp::create(b, op->getLoc(), select.getCondition(),
                                     first, second);
  }
  Value sum;
  for (OpOperand &operand : op->getOpOperands()) {
    Value t = tangents.lookup(partialArgument(op, operand.getOperandNumber()));
    Value term =
        t ? applyPartial(b, op, operand.getOperandNumber(), t) : Value();
    if (term)
      sum = sum ? arith::AddFOp::create(b, op->getLoc(), sum, term) : term;
  }
  return sum;
}
