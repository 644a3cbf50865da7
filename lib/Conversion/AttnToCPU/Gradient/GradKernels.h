// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of the kernels of gradients, one function per tile op. All
// matrices are memrefs with an innermost stride of 1.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADKERNELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADKERNELS_H

#include "GradLayout.h"
#include "Score/Dropout.h"

namespace attn::cpu {

/// Rows of a tile of queries: matrices, and numbers per row (d_lse may be
/// null).
struct GradRows {
  Value query, out, dOut, lse, dLse;
};

/// Packs queries and cotangents, and clears the gradient by the queries.
/// `checked`: steps ask whether the rows are finite.
void emitInitGrad(KernelBuilder &k, const GradLayout &layout, Value state,
                  const GradRows &rows, double scale, bool checked);

/// What is added up by an element of the bias or of a capture: `read` is how
/// the score function reads it, null for the bias.
struct ScoreSum {
  Value into;
  mlir::Operation *read;
  Value derivative; ///< of the function's result by it; null for the bias
};

/// What ds means for that which the scores were computed from.
struct ScoreChain {
  llvm::SmallVector<ScoreSum> sums;
  Value derivative; ///< of the score function by the score; null: 1
  double scale = 1; ///< of ds

  /// Whether ds is wanted, by pairs, when it has been multiplied by the
  /// derivative.
  bool keepsSlopes() const;
};

/// What a step reads and writes beside the operands of `tile`, whose state is
/// the whole buffer. `strict` is on where a pair may be excluded: what it holds
/// must not reach a gradient.
struct GradStep {
  TileOperands tile;
  Value value, query, dOut, dKey, dValue;
  Value slopes;  ///< room for ds in front of the derivative, a row per key
  Value factors; ///< room for those of a dropout, likewise; may be null
  ScoreChain chain;
  bool strict, sigmoid; ///< weights are those of sigmoid
};
void emitGradStep(KernelBuilder &k, const GradLayout &layout,
                  const GradStep &step);

/// Cotangents of weights that are dropped become 0, and others grow as their
/// weights do: rows of `state`, of which key 0 has row `slopes`. The factors
/// are kept in the step's room.
void dropCotangents(KernelBuilder &k, const GradStep &step,
                    const DropoutPlace &place, Value state, Value slopes);
/// Weights become those that met the values, by the factors that were kept.
void multiplyByFactors(KernelBuilder &k, const GradStep &step,
                       const QueryBlockKeys &keys, Value state, Value weights);

/// Writes the gradient by the queries.
void emitFinishGrad(KernelBuilder &k, const GradLayout &layout, Value state,
                    Value dQuery);

} // namespace attn::cpu

#endif
