// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one element of a tensor is, as code on numbers: the body of an
// attn.score_mod or of an attn.mask_fn.
//
//   %q = linalg.generic { linalg.index 0 .. }   : tensor<?x?xi64>
//   %k = linalg.generic { linalg.index 1 .. }   : tensor<?x?xi64>
//   %c = arith.cmpi sge, %q, %k                 : tensor<?x?xi64>
// is at query %i and key %j
//   %a = arith.index_cast %i
//   %b = arith.index_cast %j
//   %c = arith.cmpi sge, %a, %b                 : i64
//
// What is no such code is read: tensor.extract of a captured tensor.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SCALARCODE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SCALARCODE_H

#include "TensorView.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {

class ScalarCode {
public:
  /// Code on scores of `rank` dimensions of `sizes`, whose elements are of type
  /// `score`. It belongs to no op yet.
  ScalarCode(mlir::MLIRContext *context, mlir::Location loc,
             llvm::ArrayRef<int64_t> sizes, mlir::Type score);

  /// Elements of this view are the score.
  void bindScore(const TensorView &view) { bound = view; }

  /// The element of `view`. Null: there is no code for it, and `reason` says
  /// why.
  mlir::Value emit(const TensorView &view);
  std::string reason;

  mlir::Value score() { return code->getArgument(Score); }
  mlir::OpBuilder &builder() { return b; }
  /// The score and the four indices.
  llvm::ArrayRef<mlir::BlockArgument> arguments() const {
    return llvm::ArrayRef<mlir::BlockArgument>(code->getArguments().data(),
                                               FirstCapture);
  }
  /// What an argument behind the indices stands for.
  mlir::Value capturedBy(mlir::BlockArgument argument) const {
    return captured[argument.getArgNumber() - FirstCapture];
  }
  /// The captured tensor that `read`, a tensor.extract of this code, reads.
  mlir::Value tensorOf(mlir::tensor::ExtractOp read) const;
  /// The first tensor of which `number` was seen to be an element, or null.
  const TensorView *viewOf(mlir::Value number) const;
  /// Whether numbers are compared, and some are read of what is computed from
  /// the result of `source`.
  bool comparesResultsOf(mlir::Operation *source) const;
  /// The loop whose index `value` is, or -1.
  int64_t loopOf(mlir::Value value) const;

private:
  mlir::Value emitOp(const TensorView &view, mlir::Operation *op);
  mlir::Value emitGeneric(const TensorView &view, mlir::linalg::GenericOp op);
  mlir::Value checked(mlir::Operation *op);
  mlir::Value emitRead(const TensorView &view);
  mlir::Value indexOf(const LoopIndex &digits);
  mlir::Value capture(mlir::Value value);
  mlir::Value fail(const llvm::Twine &why);

  mlir::Location loc;
  std::unique_ptr<mlir::Block> code;
  mlir::OpBuilder b;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<mlir::Value> captured;
  std::optional<TensorView> bound;
  struct Known {
    TensorView view;
    mlir::Value number;
  };
  llvm::SmallVector<Known, 0> known;
  unsigned depth = 0;
};

} // namespace attn

#endif
