// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the queries of a tile lie in query blocks.
//
// Lengths are mostly multiples of powers of two. Where the vectors of a query
// block are no such number, query blocks of one vector less come last, as many
// as it takes to leave no vector without a query:
//
//   query blocks of 3 vectors of 8       32 queries     16 + 16
//                                 128 queries     24 + 24 + 24 + 24 + 16 + 16
//
// All have the place of a whole one in the state.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PANELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PANELS_H

#include "KernelBuilder.h"

namespace attn::cpu {

class QueryBlocks {
public:
  QueryBlocks(KernelBuilder &k, Value queries);

  Value count;

  /// First query of query block p, and the first behind it, counted from the
  /// tile's.
  Value first(Value p) const;
  Value end(Value p) const;
  /// Whether query block p has all its vectors; null where all query blocks do.
  Value isWhole(Value p) const;

private:
  KernelBuilder &k;
  Value queries, whole; // number of whole query blocks, or null
};

/// Splits `total` rows evenly into blocks of at most `rows`: at most two sizes,
/// never a small remainder. {begin, end, size of each block}.
struct RowBlocks {
  int64_t begin, end, size;
};
llvm::SmallVector<RowBlocks> balancedBlocks(int64_t total, int64_t rows);

} // namespace attn::cpu

#endif
