// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random masks against brute force.
//
// Analyzes random masks, compares each tile with brute force, runs the emitted
// loops and predicates, and repeats some of it with planted mistakes, each of
// which must be found.
//
//   mask-bounds [masks per class = 40; 8 with assertions] [seed = 1] [work]

#include "Emission.h"
#include "NamedMasks.h"
#include "RandomMask.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace attn;
using namespace attn::test;
using namespace mlir;

namespace {
/// What is changed behind the analysis' back.
enum class Mistake {
  None,
  VisitShort,     ///< visit ends one tile early
  VisitLate,      ///< visit begins one tile late
  FullLong,       ///< edges begin one tile late
  FalselyExact,   ///< visit begins one tile early, still marked exact
  LoopsShort,     ///< the emitted loops end one tile early
  WrongPredicate, ///< the emitted predicate is the negation
  TailForgotten,  ///< missing keys of the last tile are not counted
};
const char *nameOf(Mistake mistake) {
  const char *names[] = {
      "none",          "visit short", "visit late",      "full long",
      "falsely exact", "loops short", "wrong predicate", "tail forgotten"};
  return names[int(mistake)];
}

struct Score {
  long masks = 0, tiles = 0, visible = 0, full = 0, loops = 0, walks = 0;
  long runs = 0, predicates = 0;
  long unsound = 0;      ///< visible but not visited; full but not so
  long falselyExact = 0; ///< imprecise in a set that claims to be exact
  long emptyVisited = 0; ///< imprecise: visited, no visible pair
  long fullMissed = 0;   ///< imprecise: full, taken for edge
  long wrongLoops = 0, wrongPredicates = 0;
  double milliseconds = 0, worst = 0;
  long gaveUp = 0;      ///< masks that were too complex
  int64_t mostWork = 0; ///< of one mask

  long mistakes() const {
    return unsound + falselyExact + wrongLoops + wrongPredicates;
  }
};
} // namespace

static void shift(std::vector<KeyBound> &bounds, int64_t tiles) {
  for (KeyBound &bound : bounds)
    bound.expression += Linear(tiles * bound.divisor);
}

static void plant(Mistake mistake, KeyRanges &ranges) {
  for (KeyInterval &part : ranges.visit.parts) {
    if (mistake == Mistake::VisitShort || mistake == Mistake::LoopsShort)
      shift(part.upper, -1);
    if (mistake == Mistake::VisitLate)
      shift(part.lower, 1);
    if (mistake == Mistake::FalselyExact)
      shift(part.lower, -1);
  }
  if (mistake == Mistake::FullLong)
    for (KeyInterval &part : ranges.notFull.parts)
      shift(part.lower, 1);
}

//===----------------------------------------------------------------------===//
// Ranges against brute force
//===----------------------------------------------------------------------===//

namespace {
/// The two ways to treat documents.
struct Analyses {
  KeyRanges literal, perDocument;
};
struct Answer {
  bool visited, full;
};
} // namespace

static Answer answer(RandomMask &mask, const KeyRanges &ranges,
                     llvm::ArrayRef<std::pair<int64_t, int64_t>> pieces,
                     int64_t keyTile) {
  bool visited = false, hole = false;
  for (auto [begin, end] : pieces) {
    mask.setRows(begin, end);
    visited |= contains(ranges.context, ranges.visit, mask.values, keyTile);
    hole |= contains(ranges.context, ranges.notFull, mask.values, keyTile);
  }
  return {visited, visited && !hole};
}

static Answer bruteForce(RandomMask &mask, int64_t begin, int64_t end,
                         int64_t keyTile) {
  Answer truth{false, true};
  int64_t firstKey = keyTile * mask.tiles.key;
  int64_t lastKey = firstKey + mask.tiles.key;
  if (mask.options.ignoreRaggedTail)
    lastKey = std::min(lastKey, mask.numKeys);
  for (int64_t q = begin; q < end; ++q)
    for (int64_t k = firstKey; k < lastKey; ++k) {
      bool sees = k < mask.numKeys && mask.sees(q, k);
      truth.visited |= sees;
      truth.full &= sees;
    }
  return truth;
}

static void compare(const Answer &truth, const Answer &found,
                    const KeyRanges &ranges, Score &score) {
  score.unsound += truth.visited && !found.visited;
  score.unsound += found.full && !truth.full;
  bool empty = found.visited && !truth.visited;
  bool missed = truth.full && !found.full;
  score.falselyExact += empty && ranges.visit.exact;
  score.falselyExact += missed && ranges.visit.exact && ranges.notFull.exact;
  score.emptyVisited += empty;
  score.fullMissed += missed;
}

