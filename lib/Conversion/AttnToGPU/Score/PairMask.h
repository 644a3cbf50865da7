// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of a mask for the elements of a fragment, which lie at constant
// distances from a thread's first one.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRMASK_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRMASK_H

#include "Pair.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"

namespace attn::gpucode {

/// Most literals are linear, perhaps with quotients: their values at the
/// thread's first pair are computed in front, in 32 bits, and an element
/// compares them with constants.
class PairMask {
public:
  /// `first`: the thread's first query and key, absolute.
  PairMask(mlir::OpBuilder &b, const PairOperands &pairs,
           mlir::Value firstQuery, mlir::Value firstKey);

  /// Whether the query sees the key, an i1.
  mlir::Value visible(mlir::OpBuilder &b, const Pair &pair) {
    return evaluate(b, formula, pair);
  }

private:
  /// A quotient in a literal: what is left of its numerator at the first pair,
  /// and what the literal takes it times.
  struct Quotient {
    mlir::Value rest; ///< i32
    Linear numerator;
    int64_t divisor, coefficient;
  };
  /// The value of a literal at the first pair, as i32.
  struct Literal {
    mlir::Value base;
    llvm::SmallVector<Quotient, 1> quotients;
  };

  bool isSimple(const Linear &linear, int64_t divisions);
  mlir::Value atFirst(mlir::OpBuilder &b, const Linear &linear);
  mlir::Value distance(mlir::OpBuilder &b, const Linear &linear,
                       const Pair &pair);
  void prepare(mlir::OpBuilder &b, const Formula &f);
  mlir::Value evaluate(mlir::OpBuilder &b, const Formula &f, const Pair &pair);
  mlir::Value compare(mlir::OpBuilder &b, const FormulaNode &literal,
                      const Pair &pair);
  mlir::Value inside(mlir::OpBuilder &b, mlir::Value position,
                     mlir::Value length);
  mlir::Value readOpaque(mlir::OpBuilder &b, const FormulaNode &literal,
                         mlir::ValueRange arguments, const Pair &pair);

  mlir::Location loc;
  MaskContext context;
  Formula formula;
  mlir::ValueRange operands;
  mlir::Value queryLength, keyLength;
  SymbolValues symbols, first; ///< without a pair, and of the first one
  llvm::DenseMap<const FormulaNode *, Literal> literals; ///< simple ones
};

} // namespace attn::gpucode

#endif
