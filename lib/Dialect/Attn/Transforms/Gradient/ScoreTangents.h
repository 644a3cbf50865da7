// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives of score functions, in forward mode.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_SCORETANGENTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_GRADIENT_SCORETANGENTS_H

#include "mlir/IR/Builders.h"

namespace attn {

/// An op of a score function on the way from the score, or from what is read of
/// a learned capture, to the result, whose derivative is not known; null if all
/// are. Captures are numbered from 0.
mlir::Operation *
findUnknownPartial(mlir::Region &function,
                   llvm::function_ref<bool(unsigned capture)> isLearned);

/// The function also yields its derivative by the score and, in the order of
/// the reads, by each read of a learned capture.
void addTangents(mlir::Region &function,
                 llvm::function_ref<bool(unsigned capture)> isLearned);

} // namespace attn

#endif
