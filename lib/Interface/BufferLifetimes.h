// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When the buffers of a kernel are needed.
#ifndef ATTN_LIB_INTERFACE_BUFFERLIFETIMES_H
#define ATTN_LIB_INTERFACE_BUFFERLIFETIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::cpu {

/// Part of the kernel's block in which the content of a buffer matters: ops
/// that hold its first and its last use.
struct Lifetime {
  mlir::Operation *first, *last;

  bool meets(const Lifetime &other) const {
    return !last->isBeforeInBlock(other.first) &&
           !other.last->isBeforeInBlock(first);
  }
};

/// The lifetimes of `allocs`, which stand in `kernel` and in no parallel item.
/// An alias keeps a buffer alive.
llvm::SmallVector<Lifetime>
lifetimesOf(mlir::func::FuncOp kernel,
            llvm::ArrayRef<mlir::memref::AllocOp> allocs);

} // namespace attn::cpu

#endif
