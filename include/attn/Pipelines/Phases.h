// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of a specification to code that LLVM takes, phase by phase.
#ifndef ATTN_PIPELINES_PHASES_H
#define ATTN_PIPELINES_PHASES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn {

/// The default of PipelineOptions::verifyEach.
#ifdef NDEBUG
inline constexpr bool verifiesEach = false;
#else
inline constexpr bool verifiesEach = true;
#endif

struct PipelineOptions {
  /// Keys of a parallel item where few queries see many; 0: all. Without it, as
  /// the target's passes have it.
  std::optional<int64_t> splitKeys;
  /// Verify the module after every pass. Without it, after those that every
  /// target shares and at the end: behind the head, verifying kernels that no
  /// user wrote takes a third of the passes' time.
  bool verifyEach = verifiesEach;
  /// Set by runPhase: the module's.
  TargetAttr target;
  /// Emit a `main`.
  bool program = false;
  /// With what joinTargets brought.
  bool joined = false;
  /// With a second function, which returns the steps of the attention, for the
  /// program's --lab.
  bool picture = false;
  /// Of a function that learns and its two others, the one that stays; empty:
  /// all.
  std::string entry;
  /// Whether phases behind the head follow: then a gradient that no kernel
  /// computes is an error.
  bool lowers = true;
  /// The file of weights, as the runtime looks for it; empty: weights stay in
  /// the object.
  std::string weights;
  /// JSON text that NAME_info returns.
  std::string info;
};

enum class PhaseId {
  Input,
  Normalized,
  Fused,
  Scheduled,
  TiledQueries,
  TiledKeys,
  Buffers,
  Vectors,
  Parallel,
  Entry,
  LLVM,
  GPURows,
  GPUTiles,
  GPUBuffers,
  GPULoops,
  GPUKernels,
  GPULLVM
};

/// A state of the module that has a name, and the passes that lead to it from
/// the phase before.
struct Phase {
  PhaseId id;
  llvm::StringRef name;
  /// What the module is in this phase.
  llvm::StringRef sentence;
  void (*addPasses)(mlir::OpPassManager &, const PipelineOptions &);
  /// Ops ("attn.sdpa") and dialects ("attn") that are not there any more; a
  /// pass that leaves one has a bug. From this phase on they never come back.
  llvm::ArrayRef<llvm::StringRef> gone;
  /// Of the head of the pipeline, which is the same for all targets. An error
  /// of the passes can be the user's; behind the head it is our bug.
  bool isHead;
  /// Behind the head: an error can be the user's as well.
  bool mayRefuse = false;
};

/// What code is for: a processor, a GPU whose kernels a processor launches, or
/// either, as a call finds it.
enum class TargetKind { CPU, GPU, Both };

/// All phases, in order: the head, then those of a GPU, then those of a CPU.
/// With Both, the phases of the GPU are those of a copy of the module, which
/// joinTargets brings back in front of Entry; with GPU, Entry follows on them.
llvm::ArrayRef<Phase> phases(TargetKind kind = TargetKind::CPU);
/// Whether it is one of a GPU's own.
inline bool isOfGPU(const Phase &phase) { return phase.id >= PhaseId::GPURows; }
/// The phase of this name, or null.
const Phase *findPhase(llvm::StringRef name);

/// Runs the passes of one phase and checks its contract.
mlir::LogicalResult runPhase(mlir::ModuleOp module, const Phase &phase,
                             const PipelineOptions &options);

/// Moves what `device`, in the phase gpu-llvm, has for a GPU to `host`, in the
/// phase parallel; both are of one specification. Only the kernels and what
/// launches them is taken, and constants get names of their own.
void joinTargets(mlir::ModuleOp host, mlir::ModuleOp device);

/// Registers attn-check-phase.
void registerPipelinePasses();

} // namespace attn

#endif
