// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which weights attn.dropout drops: attn/Dialect/Attn/Utils/Philox.h.
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
