// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of keys and values in the form that the products of a schedule read, and
// products of tiles that read them.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PREFILL_STAGEROWS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PREFILL_STAGEROWS_H

#include "Score/ScoreTile.h"

namespace attn::cpu {

/// The values of a tile as the schedule's products read them. They take the
/// place of staged keys: scores of the tile come first.
Value stageValues(KernelBuilder &k, const StateLayout &layout, Value state,
                  Value value);

/// The rows of `tile` as they are computed with: where memory holds a narrower
/// type, a copy in the state.
Value stageRows(KernelBuilder &k, const StateLayout &layout, Value state,
                Value tile);
/// Copies rows, and converts them.
void copyRows(KernelBuilder &k, Value from, Value to, Value count, int64_t dim);

/// Rewrites the keys of `tile` as the schedule's products read them.
void stageKeys(KernelBuilder &k, const StateLayout &layout, TileOperands &tile);

/// The keys of a tile in pairs, 0 behind the end of a row and behind the last
/// key up to the register tile's rows: what a product may read without leaving
/// the memory of the keys. Rows without a remainder are copied only where
/// there are fewer keys than that.
Value stagePaddedKeys(KernelBuilder &k, const StateLayout &layout, Value state,
                      Value key);
/// The values of a tile, transposed: row d holds the pairs of keys 2 r and 2 r
/// + 1; 0 behind the last key up to a multiple of 32, and behind the last d up
/// to one of 16.
Value stageTransposed(KernelBuilder &k, const StateLayout &layout, Value state,
                      Value value);
/// Whether those of the first `count` keys are finite.
Value allFiniteTransposed(KernelBuilder &k, const StateLayout &layout,
                          Value transposed, Value count);

/// accumulator = a * accumulator + weights * value of query block p for the
/// keys [begin, end); `transposed` are the values.
void emitContextOfTiles(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value transposed, Value p, Value begin,
                        Value end);

} // namespace attn::cpu

#endif
