// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The score of a pair through score function and bias.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRSCORE_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIRSCORE_H

#include "Pair.h"

namespace attn::gpucode {

/// A number in units of log2 from one in natural units: -inf excludes, the
/// lowest float stays finite.
mlir::Value inLog2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value natural);

class PairScore {
public:
  PairScore(const PairOperands &pairs, double scale)
      : pairs(pairs), loc(pairs.loc), scale(scale) {}

  /// Whether scores are more than products with a factor.
  bool changes() const { return pairs.bias || pairs.function; }
  /// The score in units of log2 of a product of query and key.
  mlir::Value of(mlir::OpBuilder &b, mlir::Value product, const Pair &pair);
  /// The score as after a step, before masks, in natural units.
  mlir::Value atStage(mlir::OpBuilder &b, mlir::Value product, const Pair &pair,
                      ScoresStage stage);

private:
  mlir::Value addBias(mlir::OpBuilder &b, mlir::Value score, mlir::Value bias);

  const PairOperands &pairs;
  mlir::Location loc;
  double scale;
};

} // namespace attn::gpucode

#endif
