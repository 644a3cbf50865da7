// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the sizes that a gradient shares with the forward function.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_NAMESIZES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_NAMESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// Gives arguments of `gradient` the attribute attn.sizes by what they are in
/// `forward`. Fails where ops of `forward` contradict each other, which has
/// been reported.
llvm::LogicalResult
nameSizes(mlir::func::FuncOp forward, mlir::func::FuncOp gradient,
          const llvm::DenseMap<mlir::Value, mlir::Value> &valueInForward);

} // namespace attn

#endif
