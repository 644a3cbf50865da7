// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which buffers of a kernel can share their bytes.
#ifndef ATTN_LIB_INTERFACE_BUFFERLIFETIMES_H
#define ATTN_LIB_INTERFACE_BUFFERLIFETIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::cpu {

/// Buffers of which no two are needed at the same time, in program order.
struct SharedBytes {
  llvm::SmallVector<mlir::memref::AllocOp> buffers;
  /// The last op of the kernel's block that one of them is needed by.
  mlir::Operation *last = nullptr;
  /// Of the first buffer, among those of the kernel.
  size_t number = 0;

  mlir::MemRefType type() const {
    return llvm::cast<mlir::MemRefType>(
        buffers.front()->getResult(0).getType());
  }
  mlir::OperandRange sizes() const { return buffers.front()->getOperands(); }
};

/// Shares the bytes of `allocs`, which stand in program order in `kernel` and
/// in no parallel item. A buffer that is only sometimes there (its size is
/// chosen by arith.select) shares with its equals alone: what it could share
/// with is often its alternative, which has size 0 then.
std::vector<SharedBytes>
shareBytes(mlir::func::FuncOp kernel,
           llvm::ArrayRef<mlir::memref::AllocOp> allocs);

} // namespace attn::cpu

#endif
