// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A score function on a vector of queries, or of keys.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCOREFUNCTION_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCOREFUNCTION_H

#include "LaneMemory.h"

namespace attn::cpu {

/// x times a factor, which joins the one that x may have.
Value scaledBy(KernelBuilder &k, Value x, double factor);

/// Clones the function with one lane per query (or key). What is the same for
/// all lanes stays scalar, and so do positions that rise from lane to lane by a
/// constant, because most of them end as one conversion or one load of
/// neighbours.
class ScoreFunction {
public:
  /// `captures` begin with the batch entry and the head.
  ScoreFunction(KernelBuilder &builder, mlir::Region &region,
                mlir::ValueRange captures)
      : k(builder), memory(builder), block(region.front()), captures(captures) {
  }
  /// Any block that reads its arguments only, for `evaluate`.
  ScoreFunction(KernelBuilder &builder, mlir::Block &block)
      : k(builder), memory(builder), block(block) {}

  /// The function of `scores`, one per query from `query` on, and of one key;
  /// behind it, these other values. A long one is a function apart.
  Values apply(Value scores, Value query, Value key,
               llvm::ArrayRef<Value> others = {});
  /// The same for one query, and one key per lane from `key` on.
  Value applyToKeys(Value scores, Value query, Value key);
  /// The block's value `answer`, given those of all arguments.
  Value evaluate(llvm::ArrayRef<Lanes> arguments, Value answer);
  /// These values, and no others than they need, for queries from `query` on
  /// and one key. Some vectors are known.
  llvm::SmallVector<Lanes> evaluate(llvm::ArrayRef<Value> answers,
                                    const llvm::DenseMap<Value, Value> &known,
                                    Value query, Value key);

  /// Whether it is a function apart, which is called.
  bool isApart() const;
  /// From now on, neighbours that are read stand inside of their dimension.
  void assumeInside(bool inside) { memory.assumeInside(inside); }

private:
  Values apply(Value scores, Lanes query, Lanes key,
               llvm::ArrayRef<Value> others);
  Values applyApart(Value scores, Lanes query, Lanes key,
                    llvm::ArrayRef<Value> others);
  Values applyHere(Value scores, Lanes query, Lanes key,
                   llvm::ArrayRef<Value> others);
  void bindIndices(Lanes query, Lanes key);
  Lanes clone(mlir::Operation &op);
  std::optional<Lanes> cloneLinear(mlir::Operation &op);
  Lanes loadCapture(mlir::Operation &op);

  KernelBuilder &k;
  LaneMemory memory;
  mlir::Block &block;
  mlir::ValueRange captures;
  llvm::DenseMap<Value, Lanes> values;
};

} // namespace attn::cpu

#endif
