// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What both ways to normalise scores, and both kinds of kernel, need.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_NORMALIZATION_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_NORMALIZATION_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// m where it is a number, 0 where no key was seen: differences stay defined.
Value safeMaximum(KernelBuilder &k, Value maximum);

/// Whether lanes have the same bits: on x86, unlike a comparison of numbers, it
/// takes no turn of a multiply-add.
Value haveSameBits(KernelBuilder &k, Value a, Value b);

/// 1 / (1 + e^-x) of scores in units of log2; exactly 0 where one is excluded.
Value sigmoid(KernelBuilder &k, Value score);

/// That, and what is left to 1, both to the last bits.
std::pair<Value, Value> sigmoidAndRest(KernelBuilder &k, Value score);

/// Whether no lane is NaN.
Value allNumbers(KernelBuilder &k, Value vector);

/// Whether the `count` rows of `value` are finite: x * 0 is 0 for these only.
Value allFinite(KernelBuilder &k, Value value, Value count, int64_t valueDim);

} // namespace attn::cpu

#endif
