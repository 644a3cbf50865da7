// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FloatConstant.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

std::optional<double> attn::floatConstant(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  else if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  APFloat number(0.0);
  // Matches a scalar constant and a dense splat alike.
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool inexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}
