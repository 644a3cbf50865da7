// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes, or bounds for them, computed where a kernel begins.
#ifndef ATTN_LIB_INTERFACE_SIZESATBEGIN_H
#define ATTN_LIB_INTERFACE_SIZESATBEGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace attn::cpu {

class SizesAtBegin {
public:
  /// All that is computed stands in front of `begin`, in the first block of
  /// `kernel`.
  SizesAtBegin(mlir::func::FuncOp kernel, mlir::Operation *begin)
      : block(&kernel.front()), begin(begin), rewriter(begin),
        loc(kernel.getLoc()) {}

  /// `size`, or a bound for it; null if there is none.
  mlir::Value bound(mlir::Value size);

  /// Factors of a size: numbers go into `known`. Rows of all batch entries are
  /// entries times rows. False where the number is beyond i64.
  static bool factor(mlir::Value size, int64_t &known,
                     llvm::SmallVectorImpl<mlir::Value> &factors);

private:
  bool isKnownAtBegin(mlir::Value value);
  mlir::Value again(mlir::Value size, bool exact);
  mlir::Value ofJoined(mlir::memref::DimOp size);

  mlir::Block *block;
  mlir::Operation *begin;
  mlir::IRRewriter rewriter;
  mlir::Location loc;
};

} // namespace attn::cpu

#endif
