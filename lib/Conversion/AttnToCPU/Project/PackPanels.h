// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies parts of a weight as panels, whose columns lie side by side.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PACKPANELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PACKPANELS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Rows [row, row + depth) of the panels, and columns [column, columns) of a
/// matrix, or of one that is transposed. Where the schedule multiplies pairs, a
/// row of the panels has those of two rows of the weight.
struct WeightPart {
  Value matrix;
  bool transposed;
  Value row, depth, column, columns;
};

/// Where vector `v` of row `d` of panel `panel` goes.
using StoreInPanel =
    llvm::function_ref<void(Value vector, Value panel, Value d, int64_t v)>;

/// Visits a part, the rows of all its panels before the next row where they
/// lie so in memory. Columns behind the last one are 0, and so are rows.
void packPanels(KernelBuilder &k, const WeightPart &part, StoreInPanel store);

/// The body of attn.pack_panels.
void emitPackPanels(KernelBuilder &k, Value weight, bool transposed,
                    Value panels);

/// A size of a matrix.
Value sizeOf(KernelBuilder &k, Value matrix, int64_t dim);
/// The rows of panels of a weight with `depth` rows.
Value panelRows(KernelBuilder &k, Value depth);
/// The columns of a vector that begins with `column` that exist.
Value maskBehind(KernelBuilder &k, Value column, Value columns);
/// The numbers of a vector of pairs that begins with pair `pair` that exist.
Value maskOfPairs(KernelBuilder &k, Value pair, Value numbers);
/// How many of `rows` pairs from `pair` on have both numbers, in whole vectors.
Value wholePairs(KernelBuilder &k, Value pair, Value rows, Value numbers);

} // namespace attn::cpu

#endif
