// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles of bf16: C[16 x 16] += A[16 x 32] * B[32 x 16], where B has
// the numbers of two of its rows side by side in pairs. A tile is a vector of
// 16 x 16 f32 or of 16 x 16 pairs; attn-lower-tile-products picks the code.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_TILEPRODUCTS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_TILEPRODUCTS_H

#include "StateLayout.h"

namespace attn::cpu {

/// Rows of every tile, and pairs or f32 in a row of it.
constexpr int64_t tileSize = 16;
/// Numbers of bf16 in a row of a tile.
constexpr int64_t tileNumbers = 2 * tileSize;

Value zeroTile(KernelBuilder &k);
/// The pairs from [row][column] on, of a matrix of bf16 or of pairs (f32).
Value loadTile(KernelBuilder &k, Value matrix, Value row, Value column);
/// Sums, to [row][column] and behind.
void storeTile(KernelBuilder &k, Value tile, Value matrix, Value row,
               Value column);
/// c + a * b.
Value tileProduct(mlir::OpBuilder &b, mlir::Location loc, Value a, Value x,
                  Value c);
/// Whether `op` is what tileProduct makes.
bool isTileProduct(mlir::vector::ContractionOp op);

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

/// context = a * context + weights * value of panel p for the keys [begin,
/// end); `transposed` are the values.
void emitContextOfTiles(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value transposed, Value p, Value begin,
                        Value end);

} // namespace attn::cpu

#endif
