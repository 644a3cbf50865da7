// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of bf16 and of their sums (Products.h) in the memory of kernels.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_TILEPRODUCTS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_TILEPRODUCTS_H

#include "KernelBuilder.h"
#include "attn/Conversion/VectorToCPU/Products.h"

namespace attn::cpu {

Value zeroTile(KernelBuilder &k);
/// The pairs from [row][column] on, of a matrix of bf16 or of pairs (f32). What
/// `passes` is used once, and does not drive others out of the level-1 cache.
Value loadTile(KernelBuilder &k, Value matrix, Value row, Value column,
               bool passes = false);
/// Sums, from [row][column] on.
Value loadSums(KernelBuilder &k, Value matrix, Value row, Value column);
/// Sums, to [row][column] and behind.
void storeTile(KernelBuilder &k, Value tile, Value matrix, Value row,
               Value column);

} // namespace attn::cpu

#endif
