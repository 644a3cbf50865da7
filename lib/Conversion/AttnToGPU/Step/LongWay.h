// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block does once more where numbers are not finite.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_LONGWAY_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_LONGWAY_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn::gpucode {

/// The attribute of an op whose first region reads the thread's number anew.
inline constexpr llvm::StringLiteral againName = "again";

/// A number of the block or thread, as i32, that nothing in front knows.
mlir::Value readAgain(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::StringRef name);

/// A copy of an i32 or i64 that is not known to be one.
mlir::Value copyAgain(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value number);

/// Moves the attention of a state into a loop over turns: one, or four where a
/// sum of the context is NaN, with the sums of what is finite and what the
/// others make of each half of the columns (tile.sift). `partTypes`: what a
/// state becomes.
void addTurns(InitStateOp init, mlir::TypeRange partTypes);

/// The turn that an op is done in, as i32; null where there are none.
mlir::Value turnOf(mlir::Operation *op);

} // namespace attn::gpucode

#endif
