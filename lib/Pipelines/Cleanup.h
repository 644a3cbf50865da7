// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tidies up between steps of a pipeline.
#ifndef ATTN_LIB_PIPELINES_CLEANUP_H
#define ATTN_LIB_PIPELINES_CLEANUP_H

#include "mlir/Transforms/Passes.h"

namespace attn {

inline void addCleanup(mlir::OpPassManager &pm) {
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
}

/// A pattern of MLIR's that compares all numbers that a loop carries with each
/// other, of which a kernel has hundreds and no two equal ones.
inline constexpr const char *withoutDuplicates =
    "(anonymous namespace)::RemoveDuplicateSuccessorInputUses";

/// The same for kernels: one look at each op finds what a second one would, and
/// takes a third of the time. `without`: patterns that are left out.
inline void addKernelCleanup(mlir::OpPassManager &pm,
                             llvm::ArrayRef<std::string> without = {}) {
  mlir::GreedyRewriteConfig once;
  once.setMaxIterations(1);
  pm.addPass(mlir::createCanonicalizerPass(once, without));
  pm.addPass(mlir::createCSEPass());
}

} // namespace attn

#endif
