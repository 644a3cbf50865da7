// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that take the place of an op's results.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_EMPTYRESULTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_EMPTYRESULTS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace attn {

/// An empty tensor of the type of each result of `op`, which says its shapes. A
/// size may be known where the type says that it is not.
llvm::SmallVector<mlir::Value> emptyResults(mlir::OpBuilder &b,
                                            mlir::Operation *op);

} // namespace attn

#endif
