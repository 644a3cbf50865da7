// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A score function on a pair, by the instructions that a GPU has for it.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_APPLYFUNCTION_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_APPLYFUNCTION_H

#include "Pair.h"

namespace attn::gpucode {

/// What the function of `pairs` makes of the score, in natural units. Elements
/// of captured tensors are those at the nearest places inside. Quotients of f32
/// have an error of up to 2 ulp, and a position of more than 24 bits may be
/// rounded twice when it becomes one.
mlir::Value applyFunction(mlir::OpBuilder &b, const PairOperands &pairs,
                          mlir::Value score, const Pair &pair);

} // namespace attn::gpucode

#endif
