// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_WHOLE_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_WHOLE_H

#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace attn::onnx {

/// Whole tensors of one shape: what an operator computes with. Ops on constants
/// fold.
struct Whole {
  TensorBuilder &t;
  llvm::ArrayRef<Size> shape;

  template <typename Op> mlir::Value op(mlir::Value a) {
    return sized(t.b.createOrFold<Op>(t.loc, a));
  }
  template <typename Op> mlir::Value op(mlir::Value a, mlir::Value b) {
    return sized(t.b.createOrFold<Op>(t.loc, a, like(a, b)));
  }
  mlir::Value number(mlir::Value like, double value) {
    Tensor all = t.splat(shape, mlir::getElementTypeOrSelf(like), value);
    return t.value(all);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate how, mlir::Value a,
                      mlir::Value b) {
    return sized(
        t.b.createOrFold<mlir::arith::CmpFOp>(t.loc, how, a, like(a, b)));
  }
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a,
                      mlir::Value b) {
    return sized(
        t.b.createOrFold<mlir::arith::CmpIOp>(t.loc, how, a, like(a, b)));
  }
  mlir::Value select(mlir::Value where, mlir::Value a, mlir::Value b) {
    return sized(t.b.createOrFold<mlir::arith::SelectOp>(t.loc, where, a, b));
  }

  mlir::Value sigmoid(mlir::Value x) {
    mlir::Value one = number(x, 1);
    mlir::Value power = op<mlir::math::ExpOp>(op<mlir::arith::NegFOp>(x));
    return op<mlir::arith::DivFOp>(one, op<mlir::arith::AddFOp>(one, power));
  }

private:
  /// `a` in place of `b` where both are the same number everywhere: folded
  /// here, and not later, when sizes are not known any more.
  static mlir::Value like(mlir::Value a, mlir::Value b) {
    auto x = a.getDefiningOp<mlir::tensor::SplatOp>(),
         y = b.getDefiningOp<mlir::tensor::SplatOp>();
    mlir::Attribute one, other;
    return x && y && a.getType() == b.getType() &&
                   matchPattern(x.getInput(), mlir::m_Constant(&one)) &&
                   matchPattern(y.getInput(), mlir::m_Constant(&other)) &&
                   one == other
               ? a
               : b;
  }
  /// An op of a value with itself folds to a constant, which knows its sizes.
  mlir::Value sized(mlir::Value made) {
    auto constant = made.getDefiningOp<mlir::arith::ConstantOp>();
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(made.getType());
    if (!constant || !type || type.hasStaticShape())
      return made;
    auto dense = llvm::cast<mlir::DenseElementsAttr>(constant.getValue());
    Tensor all = t.splat(shape, llvm::cast<mlir::TypedAttr>(
                                    dense.getSplatValue<mlir::Attribute>()));
    constant.erase();
    return t.value(all);
  }
};

inline bool isFloat(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value));
}

} // namespace attn::onnx

#endif
