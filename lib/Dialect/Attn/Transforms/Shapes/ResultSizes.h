// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of results that are computed from sizes of arguments.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_RESULTSIZES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_RESULTSIZES_H

#include "SizeClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace attn {

/// Whether `op` makes a tensor whose sizes it states, of which each may be
/// computed.
bool statesSizes(mlir::Operation *op);

/// Finds how a size is computed: by the op that makes the first tensor of that
/// size, and in turn by those of its operands.
class ResultSizes {
public:
  ResultSizes(mlir::func::FuncOp function, SizeClasses &classes);

  /// The size of class `size` in sizes that `names` calls: sizeText of it; ""
  /// where it is not of their sums, products, quotients, maxima and minima.
  std::string find(unsigned size,
                   const llvm::DenseMap<unsigned, std::string> &names);

private:
  struct Search;
  SizeClasses &classes;
  llvm::DenseMap<unsigned, llvm::SmallVector<Dim>> makers;
};

} // namespace attn

#endif
