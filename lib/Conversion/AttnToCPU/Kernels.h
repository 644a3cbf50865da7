// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of the CPU kernels, one function per tile op. All matrices are
// memrefs with an innermost stride of 1.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELS_H

#include "ScoreTile.h"

namespace attn::cpu {

/// Packs scale * log2(e) * query, transposed, and clears the state.
void emitInitState(KernelBuilder &k, const StateLayout &layout, Value state,
                   Value query, double scale);

/// One step of online softmax. `strict` is on for edge tiles: values that are
/// not finite must not reach a row that does not see them.
void emitOnline(KernelBuilder &k, const StateLayout &layout,
                const TileOperands &tile, Value value, bool strict);

/// Adds the state `from` to `into`.
void emitMerge(KernelBuilder &k, const StateLayout &layout, Value into,
               Value from);

/// Adds one score (of type f32) to the sums of a state's queries.
void emitAddSink(KernelBuilder &k, const StateLayout &layout, Value state,
                 Value sink);

/// m where it is a number, 0 where no key was seen: differences stay defined.
Value safeMaximum(KernelBuilder &k, Value maximum);

/// Writes context / sum, and the logarithm of the sum if `lse` is not null.
void emitFinalize(KernelBuilder &k, const StateLayout &layout, Value state,
                  Value out, Value lse);

/// Writes weights and scores of one tile; either may be null.
void emitWeigh(KernelBuilder &k, const StateLayout &layout,
               const TileOperands &tile, Value weights, Value scores,
               std::optional<ScoresStage> stage, double scale);

/// out = input * weight + bias (may be null).
void emitProjectTile(KernelBuilder &k, Value input, Value weight, Value bias,
                     Value out);

} // namespace attn::cpu

#endif
