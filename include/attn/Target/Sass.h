// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of NVIDIA GPUs (SASS), as far as one must know it to say how
// long it takes at least: kinds of instructions, and where branches lead.
//
// NVIDIA does not document the encoding. On compute capability 7.0 to 9.0 an
// instruction has 16 bytes, of which the low 9 bits say what it does and the
// next 3 where its operands lie. What stands here was found by assembling and
// is compared with nvdisasm by test/Target/sass.test, where there is one.
#ifndef ATTN_TARGET_SASS_H
#define ATTN_TARGET_SASS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::target {

/// What executes an instruction beside the scheduler that issues it.
enum class SassUnit {
  Tensor,  ///< products of tiles
  FMA,     ///< f32 arithmetic, integer multiply-add
  ALU,     ///< integers, comparisons, moves, packing
  Special, ///< exp2, reciprocals, conversions
  Double,
  Shared,  ///< ldmatrix, accesses of shared memory, shuffles
  Global,  ///< global and local memory without a copy to shared memory
  Copy,    ///< from global to shared memory
  Barrier, ///< waits for other warps
  Control, ///< branches and their kind
  Other,   ///< small things, and what this table does not know
};

struct SassInstruction {
  /// "HMMA"; "?" where it is not known.
  llvm::StringRef name;
  SassUnit unit = SassUnit::Other;
  /// Floating-point operations of a warp's product of tiles.
  int64_t flops = 0;
  /// Bytes that a warp moves, of whatever memory.
  int64_t bytes = 0;
  /// Of a branch: the instruction it leads to.
  std::optional<size_t> target;
  /// Whether the next instruction never follows.
  bool ends = false;
};

struct SassKernel {
  std::string name;
  std::vector<SassInstruction> code;
};

/// The kernels of a cubin of compute capability 8. An error is one line.
llvm::Expected<std::vector<SassKernel>> readCubin(llvm::StringRef cubin);

} // namespace attn::target

#endif
