// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a mask formula to key tiles.
//
// Given the query rows [qlo, qhi) of one tile, which key tiles hold a pair that
// the mask admits (visit), and which hold one that it excludes (notFull)?  A
// tile in `visit` but not in `notFull` is full: it needs no predicate.
//
// Both answers are unions of intervals of key tiles whose ends are formulas
// over run-time symbols: causal with 64 x 64 tiles gives
//
//   visit    kt in [0 .. min(floor((qhi - 1)/64), floor((Skv - 1)/64))]
//   notFull  kt in [ceil((qlo - 62)/64) .. ] or kt in [ceil((Skv - 63)/64) ..]
//
// The method is the exact projection of a disjunctive normal form.  It is sound
// by construction: whatever it cannot decide makes a set larger, and the set is
// then marked as not exact.  A larger `visit` costs an empty tile, a larger
// `notFull` costs a predicate; no result changes.
//
// Units: bounds count key tiles of TileSizes::key keys; qlo and qhi count query
// rows.  The tile sizes are an argument of the analysis, so one formula serves
// the tile of a thread block and the register block inside it.
//
// Source: Pugh, "The Omega test" (1991): exact shadow, dark shadow.

#ifndef ATTN_ANALYSIS_MASKBOUNDS_H
#define ATTN_ANALYSIS_MASKBOUNDS_H

#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"
#include <optional>
#include <string>
#include <vector>

namespace attn {

struct TileSizes {
  int64_t query = 0; ///< TQ: qhi - qlo <= TQ.  0: no bound is known.
  int64_t key = 0;   ///< TK > 0: key tile kt holds the keys [kt*TK, kt*TK+TK).
};

struct BoundsOptions {
  /// [qlo, qhi) lies inside one tile [i*TQ, i*TQ + TQ).  Then a block number
  /// such as floor(q/c) is the same for all rows if TQ divides c.  Rows cut at
  /// document borders still satisfy this; a free choice of qlo does not.
  bool rowsInOneTile = true;
  /// The tile operation itself handles a last key tile with fewer than TK keys:
  /// do not count the missing keys k >= Skv as excluded pairs.
  bool ignoreRaggedTail = false;
  /// Units of work, about ten multiplications each, after which the analysis
  /// stops: what is not decided by then counts as visited and as not full.
  /// Enough for 5 different terms under `and`; masks people use need a
  /// fiftieth.
  int64_t work = 1200000;
};

/// Lower bound: kt >= ceil(expression / divisor).
/// Upper bound: kt <= floor(expression / divisor).
struct KeyBound {
  Linear expression;
  int64_t divisor;
  friend bool operator==(const KeyBound &a, const KeyBound &b) {
    return a.divisor == b.divisor && a.expression == b.expression;
  }
};

/// The key tiles between the largest lower and the smallest upper bound
/// (inclusive) if all guards hold, and of these the ones that pass all tests.
struct KeyInterval {
  std::vector<KeyBound> lower, upper;
  std::vector<Linear> guards; ///< each >= 0, over symbols
  std::vector<Linear> tests;  ///< each >= 0, over kt and symbols
  bool exact = true;
};

/// A union of intervals, which may overlap and come in no order.
struct KeySet {
  std::vector<KeyInterval> parts;
  /// Every member holds such a pair.  False: an over-approximation.
  bool exact = true;
};

/// How loops over the visited tiles can look; see MaskLoops.h.
enum class KeyLoopForm {
  None,  ///< Nothing is visited, whatever the symbols.
  Loops, ///< An edge loop, a full loop, an edge loop.
  Walk   ///< Runs of tiles of one kind, found at run time.
};

struct KeyRanges {
  /// The context of the formula plus the divisions that the bounds use: all
  /// Linears in here refer to it.  Symbols keep their variable ids.
  MaskContext context;
  TileSizes tiles;
  BoundsOptions options;
  /// Tiles with an admitted pair; tiles with an excluded one.  Parts of notFull
  /// that hold no visited tile are left out.
  KeySet visit, notFull;
  /// The mask has too many conjunctions, or the work was spent: bounds are
  /// coarser for it.
  bool gaveUp = false;
  /// What was done, in the units of BoundsOptions::work.
  int64_t work = 0;

  KeyLoopForm form = KeyLoopForm::Walk;
  /// For Loops: the parts of notFull (by index) that begin at or before the
  /// first visited tile, and the others, which end at or after the last.
  std::vector<unsigned> head, tail;
  /// No visited tile is ever full.
  bool neverFull = false;
};

/// Finds the key tiles of a query tile.  Limits count work, not time: every run
/// gives the same result.
KeyRanges analyzeMask(const MaskContext &context, const Formula &mask,
                      TileSizes tiles, BoundsOptions options = {});

/// True only if the mask is proved to admit no pair, for any lengths and any
/// symbol values that the facts allow.  Such a mask is an error of its author.
bool isNeverVisible(const MaskContext &context, const Formula &mask);

/// Is tile `keyTile` in `set`?  `values` is indexed by variable, as for
/// MaskContext::evaluate; its entry KeyTile is ignored.
bool contains(const MaskContext &context, const KeySet &set,
              llvm::ArrayRef<int64_t> values, int64_t keyTile);

/// One line per interval: `kt in [max(..) .. min(..)]  if g >= 0`.
std::string toString(const MaskContext &context, const KeySet &set);
/// Both sets with headings, for --explain and for tests.
std::string toString(const KeyRanges &ranges);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKBOUNDS_H
