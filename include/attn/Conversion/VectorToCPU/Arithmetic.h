// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain arithmetic on floats, scalars or vectors of one shape, from which the
// math ops are made.
#ifndef ATTN_CONVERSION_VECTORTOCPU_ARITHMETIC_H
#define ATTN_CONVERSION_VECTORTOCPU_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace attn::cpu {

struct Arithmetic {
  using Value = mlir::Value;

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type shape; // a vector type, or the element
  /// afn: a GPU's division, to 2 ulp.
  mlir::arith::FastMathFlags ofDivisions = mlir::arith::FastMathFlags::none;

  mlir::FloatType element() const {
    return mlir::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(shape));
  }
  /// Bits of a number, and of the part behind its point.
  unsigned width() const { return element().getWidth(); }
  unsigned mantissa() const { return element().getFPMantissaWidth() - 1; }
  /// What the exponent of 1 is stored as.
  int64_t bias() const {
    return (int64_t(1) << (width() - mantissa() - 2)) - 1;
  }
  mlir::Type of(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(shape);
    return vector ? mlir::Type(vector.clone(element)) : element;
  }

  Value constant(mlir::TypedAttr value) const;
  Value real(double value) const {
    return constant(b.getFloatAttr(element(), value));
  }
  Value integer(int64_t value) const {
    return constant(b.getIntegerAttr(b.getIntegerType(width()), value));
  }
  template <typename Op> Value make(Value left, Value right) const {
    return Op::create(b, loc, left, right);
  }
  Value add(Value x, Value y) const { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) const { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) const { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) const {
    return mlir::arith::DivFOp::create(b, loc, x, y, ofDivisions);
  }
  Value negate(Value x) const { return mlir::arith::NegFOp::create(b, loc, x); }
  Value abs(Value x) const { return mlir::math::AbsFOp::create(b, loc, x); }
  Value withSignOf(Value x, Value sign) const {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  /// a * x + c, fused where the processor can; math.fma would call the C
  /// library elsewhere.
  Value fma(Value a, Value x, Value c) const;
  /// Coefficients by increasing power.
  Value polynomial(llvm::ArrayRef<double> coefficients, Value x) const;

  Value less(Value x, Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OLT,
                                       x, y);
  }
  Value equal(Value x, Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OEQ,
                                       x, y);
  }
  Value both(Value x, Value y) const { return make<mlir::arith::AndIOp>(x, y); }
  Value select(Value condition, Value x, Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// x > y ? x : y: one instruction on x86, and y where an operand is NaN.
  Value larger(Value x, Value y) const {
    return select(mlir::arith::CmpFOp::create(
                      b, loc, mlir::arith::CmpFPredicate::OGT, x, y),
                  x, y);
  }
  /// x within the limits; a NaN stays.
  Value clamp(Value x, double low, double high) const;

  Value bits(Value x) const {
    return mlir::arith::BitcastOp::create(b, loc, of(b.getIntegerType(width())),
                                          x);
  }
  Value number(Value bits) const {
    return mlir::arith::BitcastOp::create(b, loc, shape, bits);
  }
  /// Of integers without sign.
  Value below(Value x, Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult,
                                       x, y);
  }

  /// Adding it leaves a small whole number in the low bits.
  double magic() const {
    return 1.5 * static_cast<double>(int64_t(1) << mantissa());
  }
  /// Halves to even, for |x| below magic() / 4.
  Value roundSmall(Value x) const {
    return sub(add(x, real(magic())), real(magic()));
  }
  /// The same, and the low bits are the exponent of 2^x.
  double exponentOffset() const {
    return magic() + static_cast<double>(bias());
  }
  /// 2^k from k + exponentOffset(). One below the exponents of normal numbers
  /// it is 0.
  Value powerFrom(Value shifted) const;
  Value powerOfTwo(Value k) const {
    return powerFrom(add(k, real(exponentOffset())));
  }

  // For all x, without an instruction for them.
  Value roundEven(Value x) const;
  Value floor(Value x) const;
  Value ceil(Value x) const { return negate(floor(negate(x))); }
  Value trunc(Value x) const { return withSignOf(floor(abs(x)), x); }
  /// Halves away from 0.
  Value round(Value x) const;
};

} // namespace attn::cpu

#endif
