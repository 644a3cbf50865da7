// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_WHOLE_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_WHOLE_H

#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::onnx {

/// Whole tensors of one shape: what an operator computes with. Ops on constants
/// fold.
struct Whole {
  TensorBuilder &t;
  llvm::ArrayRef<Size> shape;

  template <typename Op> mlir::Value op(mlir::Value a) {
    return t.b.createOrFold<Op>(t.loc, a);
  }
  template <typename Op> mlir::Value op(mlir::Value a, mlir::Value b) {
    return t.b.createOrFold<Op>(t.loc, a, b);
  }
  mlir::Value number(mlir::Value like, double value) {
    Tensor all = t.splat(shape, mlir::getElementTypeOrSelf(like), value);
    return t.value(all);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate how, mlir::Value a,
                      mlir::Value b) {
    return t.b.createOrFold<mlir::arith::CmpFOp>(t.loc, how, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a,
                      mlir::Value b) {
    return t.b.createOrFold<mlir::arith::CmpIOp>(t.loc, how, a, b);
  }
  mlir::Value select(mlir::Value where, mlir::Value a, mlir::Value b) {
    return t.b.createOrFold<mlir::arith::SelectOp>(t.loc, where, a, b);
  }
};

inline bool isFloat(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value));
}

} // namespace attn::onnx

#endif
