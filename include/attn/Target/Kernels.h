// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a GPU in the object of the host that launches them.
#ifndef ATTN_TARGET_KERNELS_H
#define ATTN_TARGET_KERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
} // namespace llvm

namespace attn::target {

/// The module of kernels that attn-lower-gpu-functions made, inside that of the
/// host; null where there is none.
mlir::ModuleOp findKernels(mlir::ModuleOp host);

/// Everything but the kernels.
mlir::OwningOpRef<mlir::ModuleOp> withoutKernels(mlir::ModuleOp host);

/// Defines what attn-emit-entry has declared: the kernels as PTX, and as a
/// cubin where `cubin` is not empty.
void embedKernels(llvm::Module &host, llvm::StringRef ptx,
                  llvm::StringRef cubin);

} // namespace attn::target

#endif
