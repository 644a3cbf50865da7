// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --explain knows of one gradient, and of what it needs of the forward
// pass.
#ifndef ATTN_LIB_PIPELINES_EXPLAINGRADIENTS_H
#define ATTN_LIB_PIPELINES_EXPLAINGRADIENTS_H

#include "ExplainFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

struct GradientFacts {
  /// Of the attention whose gradient it is; `features` are those of all
  /// products that are asked for.
  AttentionFacts attention;
  llvm::SmallVector<llvm::StringRef> by;
  /// The five products of a tile, in their order, and those of them that nobody
  /// asked for, which are computed and dropped.
  llvm::SmallVector<llvm::StringRef> products, dropped;
};

/// `op` is in a function that has attn.ports. Leaves ops behind.
GradientFacts factsOf(SdpaGradOp op, const SymbolSizes &sizes);

/// An argument that @NAME_forward returns for the gradient.
struct ResidualFacts {
  std::string name;
  std::string bytes; ///< `32*q0`
  std::optional<int64_t> value;
};
std::vector<ResidualFacts> residualsOf(mlir::func::FuncOp function,
                                       const SymbolSizes &sizes);

} // namespace attn

#endif
