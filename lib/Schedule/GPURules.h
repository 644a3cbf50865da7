// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choice of tiles for a GPU, by kind of op.
#ifndef ATTN_LIB_SCHEDULE_GPURULES_H
#define ATTN_LIB_SCHEDULE_GPURULES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// The schedule of a product, and one for few rows where their number is
/// unknown; none where it has no kernel with tiles. Fails where one that was
/// written by hand is for a CPU, or for such a product.
mlir::LogicalResult assignGPU(ProjectOp op);

/// That of the target, times 10; of a module that names none, that of sm_80.
unsigned computeCapability(mlir::Operation *op);

} // namespace attn

#endif
