// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of the kernels of gradients, one function per tile op. All
// matrices are memrefs with an innermost stride of 1.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADKERNELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADKERNELS_H

#include "GradLayout.h"
#include "Score/TileOperands.h"

namespace attn::cpu {

/// Rows of a tile of queries: matrices, and numbers per row (d_lse may be
/// null).
struct GradRows {
  Value query, out, dOut, lse, dLse;
};

/// Packs queries and cotangents, and clears the gradient by the queries.
void emitInitGrad(KernelBuilder &k, const GradLayout &layout, Value state,
                  const GradRows &rows, double scale);

/// What a step reads and writes beside the operands of `tile`, whose state is
/// the whole buffer. `strict` is on where a pair may be excluded: what it holds
/// must not reach a gradient.
struct GradStep {
  TileOperands tile;
  Value value, query, dOut, dKey, dValue;
  bool strict;
};
void emitGradStep(KernelBuilder &k, const GradLayout &layout,
                  const GradStep &step);

/// Writes the gradient by the queries.
void emitFinishGrad(KernelBuilder &k, const GradLayout &layout, Value state,
                    Value dQuery);

} // namespace attn::cpu

#endif
