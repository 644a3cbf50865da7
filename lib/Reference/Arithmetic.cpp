// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arith and math: on scalars, and element by element on tensors. Floats are
// doubles whatever their type; integers wrap at their width.
#include "Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attn::reference;

static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// The bits of `value` that its type has, zero-extended.
static uint64_t asUnsigned(Type type, int64_t value) {
  return static_cast<uint64_t>(value) &
         llvm::maskTrailingOnes<uint64_t>(std::min(widthOf(type), 64u));
}
/// Its bits, sign-extended: true is -1.
static int64_t asSigned(Type type, int64_t value) {
  return llvm::SignExtend64(asUnsigned(type, value),
                            std::min(widthOf(type), 64u));
}
/// The bits as a Number of the type holds them: true is 1.
static Number wrapped(Type type, uint64_t bits) {
  int64_t value = type.isInteger(1) ? bits & 1 : asSigned(type, bits);
  return Number::ofInteger(value);
}

static double asDouble(llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

// --- constants ---

/// The elements of a constant tensor, also where they lie in the file behind
/// the module; null for what is none.
static DenseElementsAttr elementsOf(Attribute value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || resource.getElementType().isInteger(1))
    return dyn_cast<DenseElementsAttr>(value);
  ShapedType type = resource.getType();
  bool isWhole = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isWhole))
    return {};
  return DenseElementsAttr::getFromRawBuffer(type, blob->getData());
}

static LogicalResult setConstant(Frame &frame, arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    frame.set(op, Number::ofReal(asDouble(number.getValue())));
  else if (auto number = dyn_cast<IntegerAttr>(value))
    frame.set(op, wrapped(op.getType(), number.getValue().getSExtValue()));
  else if (auto dense = elementsOf(value)) {
    FailureOr<Tensor> tensor = makeTensor(op, dense.getType().getShape());
    if (failed(tensor))
      return failure();
    Type element = dense.getElementType();
    if (isa<FloatType>(element)) {
      for (auto [to, from] :
           llvm::zip_equal(tensor->elements, dense.getValues<APFloat>()))
        to = Number::ofReal(asDouble(from));
    } else {
      for (auto [to, from] :
           llvm::zip_equal(tensor->elements, dense.getValues<APInt>()))
        to = wrapped(element, from.getSExtValue());
    }
    return frame.setTensor(op->getResult(0), std::move(*tensor));
  } else {
    return op.emitOpError("cannot be evaluated by the reference");
  }
  return success();
}

// --- integers ---

