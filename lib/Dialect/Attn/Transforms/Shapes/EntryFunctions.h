// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that C can call, and private ones beside them that answer a
// question about a call's arguments (@NAME.flops, @NAME.slices).
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_ENTRYFUNCTIONS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_ENTRYFUNCTIONS_H

#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// Public functions with a body, in their order.
llvm::SmallVector<mlir::func::FuncOp> entryFunctions(mlir::ModuleOp module);

/// A copy of `function` right behind it, to compute an answer in.
mlir::func::FuncOp cloneBehind(mlir::func::FuncOp function);

/// Makes a copy of @NAME the private @NAME.`question`, which returns `answer`
/// instead of results.
void answerInstead(mlir::func::FuncOp copy, Part question, mlir::Value answer);

} // namespace attn

#endif
