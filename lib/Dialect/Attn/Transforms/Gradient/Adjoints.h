// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cotangents of a function's values, and the rules that pass them from an
// op's results to its operands.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ADJOINTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_ADJOINTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace attn {

class Adjoints {
public:
  /// Ops are made at the builder's insertion point, behind the whole function.
  explicit Adjoints(mlir::OpBuilder &builder) : builder(builder) {}

  mlir::OpBuilder &builder;

  /// Values that depend on what is learned.
  bool isActive(mlir::Value value) const { return active.contains(value); }
  void activate(mlir::Value value) { active.insert(value); }

  /// The sum of what has been added for `value`, in its type; null if nothing.
  mlir::Value of(mlir::Value value);
  /// The same, or zeros.
  mlir::Value orZeros(mlir::Value value);
  /// As it has been added: of the type of the statistics where the value is
  /// narrower.
  mlir::Value asAdded(mlir::Value value) const {
    return cotangents.lookup(value);
  }
  /// Adds to the cotangent of `value`, if it is active.
  void add(mlir::Value value, mlir::Value cotangent);
  /// A tensor with elements of another float type.
  mlir::Value castElements(mlir::Value tensor, mlir::Type element);
  /// A tensor of zeros of the type and sizes of `value`.
  mlir::Value zerosLike(mlir::Value value);

private:
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
};

/// Passes the cotangents of the results of `op` on to its operands. Nothing if
/// the rules of the group do not know it; a failure has been reported.
using Ruled = std::optional<llvm::LogicalResult>;
Ruled followAttention(Adjoints &adjoints, mlir::Operation *op);
Ruled followGraphOp(Adjoints &adjoints, mlir::Operation *op);
Ruled followTensorOp(Adjoints &adjoints, mlir::Operation *op);
Ruled followLoop(Adjoints &adjoints, mlir::Operation *op);

/// Gives attentions whose gradient needs lse that result and, unless
/// `isRounded`, those of 16 bits an out in the type of the statistics, which is
/// rounded behind them.
void returnResiduals(mlir::Operation *function, bool isRounded);

} // namespace attn

#endif
