// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of a mask on a vector of queries and one key.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_MASKPREDICATE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_MASKPREDICATE_H

#include "Build/KernelBuilder.h"
#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"

namespace attn::cpu {

class MaskPredicate {
public:
  /// Of the tile of keys, of the sequences, and the mask's operands.
  struct Inputs {
    Value keyBegin, queryLength, keyLength;
    mlir::ValueRange operands;
  };
  /// The booleans of a matrix among the operands, for a key of the tile.
  using LookUp = llvm::function_ref<Value(unsigned operand, Value key)>;

  MaskPredicate(KernelBuilder &builder, MaskContext &context, Inputs inputs)
      : k(builder), context(context), inputs(inputs) {}

  /// Whether lanes see `key`; lane 0 is `query`. Both are absolute. A long one
  /// is a function apart.
  Value evaluate(const Formula &formula, Value query, Value key, LookUp lookUp);

private:
  Value evaluateHere(const Formula &formula, Value query, Value key,
                     LookUp lookUp);
  Value evaluateApart(const Formula &formula, llvm::StringRef name, Value query,
                      Value key, LookUp lookUp);
  Value callMask(const Formula &formula, llvm::StringRef name, Value query,
                 Value key);
  int64_t lengthOf(const Formula &formula);
  Value termVector(const FormulaNode &literal, Value query, Value key);
  bool ofLaneZero(const Linear &linear);
  Value compare(const Linear &linear, bool equality, Value query, Value key);
  Value scalarValue(const Linear &linear, Value query, Value key);
  Value laneValues(const Linear &linear, Value query, Value key);
  Value variableValue(int variable, Value query, Value key);

  KernelBuilder &k;
  MaskContext &context;
  Inputs inputs;
};

} // namespace attn::cpu

#endif
