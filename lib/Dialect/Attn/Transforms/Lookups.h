// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which indices are numbers that tensors hold.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_LOOKUPS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_LOOKUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {

inline bool dependsOnElements(mlir::Value value,
                              llvm::SmallPtrSetImpl<mlir::Operation *> &seen) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
    return !llvm::isa<mlir::IndexType>(argument.getType());
  mlir::Operation *op = value.getDefiningOp();
  if (llvm::isa<mlir::tensor::ExtractOp>(op) || op->getNumRegions() > 0)
    return true;
  if (llvm::isa<mlir::linalg::IndexOp, mlir::tensor::DimOp>(op) ||
      !seen.insert(op).second)
    return false;
  return llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
    return !llvm::isa<mlir::TensorType>(operand.getType()) &&
           dependsOnElements(operand, seen);
  });
}

/// Whether `value` is computed from elements of tensors, and not from loop
/// counters and sizes alone.
inline bool dependsOnElements(mlir::Value value) {
  llvm::SmallPtrSet<mlir::Operation *, 8> seen;
  return dependsOnElements(value, seen);
}

} // namespace attn

#endif
