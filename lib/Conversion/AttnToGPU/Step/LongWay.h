// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block does once more where numbers are not finite.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_LONGWAY_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_LONGWAY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn::gpucode {

/// The attribute of an op whose region does once more what was done.
inline constexpr llvm::StringLiteral againName = "again";

/// A number of the block or thread, as i32, that nothing in front knows.
mlir::Value readAgain(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::StringRef name);

/// Computes the kernel's rows once more, three times: the sums of what is
/// finite, and what the others make of each half of the columns (tile.sift).
struct LongWay {
  mlir::scf::IfOp condition; ///< null: there is none
  mlir::Value turn;          ///< 0 to 2, as index
};

/// Copies the kernel's attention behind it, under a condition that is false as
/// yet. There is none where it does not stand at the kernel's top.
LongWay addLongWay(mlir::gpu::GPUFuncOp kernel);

} // namespace attn::gpucode

#endif
