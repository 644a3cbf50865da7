// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_NUMBERDOCUMENTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_NUMBERDOCUMENTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {

/// Replaces the operands of `document(cumulative ..)` in the mask of `op`, in
/// front of which the rewriter stands.
void numberDocuments(SdpaOp op, mlir::RewriterBase &rewriter);

/// How many documents the rows of `op` are cut at, where a term
/// `document(cumulative ..)` says so; null elsewhere.
mlir::Value countDocuments(SdpaOp op, mlir::OpBuilder &builder);

} // namespace attn

#endif
