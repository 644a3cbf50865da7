// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the symbols of a mask, and bounds that follow from them. All
// integers are of index type.
#ifndef ATTN_DIALECT_ATTN_UTILS_MASKSYMBOLS_H
#define ATTN_DIALECT_ATTN_UTILS_MASKSYMBOLS_H

#include "attn/Analysis/MaskBounds.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// The value of each symbol (variable id) that the ranges or the formula use.
/// Each must be of index type and dominate the insertion point.
struct SymbolValues {
  llvm::DenseMap<int, mlir::Value> values;

  SymbolValues() = default;
  /// Both lengths, and what the mask operands hold for the symbols that load
  /// one; the rows of the tile, where it has some, are still to be set.
  SymbolValues(const MaskContext &context, mlir::Value queryLength,
               mlir::Value keyLength, mlir::ValueRange maskOperands);

  void set(int variable, mlir::Value value) { values[variable] = value; }
  /// Fatal error if the symbol has no value: a mistake of the calling pass.
  mlir::Value lookup(const MaskContext &context, int variable) const;
};

/// Does `linear` (or `formula`, or a bound of `ranges`) use this symbol?  For
/// loading only what is needed.
bool usesSymbol(const KeyRanges &ranges, int variable);
bool usesSymbol(const MaskContext &context, const Formula &formula,
                int variable);

/// Half-open: visit [begin, end), of which [fullBegin, fullEnd) is full, and
/// begin <= fullBegin <= fullEnd <= end always.  In units of TK keys.
struct KeyBlockBounds {
  mlir::Value begin, fullBegin, fullEnd, end;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_MASKSYMBOLS_H
