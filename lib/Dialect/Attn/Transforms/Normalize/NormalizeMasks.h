// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_NORMALIZE_NORMALIZEMASKS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_NORMALIZE_NORMALIZEMASKS_H

#include "mlir/IR/PatternMatch.h"

namespace attn {

/// Brings the masks in `root` to the forms that all later passes know.
void normalizeMasks(mlir::Operation *root, mlir::IRRewriter &rewriter);

} // namespace attn

#endif
