// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sweep over the pairs of a query block in a step of a gradient.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_WEIGHPAIRS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_WEIGHPAIRS_H

#include "GradKernels.h"
#include "Score/ScoreTile.h"

namespace attn::cpu {

/// The pairs of query block p and keys [begin, end): rows of two states, of
/// which key 0 has row `weights`, or `slopes`.
struct PairRows {
  Value p, begin, end, queries, weights, cotangents, slopes;
};

/// Scores become p, and cotangents of weights ds by the scores in front of the
/// score function; both are 0 for excluded pairs. All sums of the chain get
/// what is theirs.
void weighPairs(KernelBuilder &k, const GradLayout &layout,
                const GradStep &step, ScoreTile &scores, const PairRows &rows);

} // namespace attn::cpu

#endif
