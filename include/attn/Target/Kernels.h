// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a GPU in the object of the host that launches them.
#ifndef ATTN_TARGET_KERNELS_H
#define ATTN_TARGET_KERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace attn::target {

/// The module of kernels that attn-lower-gpu-functions made, inside that of the
/// host; null where there is none.
mlir::ModuleOp findKernels(mlir::ModuleOp host);

} // namespace attn::target

#endif
