// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --verify: runs compiled kernels on random inputs beside the reference.
#ifndef ATTN_OPT_VERIFY_H
#define ATTN_OPT_VERIFY_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace attn::tool {

/// Calls every kernel in the shared library `library`, which was made from
/// `compiled` (with `attn.ports`), on random inputs, and `specification`, what
/// it was compiled from, in the reference. Prints the largest error of every
/// result; an error where one is beyond its tolerance.
llvm::Error verifyKernels(mlir::ModuleOp specification, mlir::ModuleOp compiled,
                          llvm::StringRef library, const Options &options);

} // namespace attn::tool

#endif
