// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --target names: a processor, a GPU, or one of each.
#ifndef ATTN_OPT_TARGETS_H
#define ATTN_OPT_TARGETS_H

#include "Options.h"
#include "attn/Pipelines/DescribeTarget.h"
#include "attn/Pipelines/Phases.h"
#include "attn/Target/CodeGen.h"

namespace attn::tool {

struct Targets {
  /// Of the code around kernels; that of the kernels, too, unless they are a
  /// GPU's alone.
  target::Processor processor;
  std::optional<target::Processor> gpu;
  TargetKind kind = TargetKind::CPU;
  /// What kernels are made for: of the processor, and of the GPU.
  TargetAttr description, gpuDescription;
};

/// "sm_80" and the like among the names of --target.
bool namesGPU(llvm::StringRef target);
TargetKind kindOf(llvm::StringRef target);

/// Finds and describes them. Facts of --target-facts are those of the
/// processor, or of a GPU alone. An error without a message has been reported.
llvm::Expected<Targets> findTargets(const Options &options,
                                    mlir::MLIRContext &context);

} // namespace attn::tool

#endif
