// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that change scores (attn.softcap, attn.score_mod, attn.alibi), joined
// into the one score function of an attn.sdpa.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_SCORESTEPS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_SCORESTEPS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Whether `op` is such a step.
bool isScoreStep(mlir::Operation *op);

/// Whether two steps do the same to their scores.
bool sameScoreStep(mlir::Operation *first, mlir::Operation *second);

/// The values outside that the steps read, besides the scores.
llvm::SmallVector<mlir::Value>
operandsOfScoreSteps(llvm::ArrayRef<mlir::Operation *> steps);

/// What the score function of `steps` captures; `builder` stands where the
/// attn.sdpa will, and `query` and `key` are of layout bhsd.
llvm::SmallVector<mlir::Value>
captureScoreSteps(mlir::OpBuilder &builder,
                  llvm::ArrayRef<mlir::Operation *> steps, mlir::Value query,
                  mlir::Value key);

/// Fills the score function of `sdpa`, whose captures come from the function
/// above.
void buildScoreFunction(SdpaOp sdpa, llvm::ArrayRef<mlir::Operation *> steps);

} // namespace attn

#endif
