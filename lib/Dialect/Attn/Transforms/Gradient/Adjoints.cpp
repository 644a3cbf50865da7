// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Adjoints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

Value Adjoints::castElements(Value tensor, Type element) {
  Type own = getElementTypeOrSelf(tensor);
  if (own == element)
    return tensor;
  Type to = cast<RankedTensorType>(tensor.getType()).clone(element);
  bool widens = own.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  if (widens)
    return arith::ExtFOp::create(builder, tensor.getLoc(), to, tensor);
  // What a rounding widened.
  if (auto wide = tensor.getDefiningOp<arith::ExtFOp>())
    if (wide.getIn().getType() == to)
      return wide.getIn();
  return arith::TruncFOp::create(builder, tensor.getLoc(), to, tensor);
}

Value Adjoints::of(Value value) {
  Value cotangent = cotangents.lookup(value);
  return cotangent ? castElements(cotangent, getElementTypeOrSelf(value))
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
  Value first = castElements(sum, wider);
  Value second = castElements(cotangent, wider);
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
