// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of all types as doubles, and back with PTX's roundings.
#ifndef ATTN_TOOLS_PTXSIM_NUMBERS_H
#define ATTN_TOOLS_PTXSIM_NUMBERS_H

#include "Program.h"

namespace attn::ptx {

enum class Rounding { Nearest, Zero, Down, Up, NearestAway };

/// The value of one float of `type`.
double realOf(Type type, uint64_t bits);

/// The float of `type` nearest to `value` as `rounding` says. All NaNs are one.
uint64_t bitsOf(Type type, double value, Rounding rounding = Rounding::Nearest);

/// Zero with its sign in place of a subnormal float of `type`.
double flush(Type type, double value);

/// The sum with its last bit set where it is not exact, so that rounding it to
/// a narrower type is rounding the exact sum.
double sumToOdd(double a, double b);

/// The same of an integer.
double integerToOdd(bool negative, uint64_t magnitude);

/// `value` as an integer of `type`; what is too large becomes the largest.
uint64_t integerOf(Type type, double value, Rounding rounding);

} // namespace attn::ptx

#endif
