// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_ONFUNCTIONS_H
#define ATTN_PIPELINES_ONFUNCTIONS_H

#include "mlir/Pass/PassManager.h"

namespace attn {
/// Passes for the functions that hold an op of one dialect, or for those that
/// hold none: most functions of a module are kernels, large and finished early.
struct OnFunctions {
  llvm::StringRef dialect;
  bool holds;
  void (*addPasses)(mlir::OpPassManager &);
};
void addOnFunctions(mlir::OpPassManager &module, OnFunctions selected);
} // namespace attn

#endif
