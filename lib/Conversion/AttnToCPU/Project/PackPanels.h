// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies parts of a weight as panels, whose columns lie side by side.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PACKPANELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PACKPANELS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Rows [row, row + depth) and columns [column, columns) of a matrix, or of one
/// that is transposed.
struct WeightPart {
  Value matrix;
  bool transposed;
  Value row, depth, column, columns;
};

/// Where vector `v` of row `d` of panel `panel` goes.
using StoreInPanel =
    llvm::function_ref<void(Value vector, Value panel, Value d, int64_t v)>;

/// Visits a part, the rows of all its panels before the next row where they
/// lie so in memory. Columns behind the last one are 0.
void packPanels(KernelBuilder &k, const WeightPart &part, StoreInPanel store);

/// The body of attn.pack_panels.
void emitPackPanels(KernelBuilder &k, Value weight, bool transposed,
                    Value panels);

/// A size of a matrix.
Value sizeOf(KernelBuilder &k, Value matrix, int64_t dim);
/// The columns of a vector that begins with `column` that exist.
Value maskBehind(KernelBuilder &k, Value column, Value columns);

} // namespace attn::cpu

#endif
