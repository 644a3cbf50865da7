// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of a mask for the elements of a fragment, which lie at constant
// distances from a thread's first one.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRMASK_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRMASK_H

#include "Pair.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"

namespace attn::gpucode {

/// Most literals are linear: their values at the thread's first pair are
/// computed in front, in 32 bits, and an element compares one with a constant.
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
  bool isSimple(const Linear &linear);
  void prepare(mlir::OpBuilder &b, const Formula &f, mlir::Value firstQuery,
               mlir::Value firstKey);
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
  SymbolValues symbols;
  /// Values of simple literals at the first pair, as i32.
  llvm::DenseMap<const FormulaNode *, mlir::Value> bases;
};

} // namespace attn::gpucode

#endif
