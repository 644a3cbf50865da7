// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of a specification to code that LLVM takes, phase by phase.
#ifndef ATTN_PIPELINES_PHASES_H
#define ATTN_PIPELINES_PHASES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn {

struct PipelineOptions {
  /// What the tile sizes follow from; include/attn/Target/CodeGen.h says more.
  int64_t lanes = 8, registers = 16, chains = 8, pairChains = 0;
  int64_t l1Bytes = 32768;
  bool tiles = false;
  /// Keys of a parallel item where few queries see many; 0: all.
  int64_t splitKeys = 4096;
  /// What the target has instructions for; attn-lower-vector-math
  /// and attn-lower-tile-products say more.
  bool scalef = false, f16 = false, bf16 = false, amx = false;
  /// FMA by one lane of a register; attn-join-scalar-loads.
  bool laneProducts = false;
  /// Emit a `main`.
  bool program = false;
  /// JSON text that NAME_info returns.
  std::string info;
};

/// A state of the module that has a name, and the passes that lead to it from
/// the phase before.
struct Phase {
  llvm::StringRef name;
  /// What the module is in this phase.
  llvm::StringRef sentence;
  void (*addPasses)(mlir::OpPassManager &, const PipelineOptions &);
  /// Ops ("attn.sdpa") and dialects ("attn") that are not there any more; a
  /// pass that leaves one has a bug. From this phase on they never come back.
  llvm::ArrayRef<llvm::StringRef> gone;
  /// An error of the passes can be the user's. Otherwise it is our bug.
  bool rejects;
};

/// All phases, in order.
llvm::ArrayRef<Phase> phases();
/// The phase of this name, or null.
const Phase *findPhase(llvm::StringRef name);

/// Runs the passes of one phase and checks its contract.
mlir::LogicalResult runPhase(mlir::ModuleOp module, const Phase &phase,
                             const PipelineOptions &options);

/// Registers attn-check-phase.
void registerPipelinePasses();

} // namespace attn

#endif
