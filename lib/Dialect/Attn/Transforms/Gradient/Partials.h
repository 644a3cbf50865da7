// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of the ops of arith and math, on numbers and on tensors.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_PARTIALS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_PARTIALS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace attn {

/// Whether the derivative of `op` by its operand number `operand` is known.
bool hasPartial(mlir::Operation *op, unsigned operand);

/// What the derivative of `op` by an operand is taken by: the operand, but x in
/// c / (1 + exp x), where exp may have no finite number and the quotient does.
mlir::Value partialArgument(mlir::Operation *op, unsigned operand);

/// `t` times the derivative of `op` by its operand; null where that is 0
/// throughout; by the argument that stands for the operand. A branch that was
/// not taken gives 0, whatever its derivative holds. With t the tangent of the
/// operand this is a summand of the result's tangent; with t the cotangent of
/// the result, one of the operand's.
mlir::Value applyPartial(mlir::OpBuilder &b, mlir::Operation *op,
                         unsigned operand, mlir::Value t);

/// The same, and 0 where t is 0, whatever the derivative holds.
mlir::Value applyPartialUnlessZero(mlir::OpBuilder &b, mlir::Operation *op,
                                   unsigned operand, mlir::Value t);

/// Adds the result of `op` to `dependent` if it is a float and an operand is in
/// there. False if the derivative by such an operand is not known.
bool spreadDependence(mlir::Operation *op,
                      llvm::DenseSet<mlir::Value> &dependent);

/// The tangent of the result of `op`, given those of its operands that have
/// one; null where it is 0.
mlir::Value tangentOf(mlir::OpBuilder &b, mlir::Operation *op,
                      const llvm::DenseMap<mlir::Value, mlir::Value> &tangents);

} // namespace attn

#endif
