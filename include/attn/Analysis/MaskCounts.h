// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many key tiles the query tiles of a mask visit, all together.
//
// Asking for each tile takes as long as there are tiles: with 10^8 queries and
// keys some 10^12. But the bounds of a KeySet are linear in the number of the
// query tile, floors aside, and a floor is linear where that number rises by a
// multiple of its period. So the sum is one over a few classes of query tiles,
// in each of which lengths are linear between the places where two bounds
// cross.
//
// Example: causal, tiles of one row and one key, n rows and keys. Row t visits
// [0, min(t, n - 1)], which is t + 1 keys for all t: one class without a
// crossing, n + n * (n - 1) / 2 keys.

#ifndef ATTN_ANALYSIS_MASKCOUNTS_H
#define ATTN_ANALYSIS_MASKCOUNTS_H

#include "attn/Analysis/MaskBounds.h"

namespace attn {

/// Query tiles [begin, end) of tiles.query rows each. Sequences are shorter
/// than MaskContext::MaxLength.
struct QueryTileRange {
  int64_t begin, end;
  /// Of the last tile, if it has fewer rows than tiles.query; else 0.
  int64_t lastRows = 0;
};

/// The number of pairs of a query tile and one of its key tiles in `set`.
/// `values` is indexed by variable, as for MaskContext::evaluate, and has all
/// symbols but the tile's rows; key tiles end at Skv. Nothing if that would
/// take more than `work` steps, about 10 ns each, of which it subtracts those
/// that it took.
std::optional<int64_t> countTiles(const MaskContext &context, const KeySet &set,
                                  TileSizes tiles, QueryTileRange range,
                                  llvm::ArrayRef<int64_t> values,
                                  int64_t &work);

/// The tiles in both sets.
KeySet intersection(const KeySet &a, const KeySet &b);
/// Those of `set` that are `tile`.
KeySet only(const KeySet &set, int64_t tile);

/// How `linear` changes: by `slope` wherever all variables change by `period`
/// times their rate, which is 0 for those that have none.
struct Quasilinear {
  int64_t period, slope;
};
Quasilinear slopeOf(const MaskContext &context, const Linear &linear,
                    llvm::function_ref<int64_t(int variable)> rate);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKCOUNTS_H
