// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What exporters write behind a softmax, so that rows that see no key give 0.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_WEIGHTGUARDS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_WEIGHTGUARDS_H

#include "TensorView.h"

namespace attn {

/// The result if `user` replaces NaN among the weights by 0.
mlir::Value nanGuardOf(mlir::Value weights, mlir::Operation *user);

/// The result if `user` replaces the weights of pairs that the last step of the
/// scores excludes by 0, which they are already, but in rows that see no key.
mlir::Value maskGuardOf(const TensorView &weights, mlir::Operation *user,
                        mlir::Value scores, bool lowestExcludes);

/// The sum of masks of which `condition` says, for each row, whether all of it
/// is -inf; null if it says something else.
mlir::Value emptyRowsOf(mlir::Value condition);

/// The tensor below all that only shows it otherwise, or in another type.
mlir::Value rootOf(mlir::Value tensor);

} // namespace attn

#endif
