// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for states that leave their kernel, to be merged with others.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_STATES_STATEROWS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_STATES_STATEROWS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Some rows of a state: two vectors and a matrix.
struct StateRows {
  Value maximum, sum, acc;
};

/// A maximum in units of the natural logarithm, NaN where the sum is, and the
/// factor for the sums of exponentials, which belong to the number before it
/// was rounded to the other unit.
struct NaturalMaximum {
  Value maximum, factor;
};
NaturalMaximum naturalMaximum(KernelBuilder &k, Value maximum, Value sum);

/// The state of both: exactly the other where one has seen no key.
void emitMergeRows(KernelBuilder &k, const StateRows &first,
                   const StateRows &second, const StateRows &merged);

/// Writes acc / l, and m + log l if `lse` is not null.
void emitFinalizeRows(KernelBuilder &k, const StateRows &state, Value out,
                      Value lse);

} // namespace attn::cpu

#endif
