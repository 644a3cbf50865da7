// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Key ranges and masks to arith and scf.
//
// Turns the result of the mask analysis into IR: loops over the key tiles of a
// query tile, bounds alone, and the predicate of one pair.
//
// Before: rows [%qlo, %qhi) of a causal mask, 64 x 64 tiles, ranges
//
//   visit     kt in [0 .. min(floor((qhi - 1)/64), floor((Skv - 1)/64))]
//   not full  kt in [ceil((qlo - 62)/64) .. inf], [ceil((Skv - 63)/64) .. inf]
//
// After, form Loops (three loops at most; loops that cannot run are not made):
//
//   %tiles = arith.ceildivsi %skv, %c64
//   %end   = ...                       // min((qhi - 1)/64 + 1, %tiles)
//   %full  = ...                       // min(ceil((qlo-62)/64), ceil(..)), >=
//   0 %0 = scf.for %kt = %c0 to %full step %c1 iter_args(%s = %init) {
//     body(%kt, edge = false, %s)
//   }
//   %1 = scf.for %kt = %full to %end step %c1 iter_args(%s = %0) {
//     body(%kt, edge = true, %s)
//   }
//
// After, form Walk (attention sinks, `not`, tests per tile): at %kt, find out
// in which parts the tile lies and where the next part begins or ends:
//
//   %r:2 = scf.while (%kt = %first, %s = %init) {
//     scf.condition(%kt < %last) %kt, %s
//   } do {
//     %next = min(borders behind %kt)
//     %t = scf.if %visited {
//       %u = scf.if %notFull {  scf.for %kt to %next { body(edge = true) }
//       } else {                scf.for %kt to %next { body(edge = false) } }
//       scf.yield %u
//     } else { scf.yield %s }
//     scf.yield %next, %t
//   }
//
// All integers are of index type and count key tiles, rows or keys.  The
// emitted bounds never leave [0, ceil(Skv/TK)), whatever the symbols hold.
// DESIGN: arith, not affine: affine.for refuses bounds that are loaded.

#ifndef ATTN_DIALECT_ATTN_UTILS_MASKLOOPS_H
#define ATTN_DIALECT_ATTN_UTILS_MASKLOOPS_H

#include "attn/Dialect/Attn/Utils/MaskSymbols.h"
#include <optional>

namespace attn {

/// Makes the body for one key tile: gets the tile number, whether it needs the
/// predicate (edge) and the loop-carried values; returns their next values.
/// Called once per emitted loop, so up to three times.
using KeyTileBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &, mlir::Location, mlir::Value keyTile, bool edge,
    mlir::ValueRange iterArgs)>;

/// Half-open: key tiles [begin, end).
struct KeyTileRange {
  mlir::Value begin, end;
};

/// Loops over the visited key tiles (those inside `part`, if given) in
/// ascending order; returns the final loop-carried values.
llvm::SmallVector<mlir::Value>
emitKeyLoops(mlir::OpBuilder &builder, mlir::Location loc,
             const KeyRanges &ranges, const SymbolValues &symbols,
             mlir::ValueRange initArgs, KeyTileBody body,
             std::optional<KeyTileRange> part = std::nullopt);

/// The same for a run of key tiles at a time, all with the predicate (edge) or
/// all without; it may be empty.
using KeyRunBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &, mlir::Location, KeyTileRange run, bool edge,
    mlir::ValueRange iterArgs)>;
llvm::SmallVector<mlir::Value>
emitKeyRuns(mlir::OpBuilder &builder, mlir::Location loc,
            const KeyRanges &ranges, const SymbolValues &symbols,
            mlir::ValueRange initArgs, KeyRunBody body,
            std::optional<KeyTileRange> part = std::nullopt);

/// The number of visited key tiles, without a loop over them; null where that
/// is not possible: an over-approximation, many parts.
mlir::Value emitKeyCount(mlir::OpBuilder &builder, mlir::Location loc,
                         const KeyRanges &ranges, const SymbolValues &symbols);

/// The bounds of form Loops (and None, as four zeros); nullopt for form Walk:
/// use the predicate on all of emitHull.
std::optional<KeyBlockBounds> emitKeyBlockBounds(mlir::OpBuilder &builder,
                                                 mlir::Location loc,
                                                 const KeyRanges &ranges,
                                                 const SymbolValues &symbols);

/// The smallest [begin, end) that holds all visited tiles, for every form.
/// begin >= end if there are none.
std::pair<mlir::Value, mlir::Value> emitHull(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             const KeyRanges &ranges,
                                             const SymbolValues &symbols);

/// The value of an integer combination, of index type.
mlir::Value emitLinear(mlir::OpBuilder &builder, mlir::Location loc,
                       const MaskContext &context, const Linear &linear,
                       const SymbolValues &symbols);

/// Reads an opaque literal (not negated), as an i1; gets the values of its
/// arguments.
using OpaqueEmitter = llvm::function_ref<mlir::Value(
    const FormulaNode &literal, mlir::ValueRange arguments)>;

/// Does row q see key k, two of the symbols?  An i1.  The part that does not
/// depend on k is computed apart from the part that does, so that it can leave
/// a loop over k.
mlir::Value emitPredicate(mlir::OpBuilder &builder, mlir::Location loc,
                          const MaskContext &context, const Formula &formula,
                          const SymbolValues &symbols, OpaqueEmitter opaque);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_MASKLOOPS_H
