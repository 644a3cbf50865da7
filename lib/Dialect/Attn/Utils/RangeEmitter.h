// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of key ranges as ops of arith.
#ifndef ATTN_LIB_DIALECT_ATTN_UTILS_RANGEEMITTER_H
#define ATTN_LIB_DIALECT_ATTN_UTILS_RANGEEMITTER_H

#include "attn/Dialect/Attn/Utils/MaskSymbols.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {

/// Emits linear expressions; kt, q and k are symbols like the others.
struct ScalarEmitter {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const MaskContext &context;
  SymbolValues symbols;

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  template <typename Op>
  mlir::Value binary(mlir::Value left, mlir::Value right) {
    return Op::create(builder, loc, left, right);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::MinSIOp>(a, b);
  }
  mlir::Value max(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::MaxSIOp>(a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value left,
                      mlir::Value right) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, left, right);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  mlir::Value isNonNegative(const Linear &value) {
    return compare(mlir::arith::CmpIPredicate::sge, linear(value), constant(0));
  }
  mlir::Value variable(int id);
  mlir::Value linear(const Linear &linear);
};

/// Half-open.
struct TileRange {
  mlir::Value begin, end;
};

struct RangeEmitter : ScalarEmitter {
  RangeEmitter(mlir::OpBuilder &builder, mlir::Location loc,
               const KeyRanges &ranges, const SymbolValues &symbols);

  /// The interval within [0, tiles), tests aside.  Empty (begin >= end) if a
  /// guard fails.
  TileRange range(const KeyInterval &interval);
  KeyBlockBounds loopBounds();
  TileRange hull(llvm::ArrayRef<TileRange> visited);

  const KeyRanges &ranges;
  mlir::Value tiles; ///< ceil(Skv / TK)
};

} // namespace attn

#endif