/// `score` counts imprecise tiles of the analysis per document only.
static void checkShape(RandomMask &mask, const Analyses &analyses,
                       Score &score) {
  for (auto [begin, end] : mask.rowTiles()) {
    auto pieces = mask.cutRows(begin, end);
    for (int64_t kt = 0; kt * mask.tiles.key < mask.numKeys; ++kt) {
      Answer truth = bruteForce(mask, begin, end, kt);
      ++score.tiles;
      score.visible += truth.visited;
      score.full += truth.full;
      compare(truth, answer(mask, analyses.perDocument, pieces, kt),
              analyses.perDocument, score);
      if (!mask.hasDocuments)
        continue;
      Score literal;
      compare(truth, answer(mask, analyses.literal, {{begin, end}}, kt),
              analyses.literal, literal);
      score.unsound += literal.unsound;
      score.falselyExact += literal.falselyExact;
    }
  }
}

//===----------------------------------------------------------------------===//
// Emitted code against ranges
//===----------------------------------------------------------------------===//

static void checkEmission(MLIRContext &mlirContext, Random &random,
                          RandomMask &mask, const KeyRanges &ranges,
                          Mistake mistake, Score &score) {
  OpBuilder builder(&mlirContext);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  KeyRanges toEmit = ranges;
  if (mistake == Mistake::LoopsShort)
    plant(mistake, toEmit);
  auto loops = emitLoopFunction(builder, loc, toEmit);
  bool wrong = mistake == Mistake::WrongPredicate;
  auto predicate = emitPredicateFunction(
      builder, loc, mask.context, wrong ? negate(mask.formula) : mask.formula);
  // The functions return values that their types do not mention.
  for (func::FuncOp function : {loops, predicate}) {
    auto results =
        function.getBody().front().getTerminator()->getOperandTypes();
    function.setType(
        builder.getFunctionType(function.getArgumentTypes(), results));
  }
  if (failed(verify(*module))) {
    ++score.wrongLoops;
    return;
  }
  (ranges.form == KeyLoopForm::Walk ? score.walks : score.loops) += 1;
  for (int shape = 0; shape < 4; ++shape) {
    mask.drawShape();
    for (auto [begin, end] : mask.rowTiles()) {
      mask.setRows(begin, end);
      ++score.runs;
      score.wrongLoops += !loopsAreRight(mask, ranges, loops);
    }
    for (int i = 0; i < 20 && mask.numKeys; ++i) {
      int64_t q = random(0, mask.numQueries - 1);
      int64_t k = random(0, mask.numKeys - 1);
      ++score.predicates;
      score.wrongPredicates += !predicateIsRight(mask, predicate, q, k);
    }
  }
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static int64_t allowedWork = BoundsOptions().work;
/// Work that may be done beyond it: that of the step during which it runs out,
/// for visit and for notFull.
static constexpr int64_t mostOfOneStep = 100000;

static Score runClass(MLIRContext &mlirContext, MaskClass maskClass, int depth,
                      int count, unsigned seed, Mistake mistake,
                      int64_t work = allowedWork) {
  using Clock = std::chrono::steady_clock;
  Random random{std::mt19937(seed)};
  Score score;
  for (; score.masks < count; ++score.masks) {
    RandomMask mask(random, maskClass, depth);
    mask.options.work = work;
    BoundsOptions options = mask.options;
    if (mistake == Mistake::TailForgotten) {
      options.ignoreRaggedTail = true;
      mask.options.ignoreRaggedTail = false;
    }
    Clock::time_point start = Clock::now();
    Analyses analyses;
    analyses.literal =
        analyzeMask(mask.context, mask.formula, mask.tiles, options);
    double time =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    score.mostWork = std::max(score.mostWork, analyses.literal.work);
    score.gaveUp += analyses.literal.gaveUp;
    score.milliseconds += time;
    score.worst = std::max(score.worst, time);
    analyses.perDocument = analyses.literal;
    if (mask.hasDocuments)
      analyses.perDocument =
          analyzeMask(mask.context, mask.perDocument, mask.tiles, options);
    if (mistake != Mistake::LoopsShort) {
      plant(mistake, analyses.literal);
      plant(mistake, analyses.perDocument);
    }
    for (int shape = 0; shape < 10; ++shape) {
      mask.drawShape();
      checkShape(mask, analyses, score);
    }
    checkEmission(mlirContext, random, mask, analyses.literal, mistake, score);
  }
  return score;
}

static bool reportClass(const char *name, int depth, const Score &score,
                        bool mustBeExact, int64_t work = allowedWork) {
  long imprecise = score.emptyVisited + score.fullMissed;
  bool good = !score.mistakes() && !(mustBeExact && imprecise) &&
              score.mostWork < work + mostOfOneStep;
  std::printf("%s depth %d: %ld masks, %ld tiles (%ld visible, %ld full), "
              "%.2f ms mean, %.1f worst; %ld loops, %ld walks, %ld runs, %ld "
              "predicates\n",
              name, depth, score.masks, score.tiles, score.visible, score.full,
              score.milliseconds / score.masks, score.worst, score.loops,
              score.walks, score.runs, score.predicates);
  std::printf("  %lld units of work at most, %ld too complex\n",
              static_cast<long long>(score.mostWork), score.gaveUp);
  std::printf("  %s: unsound %ld, falsely exact %ld, wrong loops %ld, wrong "
              "predicates %ld; empty tiles visited %ld, full taken for edge "
              "%ld\n",
              good ? "ok" : "FAILED", score.unsound, score.falselyExact,
              score.wrongLoops, score.wrongPredicates, score.emptyVisited,
              score.fullMissed);
  return good;
}

/// With less work than the masks need: sound, bounded, the same in every run.
static bool runLittleWork(MLIRContext &mlirContext, int count, unsigned seed) {
  bool good = true;
  for (int64_t work : {0, 2000, 20000, 200000}) {
    Score score = runClass(mlirContext, MaskClass::AndOrNot, 4, count, seed,
                           Mistake::None, work);
    std::printf("%lld units of work\n", static_cast<long long>(work));
    good &= reportClass("and, or, not, little work", 4, score,
                        /*mustBeExact=*/false, work);
    good &= score.gaveUp != 0;
  }
  return good;
}

static bool isRepeatable(int count, unsigned seed) {
  Random random{std::mt19937(seed)};
  for (int i = 0; i < count; ++i) {
    RandomMask mask(random, MaskClass::AndOrNot, 4);
    mask.options.work = 50000;
    auto text = [&] {
      return toString(
          analyzeMask(mask.context, mask.formula, mask.tiles, mask.options));
    };
    if (text() != text()) {
      std::printf("FAILED: another result in another run\n");
      return false;
    }
  }
  return true;
}

static bool runMistakes(MLIRContext &mlirContext, int count, unsigned seed) {
  bool good = true;
  for (Mistake mistake :
       {Mistake::VisitShort, Mistake::VisitLate, Mistake::FullLong,
        Mistake::FalselyExact, Mistake::LoopsShort, Mistake::WrongPredicate,
        Mistake::TailForgotten}) {
    Score score =
        runClass(mlirContext, MaskClass::Different, 2, count, seed, mistake);
    std::printf("planted mistake, %s: %s\n", nameOf(mistake),
                score.mistakes() ? "found" : "NOT FOUND");
    good &= score.mistakes() != 0;
  }
  return good;
}

#ifdef NDEBUG
static constexpr int defaultCount = 40;
#else
static constexpr int defaultCount = 8; // without optimization
#endif

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : defaultCount;
  unsigned seed = argc > 2 ? std::atoi(argv[2]) : 1;
  if (argc > 3)
    allowedWork = std::atoll(argv[3]);
  MLIRContext mlirContext;
  mlirContext
      .loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  mlirContext.allowUnregisteredDialects();
  bool good = checkNamedMasks();
  for (int depth = 1; depth <= 4; ++depth)
    good &= reportClass("and of different terms", depth,
                        runClass(mlirContext, MaskClass::Different, depth,
                                 count, seed + depth, Mistake::None),
                        /*mustBeExact=*/true);
  const std::pair<MaskClass, const char *> classes[] = {
      {MaskClass::And, "and"},
      {MaskClass::AndOr, "and, or"},
      {MaskClass::AndOrNot, "and, or, not"},
      {MaskClass::Predicates, "predicates"}};
  for (auto [maskClass, name] : classes)
    for (int depth = 2; depth <= 4; ++depth)
      good &= reportClass(name, depth,
                          runClass(mlirContext, maskClass, depth, count,
                                   seed + depth, Mistake::None),
                          /*mustBeExact=*/false);
  good &= runLittleWork(mlirContext, std::max(count / 2, 10), seed);
  good &= isRepeatable(count, seed);
  good &= runMistakes(mlirContext, std::max(count / 2, 10), seed);
  std::printf("%s\n", good ? "passed" : "FAILED");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
