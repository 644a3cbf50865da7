// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places for the buffers of a kernel whose sizes are known when it is called.
//
// A buffer has `unit` bytes times some factors. Those with the same factors
// stand in one arena, where places are numbers of units, so that which buffers
// share bytes is decided by the compiler: the largest first, each at the lowest
// place that nothing else needs at the same time (as Y. Pisarchyk and J. Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020, call
// greedy by size). Where more bytes are taken so than are needed at one time,
// other orders are tried, in which the buffer at the end comes first. Arenas
// whose buffers never meet share their bytes too.
//
// Factors that arith.select chooses, or 0, belong to buffers that are only
// sometimes there. What they could share with is often their alternative, which
// has size 0 then: they have an arena of their own, or one with those that are
// always there, if both together take less so.
#ifndef ATTN_LIB_INTERFACE_PLACEBUFFERS_H
#define ATTN_LIB_INTERFACE_PLACEBUFFERS_H

#include "BufferLifetimes.h"

namespace attn::cpu {

/// A buffer of `bytes` times all `factors` bytes.
struct SizedBuffer {
  mlir::memref::AllocOp alloc;
  Lifetime life;
  int64_t bytes;
  llvm::SmallVector<mlir::Value> factors;
};

/// A buffer, and how many units of its arena are in front of it.
struct Place {
  mlir::memref::AllocOp alloc;
  int64_t offset;
};

/// Memory of `units` units, each of `unitBytes` times all `factors` bytes,
/// rounded up to the alignment.
struct Arena {
  llvm::SmallVector<mlir::Value> factors;
  int64_t unitBytes = 1, units = 0;
  /// Of the largest two buffers that are needed at the same time.
  int64_t unitsOfTwo = 0;
  llvm::SmallVector<Place> places;
};

/// Arenas at the same place are never needed at the same time.
using SharedArenas = llvm::SmallVector<Arena>;

/// In the order of each one's first buffer.
std::vector<SharedArenas> placeBuffers(llvm::ArrayRef<SizedBuffer> buffers);

} // namespace attn::cpu

#endif
