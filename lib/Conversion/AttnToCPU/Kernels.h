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

/// 1 / (1 + e^-x) of scores in units of log2; exactly 0 where one is excluded.
Value sigmoid(KernelBuilder &k, Value score);

/// The values of a tile as the schedule's products read them. They take the
/// place of staged keys: scores of the tile come first.
Value stageValues(KernelBuilder &k, const StateLayout &layout, Value state,
                  Value value);

/// Rewrites the keys of `tile` as the schedule's products read them.
void stageKeys(KernelBuilder &k, const StateLayout &layout, TileOperands &tile);

/// Whether no lane is NaN.
Value allNumbers(KernelBuilder &k, Value vector);

/// Whether the `count` rows of `value` are finite: x * 0 is 0 for these only.
Value allFinite(KernelBuilder &k, Value value, Value count, int64_t valueDim);

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

/// m where it is a number, 0 where no key was seen: differences stay defined.
Value safeMaximum(KernelBuilder &k, Value maximum);

/// Writes context / sum, and the logarithm of the sum if `lse` is not null.
void emitFinalize(KernelBuilder &k, const StateLayout &layout, Value state,
                  Value out, Value lse);

/// Writes context / sum of the first state minus lambda (of the builder's type)
/// times that of the second.
void emitFinalizeDifference(KernelBuilder &k, const StateLayout &layout,
                            Value first, Value second, Value lambda, Value out);

/// Writes acc, m and l of every query that the rows of `part` are for.
void emitSaveState(KernelBuilder &k, const StateLayout &layout, Value state,
                   Value part);

/// Writes weights and scores of one tile; either may be null.
void emitWeigh(KernelBuilder &k, const StateLayout &layout,
               const TileOperands &operands, Value weights, Value scores,
               std::optional<ScoresStage> stage, double scale);

/// out = input * weight + bias (may be null). The weight is a matrix or panels;
/// the scratch has projectScratchRows x panel elements of the builder's type.
void emitProjectTile(KernelBuilder &k, Value input, Value weight, Value bias,
                     Value out, Value scratch);
int64_t projectScratchRows(ScheduleAttr schedule);

} // namespace attn::cpu

#endif
