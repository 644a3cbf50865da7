// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that choose the register tile of a kernel: tables of conditions and
// sizes, of which the first row that fits counts. A rule for another processor
// is another row.
#ifndef ATTN_LIB_SCHEDULE_RULES_H
#define ATTN_LIB_SCHEDULE_RULES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn::schedule {

/// Whether the processor starts one multiply-add per cycle.
inline bool startsOneFma(TargetAttr target) {
  return target.getRegisters() >= 32 && target.getChains() <= 4;
}

/// What a kernel of kind prefill computes.
struct PrefillKernel {
  Products products;
  /// An attention, or rows (a projection, a state) without one.
  bool isAttention;
  bool masked;
  /// Queries of a head; dynamic if unknown.
  int64_t queries;
  /// An attention, and not its gradient.
  bool isForward = false;
};

/// Sizes of its register tile, turns of the inner loops, queries of a tile.
struct PrefillSizes {
  int64_t rows, vectors, unroll, queries;
};
const PrefillSizes &prefillSizes(TargetAttr target,
                                 const PrefillKernel &kernel);

/// Sizes of the register tile of a projection, turns of its inner loop, rows of
/// a tile, and products that are added before the next tile of the weight.
struct ProjectSizes {
  int64_t rows, vectors, unroll, tileRows, depth;
};
const ProjectSizes &projectSizes(TargetAttr target, Products products);

/// What a kernel of kind decode computes.
struct DecodeKernel {
  /// Queries of a group of heads that share keys: the most that a state can
  /// hold, and those that there usually are.
  int64_t mostQueries, usualQueries;
  int64_t keyBits, valueBits;
  /// Bytes of a row of keys or values, the longer one.
  int64_t rowBytes;
  bool pairs;
};

/// Sizes of its register tile; keys of a tile, between two limits, that fill so
/// many quarters of the level-1 cache; queries of a block, and of a vector.
struct DecodeSizes {
  int64_t rows, vectors, unroll;
  int64_t leastKeys, mostKeys, cacheQuarters;
  int64_t block, interleave;
};
const DecodeSizes &decodeSizes(TargetAttr target, const DecodeKernel &kernel);

/// Queries of a block in kind decode, unless there are enough for a large one.
constexpr int64_t usualBlock = 4, largeBlock = 8;
/// Keys of an item of kind decode.
constexpr int64_t decodeSplitKeys = 1024;

} // namespace attn::schedule

#endif