/// Bits of the result, or nothing if `op` is no such op.
static std::optional<uint64_t> ringOp(Operation *op, uint64_t a, uint64_t b) {
  return TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<uint64_t> orderOp(Operation *op, int64_t a, int64_t b,
                                       uint64_t ua, uint64_t ub) {
  return TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case([&](arith::MinSIOp) { return std::min(a, b); })
      .Case([&](arith::MaxSIOp) { return std::max(a, b); })
      .Case([&](arith::MinUIOp) { return std::min(ua, ub); })
      .Case([&](arith::MaxUIOp) { return std::max(ua, ub); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Needs b != 0 and a quotient of 64 bits.
static std::optional<uint64_t> divisionOp(Operation *op, int64_t a, int64_t b,
                                          uint64_t ua, uint64_t ub) {
  return TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case([&](arith::DivSIOp) { return a / b; })
      .Case([&](arith::RemSIOp) { return a % b; })
      .Case([&](arith::FloorDivSIOp) { return llvm::divideFloorSigned(a, b); })
      .Case([&](arith::CeilDivSIOp) { return llvm::divideCeilSigned(a, b); })
      .Case([&](arith::DivUIOp) { return ua / ub; })
      .Case([&](arith::RemUIOp) { return ua % ub; })
      .Case([&](arith::CeilDivUIOp) { return ua / ub + (ua % ub != 0); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<uint64_t> shiftOp(Operation *op, Type type, int64_t a,
                                       uint64_t ua, uint64_t by) {
  if (by >= widthOf(type))
    return std::nullopt; // poison
  return TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case([&](arith::ShLIOp) { return ua << by; })
      .Case([&](arith::ShRSIOp) { return a >> by; })
      .Case([&](arith::ShRUIOp) { return ua >> by; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<uint64_t> integerOp(Operation *op, Type type,
                                         ArrayRef<Number> operands) {
  if (operands.size() != 2)
    return std::nullopt;
  int64_t a = asSigned(type, operands[0].integer);
  int64_t b = asSigned(type, operands[1].integer);
  uint64_t ua = asUnsigned(type, a), ub = asUnsigned(type, b);
  if (auto bits = ringOp(op, ua, ub))
    return bits;
  if (auto bits = orderOp(op, a, b, ua, ub))
    return bits;
  if (auto bits = shiftOp(op, type, a, ua, ub))
    return bits;
  // What has no quotient stays as it is, and leaves 0.
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  bool overflows =
      !isUnsigned && b == -1 && a == std::numeric_limits<int64_t>::min();
  if (b == 0 || overflows)
    b = 1, ub = 1;
  return divisionOp(op, a, b, ua, ub);
}

// --- floats ---

static std::optional<double> floatUnary(Operation *op, double a) {
  return TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](arith::NegFOp) { return -a; })
      // Types do not narrow a value here; Options::narrow does that.
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return a; })
      .Case([&](math::AbsFOp) { return std::fabs(a); })
      .Case([&](math::ExpOp) { return std::exp(a); })
      .Case([&](math::Exp2Op) { return std::exp2(a); })
      .Case([&](math::LogOp) { return std::log(a); })
      .Case([&](math::Log2Op) { return std::log2(a); })
      .Case([&](math::SqrtOp) { return std::sqrt(a); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(a); })
      .Case([&](math::TanhOp) { return std::tanh(a); })
      .Case([&](math::SinOp) { return std::sin(a); })
      .Case([&](math::CosOp) { return std::cos(a); })
      .Case([&](math::ErfOp) { return std::erf(a); })
      .Case([&](math::ExpM1Op) { return std::expm1(a); })
      .Case([&](math::Log1pOp) { return std::log1p(a); })
      .Case([&](math::FloorOp) { return std::floor(a); })
      .Case([&](math::CeilOp) { return std::ceil(a); })
      .Case([&](math::TruncOp) { return std::trunc(a); })
      .Case([&](math::RoundOp) { return std::round(a); })
      .Case([&](math::RoundEvenOp) { return std::nearbyint(a); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<double> floatBinary(Operation *op, double a, double b) {
  bool nan = std::isnan(a) || std::isnan(b);
  return TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](arith::AddFOp) { return a + b; })
      .Case([&](arith::SubFOp) { return a - b; })
      .Case([&](arith::MulFOp) { return a * b; })
      .Case([&](arith::DivFOp) { return a / b; })
      .Case([&](arith::RemFOp) { return std::fmod(a, b); })
      .Case([&](arith::MaximumFOp) { return nan ? a + b : std::fmax(a, b); })
      .Case([&](arith::MinimumFOp) { return nan ? a + b : std::fmin(a, b); })
      .Case([&](arith::MaxNumFOp) { return std::fmax(a, b); })
      .Case([&](arith::MinNumFOp) { return std::fmin(a, b); })
      .Case([&](math::PowFOp) { return std::pow(a, b); })
      .Case([&](math::CopySignOp) { return std::copysign(a, b); })
      .Default([](Operation *) { return std::nullopt; });
}

// --- between kinds ---

static std::optional<Number> comparisonOrCast(Operation *op, Type from, Type to,
                                              ArrayRef<Number> x) {
  auto truth = [](bool value) { return Number::ofInteger(value); };
  return TypeSwitch<Operation *, std::optional<Number>>(op)
      .Case([&](arith::CmpIOp compare) {
        APInt a(64, asUnsigned(from, x[0].integer)), b(64, 0);
        b = asUnsigned(from, x[1].integer);
        unsigned width = widthOf(from);
        return truth(arith::applyCmpPredicate(compare.getPredicate(),
                                              a.trunc(width), b.trunc(width)));
      })
      .Case([&](arith::CmpFOp compare) {
        return truth(arith::applyCmpPredicate(
            compare.getPredicate(), APFloat(x[0].real), APFloat(x[1].real)));
      })
      .Case([&](arith::SelectOp) { return x[0].integer ? x[1] : x[2]; })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return wrapped(to, asSigned(from, x[0].integer)); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return wrapped(to, asUnsigned(from, x[0].integer)); })
      .Case([&](math::AbsIOp) {
        return wrapped(to, std::llabs(asSigned(from, x[0].integer)));
      })
      .Case([&](arith::SIToFPOp) {
        return Number::ofReal(asSigned(from, x[0].integer));
      })
      .Case([&](arith::UIToFPOp) {
        return Number::ofReal(asUnsigned(from, x[0].integer));
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>(
          [&](auto) -> std::optional<Number> {
            // Out of range is poison.
            if (!(std::fabs(x[0].real) < 0x1p63))
              return std::nullopt;
            return wrapped(to, static_cast<int64_t>(x[0].real));
          })
      .Default([](Operation *) { return std::nullopt; });
}

/// The op on one element of each operand.
static FailureOr<Number> compute(Operation *op, ArrayRef<Number> operands) {
  Type from = getElementTypeOrSelf(op->getOperandTypes().front());
  Type to = getElementTypeOrSelf(op->getResultTypes().front());
  if (auto number = comparisonOrCast(op, from, to, operands))
    return *number;
  if (from.isIntOrIndex()) {
    if (std::optional<uint64_t> bits = integerOp(op, from, operands))
      return wrapped(to, *bits);
  } else if (operands.size() == 1) {
    if (auto real = floatUnary(op, operands[0].real))
      return Number::ofReal(*real);
  } else if (operands.size() == 2) {
    if (auto real = floatBinary(op, operands[0].real, operands[1].real))
      return Number::ofReal(*real);
  } else if (isa<math::FmaOp>(op)) {
    return Number::ofReal(
        std::fma(operands[0].real, operands[1].real, operands[2].real));
  }
  return op->emitOpError("cannot be evaluated by the reference");
}

/// A scalar operand (the condition of a select) is the same for all elements.
static LogicalResult computeElements(Frame &frame, Operation *op) {
  SmallVector<const Tensor *> tensors;
  SmallVector<Number> numbers;
  const Tensor *first = nullptr;
  for (Value operand : op->getOperands()) {
    bool isTensor = isa<TensorType>(operand.getType());
    tensors.push_back(isTensor ? &frame.tensor(operand) : nullptr);
    numbers.push_back(isTensor ? Number() : frame.scalar(operand));
    if (isTensor && !first)
      first = tensors.back();
    if (isTensor && failed(require(op, tensors.back()->shape == first->shape,
                                   "operands of the same shape")))
      return failure();
  }
  if (!first)
    return op->emitOpError("cannot be evaluated by the reference");
  Tensor result(first->shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    for (auto [number, tensor] : llvm::zip_equal(numbers, tensors))
      if (tensor)
        number = tensor->elements[i];
    FailureOr<Number> element = compute(op, numbers);
    if (failed(element))
      return failure();
    result.elements[i] = *element;
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

Outcome attn::reference::evaluateArithmetic(Frame &frame, Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return setConstant(frame, constant);
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  if (isa<TensorType>(op->getResult(0).getType()))
    return computeElements(frame, op);
  SmallVector<Number> operands;
  for (Value operand : op->getOperands()) {
    if (isa<TensorType>(operand.getType()))
      return std::nullopt;
    operands.push_back(frame.scalar(operand));
  }
  FailureOr<Number> result = compute(op, operands);
  if (failed(result))
    return result;
  frame.set(op->getResult(0), *result);
  return success();
}
