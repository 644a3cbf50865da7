// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies between a product of queries and keys and its softmax, in the order
// of attn.sdpa: scale, score function, biases, exclusion.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SCOREPATH_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SCOREPATH_H

#include "ScalarCode.h"

namespace attn {

/// One condition that a pair must meet to be seen.
struct Exclusion {
  std::shared_ptr<ScalarCode> code;
  mlir::Value condition; ///< of `code`, an i1; null: see `constant`
  bool negated;          ///< the pair is seen where it is false
  /// Booleans, true where a pair is seen, in the dimensions of `view`.
  mlir::DenseElementsAttr constant;
  TensorView view;
};

struct ScorePath {
  SumOfProducts product;
  TensorView result; ///< of the product, in loops of the scores
  /// Scores behind the scale and behind the function.
  TensorView scaled, modified;
  double scale = 1;
  /// The function's code and what it gives; null: none.
  std::shared_ptr<ScalarCode> function;
  mlir::Value functionResult;
  llvm::SmallVector<TensorView, 0> biases;
  llvm::SmallVector<Exclusion, 0> exclusions;
  /// The ops that add biases and exclusions, behind the function.
  llvm::SmallVector<mlir::Operation *> sums;
  /// A lowest finite number was taken for an exclusion.
  bool tookLowest = false;
};

struct PathOptions {
  llvm::ArrayRef<int64_t> sizes; ///< of the scores
  /// The lowest finite number of a type excludes like -inf.
  bool lowestExcludes;
};

/// Whether a number that takes the place of a score excludes it.
bool excludesScore(double number, bool lowestExcludes);

/// Reads upwards from the scores that a softmax takes. None: they do not come
/// from one product; `reason` says why.
std::optional<ScorePath> readScorePath(mlir::Value scores,
                                       const PathOptions &options,
                                       std::string &reason);

/// Whether some product of matrices is among what the scores are computed from.
bool comeFromProduct(mlir::Value scores);

} // namespace attn

#endif
