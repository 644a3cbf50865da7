// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Conversion/VectorToCPU/Arithmetic.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn::cpu;

Value Arithmetic::constant(TypedAttr value) const {
  if (auto vector = dyn_cast<VectorType>(of(value.getType())))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, value));
  return arith::ConstantOp::create(b, loc, value);
}

Value Arithmetic::fma(Value a, Value x, Value c) const {
  if (isa<VectorType>(shape))
    return vector::FMAOp::create(b, loc, a, x, c);
  return LLVM::FMulAddOp::create(b, loc, a, x, c);
}

Value Arithmetic::polynomial(ArrayRef<double> coefficients, Value x) const {
  Value result = real(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, real(c));
  return result;
}

Value Arithmetic::clamp(Value x, double low, double high) const {
  Value most = real(high);
  return larger(real(low), select(less(most, x), most, x));
}

Value Arithmetic::powerFrom(Value shifted) const {
  return number(make<arith::ShLIOp>(bits(shifted), integer(mantissa())));
}

/// From 2^mantissa on every float is an integer.
Value Arithmetic::roundEven(Value x) const {
  Value limit = real(static_cast<double>(int64_t(1) << mantissa())),
        shift = withSignOf(limit, x);
  Value rounded = sub(add(x, shift), shift);
  return select(less(abs(x), limit), withSignOf(rounded, x), x);
}

Value Arithmetic::floor(Value x) const {
  Value r = roundEven(x);
  return select(less(x, r), sub(r, real(1)), r);
}

Value Arithmetic::round(Value x) const {
  Value size = abs(x), below = floor(size);
  Value isHalf = less(sub(size, below), real(0.5));
  return withSignOf(select(isHalf, below, add(below, real(1))), x);
}
