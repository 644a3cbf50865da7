// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A score function on a vector of queries, or of keys.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCOREFUNCTION_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCOREFUNCTION_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Clones the function with one lane per query (or key). What is the same for
/// all lanes stays scalar, and so do positions that rise from lane to lane by a
/// constant, because most of them end as one conversion or one load of
/// neighbours.
class ScoreFunction {
public:
  /// `vector`, or else `scalar + stride * lane`.
  struct Lanes {
    Value scalar;
    int64_t stride = 0;
    Value vector = {};
    bool isUniform() const { return !vector && stride == 0; }
  };

  /// `captures` begin with the batch entry and the head.
  ScoreFunction(KernelBuilder &builder, mlir::Region &region,
                mlir::ValueRange captures)
      : k(builder), block(region.front()), captures(captures) {}
  /// Any block that reads its arguments only, for `evaluate`.
  ScoreFunction(KernelBuilder &builder, mlir::Block &block)
      : k(builder), block(block) {}

  /// The function of `scores`, one per query from `query` on, and of one key.
  /// A long one is a function apart.
  Value apply(Value scores, Value query, Value key);
  /// The same for one query, and one key per lane from `key` on.
  Value applyToKeys(Value scores, Value query, Value key);
  /// The block's value `answer`, given those of all arguments.
  Value evaluate(llvm::ArrayRef<Lanes> arguments, Value answer);

private:
  Value apply(Value scores, Lanes query, Lanes key);
  Value applyApart(Value scores, Lanes query, Lanes key);
  Value applyHere(Value scores, Lanes query, Lanes key);
  Lanes clone(mlir::Operation &op);
  std::optional<Lanes> cloneLinear(mlir::Operation &op);
  Lanes loadCapture(mlir::Operation &op);
  Value loadNeighbours(Value memref, llvm::ArrayRef<Lanes> at);
  Value gather(Value memref, llvm::ArrayRef<Lanes> at);
  Value loadEach(Value memref, llvm::ArrayRef<Lanes> at);
  Value size(Value memref, int64_t dim);
  /// The index that is nearest to `index` and inside of the dimension.
  Value clampIndex(Value index, Value size);
  Value vectorOf(const Lanes &lanes);
  Value constant(mlir::Type element, int64_t start, int64_t stride);

  KernelBuilder &k;
  mlir::Block &block;
  mlir::ValueRange captures;
  llvm::DenseMap<Value, Lanes> values;
};

} // namespace attn::cpu

#endif
