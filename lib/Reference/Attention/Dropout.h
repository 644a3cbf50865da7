// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which weights are dropped: Philox 4x32-10 as docs/Spec.md has it, one pair at
// a time.
#ifndef ATTN_LIB_REFERENCE_ATTENTION_DROPOUT_H
#define ATTN_LIB_REFERENCE_ATTENTION_DROPOUT_H

#include "Interpreter.h"

namespace attn::reference {

class Dropout {
public:
  /// Of nothing.
  Dropout() = default;
  Dropout(double probability, int64_t seed);

  /// What a weight is multiplied with; a dropped one is 0 whatever it was.
  double factor(int64_t b, int64_t h, int64_t q, int64_t k) const;
  double weight(double weight, int64_t b, int64_t h, int64_t q,
                int64_t k) const {
    double f = factor(b, h, q, k);
    return f == 0 ? 0 : f * weight;
  }

private:
  uint64_t seed = 0;
  double probability = 0; ///< 0 also where the seed is negative
};

/// That of an op's clause.
template <typename Op> Dropout dropoutOf(Frame &frame, Op op) {
  return op.getSeed() ? Dropout(op.getDropout()->convertToDouble(),
                                frame.tensor(op.getSeed()).elements[0].integer)
                      : Dropout();
}

} // namespace attn::reference

#endif
