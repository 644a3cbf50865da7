// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random masks of all terms against their definitions.
//
// Unlike mask-bounds-test, which makes formulas itself, this takes them from
// the dialect's attributes. Each mask is analyzed, and on random small shapes
// every key tile is compared with what the definition of docs/SpecMasks.md
// gives. Conjunctions of any set of causal, window, prefix, sink, key_length,
// chunked and document (rows cut at document borders) must be exact, and so
// must documents with positions in them; all others sound. So are masks of
// which half of the numbers are as large as terms may have them.
//
//   mask-terms [random masks per depth = 60] [seed = 1] [masks per set = 3]

#include "TermMask.h"
#include "attn/Analysis/MaskCounts.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace attn;
using namespace attn::test;
using namespace mlir;

namespace {
struct Score {
  long masks = 0, tiles = 0, visible = 0, full = 0;
  long unsound = 0, wrongFormulas = 0, emptyVisited = 0, fullMissed = 0;
  long counts = 0, wrongCounts = 0, givenUp = 0;
  double milliseconds = 0, worst = 0;
};
} // namespace

static bool hasOpaque(const Formula &formula) {
  return formula->kind == FormulaKind::Opaque ||
         llvm::any_of(formula->children, hasOpaque);
}

static void checkTile(const TermMask &mask, const Term &term,
                      const KeyRanges &ranges, int64_t begin, int64_t end,
                      bool cut, Score &score) {
  auto pieces = cut ? mask.pieces(begin, end)
                    : std::vector<std::pair<int64_t, int64_t>>{{begin, end}};
  for (int64_t kt = 0; kt * ranges.tiles.key < mask.shape.keys; ++kt) {
    bool some = false, all = true, visited = false, hole = false;
    int64_t last = std::min((kt + 1) * ranges.tiles.key, mask.shape.keys);
    for (int64_t q = begin; q < end; ++q)
      for (int64_t k = kt * ranges.tiles.key; k < last; ++k) {
        some |= term.sees(q, k);
        all &= term.sees(q, k);
      }
    for (auto [first, next] : pieces) {
      std::vector<int64_t> values = mask.valuesFor(ranges.context, first, next);
      visited |= contains(ranges.context, ranges.visit, values, kt);
      hole |= contains(ranges.context, ranges.notFull, values, kt);
    }
    ++score.tiles;
    score.visible += some;
    score.full += all;
    score.unsound += (some && !visited) || (visited && !hole && !all);
    score.emptyVisited += visited && !some;
    score.fullMissed += all && hole;
  }
}

static void checkFormula(const TermMask &mask, const Term &term,
                         const MaskContext &context, const Formula &formula,
                         Random &random, Score &score) {
  if (hasOpaque(formula) || !mask.shape.keys)
    return;
  for (int i = 0; i < 10; ++i) {
    int64_t q = random(0, mask.shape.queries - 1);
    int64_t k = random(0, mask.shape.keys - 1);
    std::vector<int64_t> values = mask.valuesFor(context, q, q + 1);
    values[Variable::Query] = q;
    values[Variable::Key] = k;
    bool found = context.evaluate(formula, values,
                                  [](unsigned, int64_t, int64_t) -> bool {
                                    llvm_unreachable("no opaque literal");
                                  });
    score.wrongFormulas += found != term.sees(q, k);
  }
}

static Term conjunction(MLIRContext &mlir, const std::vector<Term> &parts) {
  SmallVector<Attribute> all;
  for (const Term &part : parts)
    all.push_back(part.attribute);
  return {AllOfAttr::get(&mlir, all), [=](int64_t q, int64_t k) {
            return llvm::all_of(parts,
                                [&](const Term &t) { return t.sees(q, k); });
          }};
}

/// An `and` of the exact terms whose bits `kinds` has, or of a document and
/// those terms with positions in it.
static Term exactMask(TermMask &mask, MLIRContext &mlir, unsigned kinds,
                      bool inDocument) {
  std::vector<Term> parts;
  if (inDocument)
    parts.push_back(mask.documentTerm());
  for (int kind = 0; kinds >> kind; ++kind)
    if (kinds >> kind & 1)
      parts.push_back(inDocument ? mask.termInDocument(kind)
                                 : mask.exactTerm(kind));
  return conjunction(mlir, parts);
}

