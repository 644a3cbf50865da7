// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast a kernel of a GPU can be at most, from its machine code.
//
// A loop's turn takes each part of a multiprocessor for some clocks; were all
// else hidden, the part that is busy longest would be the turn's time
// (Williams, Waterman, Patterson: Roofline, 2009). What waits for what is not
// looked at, so that no kernel is faster, and a good one of this kind reaches
// some three quarters of it: docs/Pipeline.md says how this was compared.
#ifndef ATTN_TARGET_KERNELMODEL_H
#define ATTN_TARGET_KERNELMODEL_H

#include "attn/Target/Sass.h"

namespace attn::target {

/// What a multiprocessor does in a clock, and how many there are.
struct GPUThroughput {
  llvm::StringRef chip; ///< "A100"
  int64_t multiprocessors;
  double gigahertz;
  int64_t schedulers;                 ///< each issues one instruction of a warp
  int64_t tensorFlops;                ///< of f16 and bf16 with sums of f32
  int64_t fma, alu, special, doubles; ///< results
  int64_t sharedBytes;
  double globalBytes; ///< from the level-2 cache
  /// What FlashAttention-2's forward kernel of 128 features reaches of the
  /// tensor cores' peak, which is the bound that its machine code has here.
  double reached;

  double peakTeraflops() const {
    return static_cast<double>(multiprocessors * tensorFlops) * gigahertz / 1e3;
  }
};

/// Of the chip that --target names; null where it is not known.
const GPUThroughput *throughputOf(llvm::StringRef target);

/// One turn of a loop, of one warp, on the way that the code takes when nothing
/// special happens: with all its products and copies, past what follows on a
/// wrong guess.
struct LoopMix {
  size_t first = 0, last = 0; ///< instructions of its header and back edge
  int64_t slots = 0;          ///< instructions that are issued
  int64_t products = 0, loadMatrix = 0, copies = 0, barriers = 0;
  int64_t waits = 0; ///< for copies
  int64_t flops = 0;
  int64_t fma = 0, alu = 0, special = 0, doubles = 0;
  int64_t sharedBytes = 0, globalBytes = 0; ///< that go through each
  int64_t unknown = 0;                      ///< instructions of no known kind
};

/// Clocks of a multiprocessor for a turn of a block.
struct LoopBound {
  double issue, tensor, fma, alu, special, shared, global;
  llvm::StringRef by; ///< what takes longest, and how long
  double clocks;
  /// Of the peak of products that a turn can reach.
  double tensorShare() const { return clocks > 0 ? tensor / clocks : 0; }
};

/// The innermost loops that multiply tiles, those with the least work beside
/// the products first; of a kernel without products, its innermost loops.
std::vector<LoopMix> loopsOf(const SassKernel &kernel);

LoopBound boundOf(const LoopMix &mix, int64_t warps, const GPUThroughput &chip);

/// Instructions of a kernel with this name, in its loops of loopsOf or, without
/// `loop`, anywhere.
int64_t countOf(const SassKernel &kernel, llvm::StringRef name);

} // namespace attn::target

#endif
