// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which weights attn.dropout drops.
//
// The generator is Philox 4x32-10 (Salmon, Moraes, Dror and Shaw: Parallel
// random numbers: as easy as 1, 2, 3; SC 2011). The seed is its key, lower half
// first; the counter of batch entry b, head h, query q and key k is
// (k / 4, q, h, b), and word k % 4 of what it gives belongs to the pair. A pair
// whose word is below probability * 2^32 is dropped.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_DROPOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_DROPOUT_H

#include "TileOperands.h"

namespace attn::cpu {

/// The pairs of one query block: its first query, and the keys [begin, end) of
/// a tile that begins at key `keyBegin`.
struct DropoutPlace {
  Value firstQuery, keyBegin, begin, end;
};

/// Calls `body` for each key of the tile, with the first of `lanes` queries of
/// the block, and what their weights are multiplied with: 0, or one over the
/// probability to stay.
void eachFactor(
    KernelBuilder &k, const TileDropout &dropout, const DropoutPlace &place,
    llvm::function_ref<void(Value key, Value column, Value factor)> body);

/// Multiplies rows of `state`: key 0 has row `weights`.
void dropWeights(KernelBuilder &k, const TileDropout &dropout,
                 const DropoutPlace &place, Value state, Value weights);

} // namespace attn::cpu

#endif
