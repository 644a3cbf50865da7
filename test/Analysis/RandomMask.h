// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks for the test of the analysis.
//
// Random masks in the classes of the research note, with random lengths and
// scalars, small enough for brute force.

#ifndef ATTN_TEST_ANALYSIS_RANDOMMASK_H
#define ATTN_TEST_ANALYSIS_RANDOMMASK_H

#include "attn/Analysis/MaskBounds.h"
#include <functional>
#include <random>

namespace attn::test {

/// Of a pair, in formulas.
inline const Linear q = Linear::query(), k = Linear::key();

struct Random {
  std::mt19937 engine;
  /// In [low, high].
  int64_t operator()(int64_t low, int64_t high) {
    return low + int64_t(engine() % uint64_t(high - low + 1));
  }
};

enum class MaskClass {
  Different, ///< `and` of depth + 1 different terms
  And,       ///< `and`, terms may repeat, with dilation
  AndOr,     ///< and, or
  AndOrNot,  ///< and, or, not
  Predicates ///< and, or, not of random linear predicates
};

/// Queries and keys in packed documents: document d owns the query rows
/// [queries[d], queries[d + 1]) and the keys [keys[d], keys[d + 1]).
struct Documents {
  std::vector<int64_t> queries, keys;
  int of(int64_t query) const;
};

// Terms as formulas; the dialect's term attributes are tested elsewhere.
Formula causal(const Linear &offset);
Formula window(const Linear &left, const Linear &right);
Formula prefix(const Linear &count); // also sink, key_length
Formula chunked(MaskContext &context, int64_t size);
Formula dilated(MaskContext &context, int64_t step);

/// One mask, the tile sizes it is analyzed at, and the current shape.
class RandomMask {
public:
  RandomMask(Random &random, MaskClass maskClass, int depth);
  RandomMask(const RandomMask &) = delete;

  /// New lengths, documents and scalars.
  void drawShape();
  /// Sets the symbols of the query rows [begin, end).
  void setRows(int64_t begin, int64_t end);
  /// The query tiles of the current shape.
  std::vector<std::pair<int64_t, int64_t>> rowTiles();
  /// [begin, end) cut at document borders.
  std::vector<std::pair<int64_t, int64_t>> cutRows(int64_t begin,
                                                   int64_t end) const;
  /// Brute force.
  bool sees(int64_t q, int64_t k);
  /// The value of the only opaque literal.
  bool sameDocument(int64_t q, int64_t k) const;

  MaskContext context;
  TileSizes tiles;
  BoundsOptions options;
  Formula formula;     ///< documents as an opaque literal
  Formula perDocument; ///< documents as the key range of one document
  bool hasDocuments = false;
  int64_t numQueries = 0, numKeys = 0; ///< Sq, Skv
  std::vector<int64_t> values;         ///< by variable

private:
  struct Pair {
    Formula formula, perDocument;
  };
  Linear parameter(const char *name, int64_t low, int64_t high);
  Linear randomIndex(int depth);
  Pair randomTerm(bool different);
  Pair documentTerm();
  Pair randomPredicate();
  Pair binary(bool isAnd, const Pair &a, const Pair &b);
  Pair randomTree(MaskClass maskClass, int depth);

  Random &random;
  bool constantsOnly;     ///< parameters are numbers, not symbols
  unsigned termsUsed = 0; ///< bit set of kinds
  unsigned numOperands = 0;
  Documents documents;
  int firstDocumentSymbol = 0; ///< begin and end for the first and last row
  std::vector<std::function<void()>> draws;
};

} // namespace attn::test

#endif // ATTN_TEST_ANALYSIS_RANDOMMASK_H
