// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Adjoints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// `value` with elements of another float type.
static Value castElements(OpBuilder &b, Value value, Type element) {
  Type own = getElementTypeOrSelf(value);
  if (own == element)
    return value;
  Type to = cast<RankedTensorType>(value.getType()).clone(element);
  if (own.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, value.getLoc(), to, value);
  return arith::TruncFOp::create(b, value.getLoc(), to, value);
}

Value Adjoints::of(Value value) {
  Value cotangent = cotangents.lookup(value);
  return cotangent
             ? castElements(builder, cotangent, getElementTypeOrSelf(value))
             : Value();
}

Value Adjoints::orZeros(Value value) {
  Value cotangent = of(value);
  return cotangent ? cotangent : zerosLike(value);
}

void Adjoints::add(Value value, Value cotangent) {
  if (!isActive(value) || !cotangent)
    return;
  Value &sum = cotangents[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  Type a = getElementTypeOrSelf(sum), b = getElementTypeOrSelf(cotangent);
  Type wider = a.getIntOrFloatBitWidth() < b.getIntOrFloatBitWidth() ? b : a;
  Value first = castElements(builder, sum, wider);
  Value second = castElements(builder, cotangent, wider);
  sum = arith::AddFOp::create(builder, value.getLoc(), first, second);
}

Value Adjoints::zerosLike(Value value) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, value),
      type.getElementType());
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}
