// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatConstant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// The tensor or number whose elements those of `value` are, or null.
static Value copied(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                      tensor::CastOp, tensor::SplatOp>(op))
    return op->getOperand(0);
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op))
    return broadcast.getInput();
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  return fill ? fill.value() : Value();
}

std::optional<double> attn::floatConstant(Value value) {
  SmallVector<FloatType> conversions;
  while (true) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op)) {
      conversions.push_back(cast<FloatType>(getElementTypeOrSelf(value)));
      value = op->getOperand(0);
    } else if (Value source = copied(value)) {
      value = source;
    } else {
      break;
    }
  }
  APFloat number(0.0);
  // Matches a scalar constant and a dense splat alike.
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool inexact;
  for (FloatType type : llvm::reverse(conversions))
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}
