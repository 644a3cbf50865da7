// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a warp that share a row: each has every so many elements.
#ifndef ATTN_LIB_CONVERSION_LINALGTOVECTOR_ROWTHREADS_H
#define ATTN_LIB_CONVERSION_LINALGTOVECTOR_ROWTHREADS_H

#include "mlir/IR/Builders.h"

namespace attn::cpu {

struct RowThreads {
  mlir::Value number; ///< of the thread; null where a row is one thread's
  int64_t count = 1;  ///< a power of two

  explicit operator bool() const { return number != nullptr; }

  /// Lets one thread store numbers of a row, which all of them compute: the
  /// others have read what was there, and read what is there then.
  void storeOnce(mlir::OpBuilder &b, mlir::Location loc,
                 llvm::function_ref<void()> store) const;
  /// What `combine` makes of all threads' numbers of at most 32 bits, the same
  /// in all threads, and always in the same order.
  mlir::Value
  join(mlir::OpBuilder &b, mlir::Location loc, mlir::Value own,
       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const;
  /// Moves stores behind what a thread reads in the same turns: that are other
  /// elements, and the reads wait together.
  void storeLast(mlir::OpBuilder &b) const;
};

} // namespace attn::cpu

#endif
