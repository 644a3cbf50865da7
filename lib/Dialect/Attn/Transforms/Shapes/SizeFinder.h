// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a size can be read.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SIZEFINDER_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SIZEFINDER_H

#include "SizeClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// Finds the first tensor of a function that has a size: an argument, if one
/// has it.
class SizeFinder {
public:
  explicit SizeFinder(mlir::func::FuncOp function);
  /// Whether ops contradict each other, which has been reported.
  bool failed() const { return classes.failed; }
  /// From now on two sizes are one, as `op` has it.
  void join(mlir::Operation *op, Dim a, Dim b) { classes.unify(op, a, b); }
  /// Whether two sizes are one for all arguments.
  bool areEqual(Dim a, Dim b) { return classes.find(a) == classes.find(b); }
  /// The size, computed at `b`; null if no tensor that is there has it.
  mlir::Value find(mlir::OpBuilder &b, Dim asked);

private:
  SizeClasses classes;
  llvm::DenseMap<unsigned, Dim> first;
};

} // namespace attn

#endif
