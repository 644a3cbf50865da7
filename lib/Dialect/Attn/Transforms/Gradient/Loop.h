// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of linalg, in which gradients around attention are written.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_LOOP_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_LOOP_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {

/// A loop of linalg over the elements of `like`: its inputs have its shape, one
/// number per row (all dimensions but the last), one per column, or what a map
/// says. It computes in the type of the statistics.
class Loop {
public:
  using Value = mlir::Value;

  Loop(mlir::OpBuilder &b, Value like);

  Loop &elements(Value tensor);
  Loop &rows(Value tensor);
  Loop &columns(Value tensor);
  /// Read at these dimensions of `like`.
  Loop &at(Value tensor, llvm::ArrayRef<int64_t> dims);

  using Body =
      llvm::function_ref<Value(mlir::OpBuilder &, mlir::ValueRange elements)>;
  /// An element each, of type `element`.
  Value map(mlir::Type element, Body body);
  /// A sum per row, one per column, or one per place in these dimensions of
  /// `like`.
  Value sumOfRows(Body body);
  Value sumOfColumns(Body body);
  Value sumAt(llvm::ArrayRef<int64_t> dims, Body body);

private:
  mlir::AffineMap mapTo(llvm::ArrayRef<int64_t> dims);
  mlir::FloatType statistics();
  Value emit(Value into, mlir::AffineMap to,
             llvm::ArrayRef<mlir::utils::IteratorType> kinds, Body body);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Value like;
  int64_t rank;
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
};

/// Scalar arithmetic in the body of a loop.
struct Scalars {
  using Value = mlir::Value;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Value mul(Value x, Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  Value add(Value x, Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  Value number(double value, Value like) {
    return mlir::arith::ConstantOp::create(
        b, loc, b.getFloatAttr(like.getType(), value));
  }
  /// `x`, or 0 where `of` is `value`.
  Value unless(Value of, double value, Value x) {
    Value is = mlir::arith::CmpFOp::create(
        b, loc, mlir::arith::CmpFPredicate::OEQ, of, number(value, of));
    return mlir::arith::SelectOp::create(b, loc, is, number(0, x), x);
  }
};

} // namespace attn

#endif
