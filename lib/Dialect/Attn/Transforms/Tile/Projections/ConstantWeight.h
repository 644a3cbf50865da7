// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of projections that are constants, as tiles read them.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_CONSTANTWEIGHT_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_PROJECTIONS_CONSTANTWEIGHT_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {

/// The constant weight in panels of columns, one matrix behind the other; null
/// if it is no constant, or narrower than a panel.
mlir::ElementsAttr packConstant(ProjectOp op, CPUScheduleAttr schedule);

/// A constant that is transposed, and was not packed, becomes one that is not.
void straightenConstant(ProjectOp op, mlir::RewriterBase &rewriter);

} // namespace attn

#endif
