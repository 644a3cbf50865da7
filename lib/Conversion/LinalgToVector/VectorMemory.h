// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of neighbours in a buffer.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_VECTORMEMORY_H
#define ATTN_CONVERSION_LINALGTOVECTOR_VECTORMEMORY_H

#include "mlir/IR/Builders.h"

namespace attn::cpu {

/// An element of a buffer, and those that follow in its last dimension, which
/// must be contiguous. A boolean is one byte in memory and one bit in a vector.
struct VectorMemory {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value buffer;
  llvm::SmallVector<mlir::Value> indices;

  mlir::Value loadNumber() const;
  void storeNumber(mlir::Value value) const;
  /// With a mask, the other lanes are 0, and no memory of theirs is read.
  mlir::Value load(int64_t lanes, mlir::Value mask) const;
  void store(mlir::Value value, mlir::Value mask) const;

private:
  bool isBoolean() const;
  mlir::Value address() const;
};

/// A vector of numbers that are made one by one.
mlir::Value gatherLanes(mlir::OpBuilder &b, mlir::Location loc, int64_t lanes,
                        llvm::function_ref<mlir::Value(int64_t lane)> makeLane);

} // namespace attn::cpu

#endif
