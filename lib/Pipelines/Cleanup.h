// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tidies up between steps of a pipeline.
#ifndef ATTN_LIB_PIPELINES_CLEANUP_H
#define ATTN_LIB_PIPELINES_CLEANUP_H

#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "mlir/Transforms/Passes.h"

namespace attn {

inline void addCleanup(mlir::OpPassManager &pm) {
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
}

/// The same of what is for `target`. Parallel loops of one item, which a
/// pattern of MLIR's takes apart, stay for a GPU: they are blocks.
inline void addCleanup(mlir::OpPassManager &pm, TargetAttr target) {
  llvm::SmallVector<std::string> without;
  if (target.getSharedBytes() > 0)
    without = {
        "(anonymous namespace)::ForallOpSingleOrZeroIterationDimsFolder"};
  pm.addPass(mlir::createCanonicalizerPass({}, without));
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
