// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --explain says of kernels of a GPU: how they are launched, and how fast
// their machine code can be.
#ifndef ATTN_PIPELINES_EXPLAINGPU_H
#define ATTN_PIPELINES_EXPLAINGPU_H

#include "attn/Pipelines/Explain.h"
#include "attn/Target/Ptxas.h"
#include "attn/Target/Sass.h"
#include <optional>

namespace attn {

struct LaunchFacts {
  /// Always, for tensors that the kernels cannot read in place, or where a
  /// condition of the specification holds.
  enum When { Always, Copy, Sometimes } when = Always;
  std::string function, kernel;
  std::string blocks; ///< in the sizes of the arguments: `ceil((q2)/128)*q0`
  std::optional<int64_t> blockCount;    ///< where all of them are known
  int64_t threads = 0, sharedBytes = 0; ///< of a block
};

/// What a function's host launches, in its order; `module` is in phase
/// gpu-kernels.
std::vector<LaunchFacts> launchesOf(mlir::ModuleOp module,
                                    const SymbolSizes &sizes);

/// The kernels as they were assembled.
struct AssembledKernels {
  std::string target;  ///< "sm_80"
  std::string missing; ///< why there is no machine code; empty: there is
  target::PtxasLog log;
  std::vector<target::SassKernel> code;
};

std::string explainLaunches(llvm::ArrayRef<LaunchFacts> launches,
                            const AssembledKernels &kernels);
/// The same as an object.
llvm::json::Value launchesAsJson(llvm::ArrayRef<LaunchFacts> launches,
                                 const AssembledKernels &kernels);

} // namespace attn

#endif
