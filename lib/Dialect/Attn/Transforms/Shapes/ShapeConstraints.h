// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops require of the sizes of their tensors.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SHAPECONSTRAINTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SHAPECONSTRAINTS_H

#include "SizeClasses.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {

/// A tensor of which an element is read where all of these sizes are above 0.
struct Table {
  mlir::Value tensor;
  llvm::SmallVector<Dim> readers;
};

/// Collects what one op after the other requires.
class ShapeConstraints {
public:
  explicit ShapeConstraints(SizeClasses &classes) : classes(classes) {}
  void collect(mlir::Operation *op);
  llvm::SmallVector<Table> tables;

private:
  static int64_t rank(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
  }
  void same(mlir::Value a, int64_t i, mlir::Value b, int64_t j) {
    if (i >= 0 && j >= 0)
      classes.unify(op, {a, i}, {b, j});
  }
  /// All but the last dimension.
  static llvm::SmallVector<Dim> rows(mlir::Value tensor) {
    llvm::SmallVector<Dim> dims;
    for (int64_t i = 0; i < rank(tensor) - 1; ++i)
      dims.push_back({tensor, i});
    return dims;
  }
  void sameShape(mlir::Value a, mlir::Value b) {
    for (int64_t i = 0; i < rank(a); ++i)
      same(a, i, b, i);
  }
  /// `small` broadcasts to `large` from the right: its sizes are 1 or equal.
  void broadcast(mlir::Value small, mlir::Value large);
  void alongScores(mlir::Value value, int64_t dims, int64_t shift,
                   llvm::ArrayRef<Dim> scores);
  void maskRow(mlir::Value row, const MaskOperand &kind,
               llvm::ArrayRef<Dim> scores);
  void pairForPair(mlir::Region &function, mlir::OperandRange captures,
                   llvm::ArrayRef<Dim> scores);
  void maskOperands(mlir::Attribute mask, mlir::OperandRange operands,
                    llvm::ArrayRef<Dim> scores);
  void visit(ScoresOp op);
  void visit(SubtractWeightsOp op);
  void visit(ContextOp op);
  void visit(ProjectOp op);
  template <typename Op>
  llvm::SmallVector<Dim> visitAttention(Op op, mlir::Value out);
  void visit(SdpaOp op);
  void visit(SdpaGradOp op);
  void perHead(mlir::Value numbers, mlir::Value scores);
  void lambda(mlir::Value numbers, Dim heads);
  void visitDetails(SoftmaxOp op) { perHead(op.getSinks(), op.getScores()); }
  void visitDetails(AlibiOp op);
  void visitDetails(RopeOp op);
  void visitDetails(RmsNormOp op);
  void visitDetails(LayerNormOp op);
  void visitDetails(ScoreModOp op) {
    table(op.getCaptures(), rows(op.getScores()));
  }
  void visitDetails(mlir::Operation *) {}
  void rowForRow(mlir::Value angles, mlir::Value x, bool hasBatch);
  void heads(mlir::Value joined, mlir::Value split);
  /// Whether `op` is one of tensor, linalg or scf that says anything.
  bool collectTensors(mlir::Operation *op);
  /// The same of loops and branches.
  bool collectLoops(mlir::Operation *op);
  void size(mlir::Value result, int64_t dim, mlir::OpFoldResult size);
  void unknown(mlir::Value result, mlir::ValueRange values);
  void slice(mlir::tensor::ExtractSliceOp op);
  void groups(llvm::ArrayRef<mlir::ReassociationIndices> groups,
              mlir::Value expanded, mlir::Value collapsed);
  void loops(mlir::linalg::LinalgOp op);
  void carried(mlir::ValueRange inits, mlir::ValueRange arguments,
               mlir::ValueRange yielded, mlir::ValueRange results);
  void chosen(mlir::ValueRange first, mlir::ValueRange second,
              mlir::ValueRange results);
  void concat(mlir::tensor::ConcatOp op);
  void rest(mlir::ValueRange parts, int64_t dim, int64_t whole);
  void pad(mlir::tensor::PadOp op);
  void reshape(mlir::tensor::ReshapeOp op);
  void table(mlir::ValueRange captures, llvm::ArrayRef<Dim> readers) {
    for (mlir::Value captured : captures)
      tables.push_back({captured, llvm::SmallVector<Dim>(readers)});
  }

  SizeClasses &classes;
  mlir::Operation *op = nullptr;
};

} // namespace attn

#endif
