// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of bf16 in pairs, as KernelBuilder::product takes them: a vector of
// f32 each of whose lanes holds two, the first in the lower half of its bits.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PAIRS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PAIRS_H

#include "KernelBuilder.h"

namespace attn::cpu {

/// The number of pairs that hold `count` numbers.
Value pairCount(KernelBuilder &k, Value count);

/// `lanes` numbers of a row as they are, 0 where `mask` (may be null) is false.
Value loadBF16(KernelBuilder &k, Value memref, Value row, Value column,
               Value mask);

/// `lanes` pairs of a row from number `column` on; with a mask of numbers.
Value loadPairs(KernelBuilder &k, Value memref, Value row, Value column,
                Value mask);

/// Pairs as the numbers that they hold.
Value asNumbers(KernelBuilder &k, Value pairs);

/// The numbers [row][column] and [row][column + 1] in every lane.
Value broadcastPair(KernelBuilder &k, Value memref, Value row, Value column);
/// The number [row][column] and 0, as a scalar.
Value lastPair(KernelBuilder &k, Value memref, Value row, Value column);

/// Two vectors of f32, rounded.
Value packPairs(KernelBuilder &k, Value first, Value second);
/// One number of each pair as f32.
Value unpackPairs(KernelBuilder &k, Value pairs, bool second);
/// What turns dot products of queries, which then have the scale's sign, into
/// scores in log2. Never 0, because 0 would make no number of -inf.
double pairFactor(double scale);
/// The pairs with both signs changed.
Value negatePairs(KernelBuilder &k, Value pairs);

} // namespace attn::cpu

#endif
