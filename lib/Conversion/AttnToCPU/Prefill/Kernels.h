// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of the kernels of kind prefill, one function per tile op. All
// matrices are memrefs with an innermost stride of 1.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PREFILL_KERNELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PREFILL_KERNELS_H

#include "Score/ScoreTile.h"
#include "States/StateRows.h"

namespace attn::cpu {

/// Packs scale * log2(e) * query, transposed, and clears the state.
void emitInitState(KernelBuilder &k, const StateLayout &layout, Value state,
                   Value query, double scale);

/// One step of online softmax for each map, with the same values. `strict` is
/// on for edge tiles: values that are not finite must not reach a row that does
/// not see them.
void emitOnline(KernelBuilder &k, const StateLayout &layout,
                llvm::ArrayRef<TileOperands> maps, Value value, bool strict);

/// Adds the state `from` to `into`.
void emitMerge(KernelBuilder &k, const StateLayout &layout, Value into,
               Value from);

/// Adds one score (of type f32) to the sums of a state's queries.
void emitAddSink(KernelBuilder &k, const StateLayout &layout, Value state,
                 Value sink);

/// Writes accumulator / sum, and the logarithm of the sum if `lse` is not null.
void emitFinalize(KernelBuilder &k, const StateLayout &layout, Value state,
                  Value out, Value lse);

/// Writes accumulator / sum of the first state minus lambda (of the builder's
/// type) times that of the second.
void emitFinalizeDifference(KernelBuilder &k, const StateLayout &layout,
                            Value first, Value second, Value lambda, Value out);

/// Writes acc, m and l of every query that the rows of `part` are for.
void emitSaveState(KernelBuilder &k, const StateLayout &layout, Value state,
                   Value part);

/// Writes weights and scores of one tile; either may be null.
void emitWeigh(KernelBuilder &k, const StateLayout &layout,
               const TileOperands &operands, Value weights, Value scores,
               std::optional<ScoresStage> stage, double scale);

/// Writes m, l and acc of a state of kind prefill.
void emitReturnState(KernelBuilder &k, const StateLayout &layout, Value state,
                     const StateRows &rows);

} // namespace attn::cpu

#endif
