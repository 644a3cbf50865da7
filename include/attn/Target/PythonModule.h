// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Python module that calls a module's kernels.
#ifndef ATTN_TARGET_PYTHONMODULE_H
#define ATTN_TARGET_PYTHONMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace attn::target {

/// The text of a Python module in which every function of `module` that carries
/// `attn.ports` and `attn.statuses` is a kernel. `library` is the name of the
/// shared library beside it.
std::string pythonText(mlir::ModuleOp module, llvm::StringRef library);

} // namespace attn::target

#endif
