// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What computes a tensor, read as a function of one element.
#ifndef ATTN_LIB_IMPORT_ONNX_ELEMENTFUNCTION_H
#define ATTN_LIB_IMPORT_ONNX_ELEMENTFUNCTION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

namespace attn::onnx {

/// Writes the code of single elements of tensors into the region of an
/// attn.score_mod or attn.mask_fn.
///
///   %rows = linalg.generic .. { %i = linalg.index 0 .. }      (Range)
///   %r = tensor.expand_shape %rows .. into tensor<?x1xi64>
///   %c = ..                                                   (columns)
///   %d = arith.subi %broadcast_r, %broadcast_c : tensor<?x?xi64>
/// has at (b, h, q, k) the element
///   %i = arith.index_cast %q; %j = arith.index_cast %k; %e = arith.subi %i, %j
///
/// Tensors that do not come from the scores and are no formula of indices are
/// captured, and read at their place.
class ElementFunction {
public:
  /// `body` has the region's four indices behind `first` other arguments.
  /// Captured values become further arguments. `score` may be null: then
  /// nothing may depend on `scores`.
  ElementFunction(mlir::Value scores, mlir::Value score, mlir::Block &body,
                  unsigned first);

  /// The element of `tensor`, of the scores' shape, at the region's indices.
  /// Null: there is no such function, and the region is to be thrown away.
  mlir::Value element(mlir::Value tensor);
  llvm::SmallVector<mlir::Value> captures() const;

private:
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value compute(mlir::Operation *op, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value inlineGeneric(mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> indices);
  mlir::Value clone(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value reshaped(mlir::Operation *op,
                       llvm::ArrayRef<mlir::Value> indices);
  /// A number from outside of the region.
  mlir::Value outer(mlir::Value number);
  mlir::Value capture(mlir::Value value);
  bool dependsOnScores(mlir::Value value);
  mlir::Value constant(int64_t index);

  mlir::Value scores, score;
  mlir::Block &body;
  mlir::OpBuilder b;
  llvm::SmallVector<mlir::Value> place;
  llvm::MapVector<mlir::Value, mlir::Value> captured;
  llvm::DenseMap<mlir::Value, bool> dependent;
};

} // namespace attn::onnx

#endif