/// The closed sum of tiles, which is what counting each gives.
static void checkCounts(const TermMask &mask, const KeyRanges &ranges,
                        Score &score) {
  int64_t last = mask.shape.queries % ranges.tiles.query;
  int64_t count = llvm::divideCeil(mask.shape.queries, ranges.tiles.query);
  KeySet edge = intersection(ranges.visit, ranges.notFull);
  for (const KeySet *set :
       {&ranges.visit, static_cast<const KeySet *>(&edge)}) {
    std::vector<int64_t> values = mask.valuesFor(ranges.context, 0, 1);
    int64_t work = 1 << 24, expected = 0;
    std::optional<int64_t> found = countTiles(
        ranges.context, *set, ranges.tiles, {0, count, last}, values, work);
    for (int64_t tile = 0; tile < count; ++tile) {
      values = mask.valuesFor(
          ranges.context, tile * ranges.tiles.query,
          std::min((tile + 1) * ranges.tiles.query, mask.shape.queries));
      for (int64_t kt = 0; kt * ranges.tiles.key < mask.shape.keys; ++kt)
        expected += contains(ranges.context, *set, values, kt);
    }
    ++score.counts;
    score.wrongCounts += found && *found != expected;
    score.givenUp += !found;
  }
}

/// One mask on several shapes: an `and` of exact terms, or without any `kinds`
/// a random tree.
static void checkMask(MLIRContext &mlir, Random &random, unsigned kinds,
                      int depth, bool inDocument, Score &score,
                      bool extreme = false) {
  using Clock = std::chrono::steady_clock;
  TermMask mask(mlir, random);
  mask.extreme = extreme;
  Term term =
      kinds ? exactMask(mask, mlir, kinds, inDocument) : mask.tree(depth);
  const int64_t sizes[] = {4, 8, 16};
  TileSizes tiles{sizes[random(0, 2)], sizes[random(0, 2)]};
  Clock::time_point start = Clock::now();
  MaskContext context;
  Formula formula = maskFormula(context, term.attribute);
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  KeyRanges ranges = analyzeMask(context, formula, tiles, options);
  double time =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  score.milliseconds += time;
  score.worst = std::max(score.worst, time);
  ++score.masks;
  for (int i = 0; i < 8; ++i) {
    mask.drawShape();
    for (int64_t begin = 0; begin < mask.shape.queries; begin += tiles.query)
      checkTile(mask, term, ranges, begin,
                std::min(begin + tiles.query, mask.shape.queries),
                /*cut=*/kinds != 0, score);
    checkFormula(mask, term, context, formula, random, score);
    if (!mask.hasDocuments) // of which each tile has its own bounds
      checkCounts(mask, ranges, score);
  }
}

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 60;
  Random random{std::mt19937(argc > 2 ? std::atoi(argv[2]) : 1)};
  int repeats = argc > 3 ? std::atoi(argv[3]) : 3;
  MLIRContext mlir;
  mlir.loadDialect<AttnDialect>();
  bool good = true;
  auto report = [&](const char *name, const Score &score, bool mustBeExact) {
    bool exact = !score.emptyVisited && !score.fullMissed;
    bool passed = !score.unsound && !score.wrongFormulas &&
                  !score.wrongCounts && 20 * score.givenUp <= score.counts &&
                  (!mustBeExact || exact);
    good &= passed;
    std::printf("%s %s: %ld masks, %ld tiles (%ld visible, %ld full), "
                "%.2f ms mean, %.1f worst; unsound %ld, wrong formulas %ld, "
                "empty visited %ld, full missed %ld; %ld counts, %ld wrong, "
                "%ld given up\n",
                passed ? "ok    " : "FAILED", name, score.masks, score.tiles,
                score.visible, score.full, score.milliseconds / score.masks,
                score.worst, score.unsound, score.wrongFormulas,
                score.emptyVisited, score.fullMissed, score.counts,
                score.wrongCounts, score.givenUp);
  };
  auto everySet = [&](const char *name, int terms, bool inDocument) {
    Score score;
    for (unsigned kinds = 1; kinds < 1u << terms; ++kinds)
      for (int i = 0; i < repeats; ++i)
        checkMask(mlir, random, kinds, 0, inDocument, score);
    report(name, score, /*mustBeExact=*/true);
  };
  everySet("and of every set of the 7 exact terms", 7, false);
  everySet("and of a document and every set of 3 terms in it", 3, true);
  for (int depth = 1; depth <= 4; ++depth) {
    Score score;
    for (int i = 0; i < count; ++i)
      checkMask(mlir, random, 0, depth, false, score);
    report("and, or, not of all terms", score, /*mustBeExact=*/false);
  }
  Score large;
  for (unsigned kinds = 0; kinds < 1u << 7; ++kinds)
    for (int i = 0; i < 2 * repeats; ++i)
      checkMask(mlir, random, kinds, i % 4, false, large, /*extreme=*/true);
  report("all terms with large numbers", large, /*mustBeExact=*/false);
  std::printf("%s\n", good ? "passed" : "FAILED");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
