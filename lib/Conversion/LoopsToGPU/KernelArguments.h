// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel of a GPU gets its arguments: the one place that says so, for the
// kernel and for those that launch it.
//
// Of a memref: the address of its first element where the type leaves the
// offset open, else that of its memory; then the sizes, and then the strides,
// that the type leaves open, as i64. An index is an i64, a number is itself.
//
//   memref<?x64xf32, strided<[?, 1], offset: ?>>  ->  !llvm.ptr, i64, i64
#ifndef ATTN_LIB_CONVERSION_LOOPSTOGPU_KERNELARGUMENTS_H
#define ATTN_LIB_CONVERSION_LOOPSTOGPU_KERNELARGUMENTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace attn {

/// What a kernel takes instead of an argument of this type; nothing if there is
/// no such rule for it.
llvm::SmallVector<mlir::Type> kernelArgumentTypes(mlir::Type type);

/// In the kernel: the argument of `type` again, made of what it took.
mlir::Value joinKernelArgument(mlir::OpBuilder &b, mlir::Location loc,
                               mlir::Type type, mlir::ValueRange parts);

/// In the launching function: what the kernel takes instead of `value`. An
/// address is an i64 there.
llvm::SmallVector<mlir::Value>
splitKernelArgument(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

/// A function of libattn-rt, declared if it is not.
mlir::LLVM::LLVMFuncOp runtimeFunction(mlir::ModuleOp module,
                                       llvm::StringRef name, mlir::Type result,
                                       llvm::ArrayRef<mlir::Type> types);

} // namespace attn

#endif
