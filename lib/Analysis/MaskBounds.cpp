// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a mask formula to key tiles.
//
// Entry points of the mask analysis, the choice of the loop form, evaluation
// and printing of ranges.

#include "attn/Analysis/MaskBounds.h"
#include "MaskBoundsDetail.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace attn;
using namespace attn::detail;

//===----------------------------------------------------------------------===//
// Projection of a formula
//===----------------------------------------------------------------------===//

/// What holds for a pair of the tile: qlo <= q < qhi, k in tile kt.
static Polyhedron pairOfTile(AnalysisState &state, bool keysExist) {
  Polyhedron system(state);
  Linear q = Linear::query(), k = Linear::key();
  Linear firstKey = Linear::variable(Variable::KeyTile, state.tiles.key);
  system.addFacts();
  system.add(q - Linear::variable(Variable::QueryBegin));
  system.add(Linear::variable(Variable::QueryEnd) - q - Linear(1));
  system.add(k);
  system.add(k - firstKey);
  system.add(firstKey + Linear(state.tiles.key - 1) - k);
  if (keysExist)
    system.add(Linear::keyLength() - k - Linear(1));
  return system;
}

static KeyInterval intersect(KeyInterval a, const KeyInterval &b) {
  llvm::append_range(a.lower, b.lower);
  llvm::append_range(a.upper, b.upper);
  llvm::append_range(a.guards, b.guards);
  llvm::append_range(a.tests, b.tests);
  return a;
}

static bool isEveryTile(const KeyInterval &interval) {
  return rowsOf(interval) == rowsOf(everyTile()) && interval.tests.empty();
}

namespace {
/// Projects formulas onto the tiles they touch.
struct Projector {
  AnalysisState &state;
  bool keysExist; ///< Only keys k < Skv count.
  bool gaveUp = false;

  KeySet project(const Formula &formula);

private:
  KeySet projectNormalForm(const Polyhedron &base,
                           llvm::ArrayRef<Conjunction> conjunctions);
  KeySet projectChildren(const Formula &formula);
};
} // namespace

KeySet Projector::projectNormalForm(const Polyhedron &base,
                                    llvm::ArrayRef<Conjunction> conjunctions) {
  KeySet result;
  for (const Conjunction &conjunction : conjunctions)
    if (auto interval =
            projectToTiles(restricted(base, conjunction), conjunction.exact))
      result.parts.push_back(*interval);
  if (state.isSpent() && llvm::any_of(result.parts, isEveryTile))
    result.parts = {everyTile()};
  coalesce(state, result);
  return result;
}

/// Too many conjunctions: `or` is the union of the children's tiles, which is
/// exact; `and` their intersection, which does not ask for a common pair.
KeySet Projector::projectChildren(const Formula &formula) {
  if (formula->kind == FormulaKind::Opaque) {
    KeySet result = project(formula->may);
    for (KeyInterval &part : result.parts)
      part.exact = false;
    return result;
  }
  const bool isAnd = formula->kind == FormulaKind::And;
  std::vector<KeySet> children;
  for (const Formula &child : formula->children)
    children.push_back(project(child));
  auto isEverything = [](const KeySet &set) {
    return llvm::any_of(set.parts, isEveryTile);
  };
  if (isAnd ? llvm::all_of(children, isEverything)
            : llvm::any_of(children, isEverything))
    return {{everyTile()}, /*exact=*/false};
  llvm::erase_if(children, isEverything);
  sortBySize(children, [](const KeySet &set) { return set.parts.size(); });
  KeySet result = children.front();
  for (const KeySet &child : llvm::drop_begin(children)) {
    if (!isAnd) {
      llvm::append_range(result.parts, child.parts);
      continue;
    }
    if (result.parts.size() * child.parts.size() > MaxConjunctions)
      continue; // without this child the set is larger
    KeySet both;
    for (const KeyInterval &a : result.parts)
      for (const KeyInterval &b : child.parts)
        both.parts.push_back(intersect(a, b));
    result = both;
  }
  if (isAnd)
    for (KeyInterval &part : result.parts)
      part.exact = false;
  bool tooMany = result.parts.size() > MaxConjunctions;
  if (result.parts.size() <= 8 || tooMany)
    coalesce(state, result);
  // Every part is code in every loop over tiles.
  if (result.parts.size() > MaxConjunctions)
    return {{everyTile()}, /*exact=*/false};
  return result;
}

KeySet Projector::project(const Formula &formula) {
  Polyhedron base = pairOfTile(state, keysExist);
  KeySet result;
  if (state.isSpent()) {
    result.parts = {everyTile()};
  } else if (auto conjunctions = normalForm(formula, base)) {
    result = projectNormalForm(base, *conjunctions);
  } else {
    gaveUp = true;
    result = projectChildren(formula);
  }
  gaveUp |= state.isSpent();
  result.exact = llvm::all_of(
      result.parts, [](const KeyInterval &part) { return part.exact; });
  return result;
}

//===----------------------------------------------------------------------===//
// Loop form
//===----------------------------------------------------------------------===//

/// The tiles of an interval, per-tile tests aside.
static Polyhedron tilesOf(AnalysisState &state, const KeyInterval &interval) {
  Polyhedron system(state);
  system.addFacts();
  for (const Linear &row : rowsOf(interval))
    system.add(row);
  system.add(Linear::variable(Variable::KeyTile));
  return system;
}

/// Removes parts of `set` that contain no visited tile: loops and compares for
/// them would be dead code.
static void dropUnvisited(AnalysisState &state, const KeySet &visit,
                          KeySet &set) {
  llvm::erase_if(set.parts, [&](const KeyInterval &part) {
    return llvm::all_of(visit.parts, [&](const KeyInterval &visited) {
      if (state.isSpent())
        return false;
      Polyhedron common = tilesOf(state, visited);
      for (const Linear &row : rowsOf(part))
        common.add(row);
      return common.isEmpty();
    });
  });
}

/// Do these bounds hold for every visited tile?  sign 1: lower bounds.
static bool holdsForVisited(AnalysisState &state, const KeySet &visit,
                            llvm::ArrayRef<KeyBound> bounds, int sign) {
  for (const KeyBound &bound : bounds) {
    Linear distance =
        Linear::variable(Variable::KeyTile, bound.divisor) - bound.expression;
    for (const KeyInterval &part : visit.parts)
      if (!tilesOf(state, part).implies(distance * sign))
        return false;
  }
  return true;
}

static bool beginsAlike(const KeyInterval &a, const KeyInterval &b) {
  return a.lower.size() == b.lower.size() &&
         llvm::all_of(a.lower, [&](const KeyBound &bound) {
           return llvm::is_contained(b.lower, bound);
         });
}

/// Loops need: all visited parts begin with the same bounds (their end is then
/// a maximum), and no part of notFull lies strictly between full tiles.
static KeyLoopForm chooseForm(AnalysisState &state, KeyRanges &ranges) {
  const auto &visited = ranges.visit.parts;
  if (visited.empty())
    return KeyLoopForm::None;
  if (state.isSpent())
    return KeyLoopForm::Walk;
  bool possible = llvm::all_of(visited, [&](const KeyInterval &part) {
    return part.tests.empty() && beginsAlike(part, visited.front());
  });
  for (const auto &[index, part] : llvm::enumerate(ranges.notFull.parts)) {
    if (!part.tests.empty()) {
      possible = false;
      continue;
    }
    bool first = holdsForVisited(state, ranges.visit, part.lower, 1);
    bool last = holdsForVisited(state, ranges.visit, part.upper, -1);
    ranges.neverFull |= first && last && part.guards.empty();
    if (first)
      ranges.head.push_back(index);
    else if (last)
      ranges.tail.push_back(index);
    else
      possible = false;
  }
  if (possible)
    return KeyLoopForm::Loops;
  ranges.head.clear();
  ranges.tail.clear();
  return KeyLoopForm::Walk;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

KeyRanges attn::analyzeMask(const MaskContext &context, const Formula &mask,
                            TileSizes tiles, BoundsOptions options) {
  assert(tiles.key > 0 && tiles.query >= 0 && "no such tile");
  AnalysisState state{context, tiles, options};
  state.allowed = options.work / 2; // the rest is for the excluded pairs
  KeyRanges ranges;
  ranges.tiles = tiles;
  ranges.options = options;

  Projector visit{state, /*keysExist=*/true};
  ranges.visit = visit.project(mask);

  // The complement of a projection is never needed: negation happens in the
  // formula.
  Formula excluded = negate(mask);
  if (!options.ignoreRaggedTail)
    excluded = anyOf({excluded, lessEqual(Linear::keyLength(), Linear::key())});
  ranges.work = state.work;
  state.work = 0;
  Projector notFull{state, /*keysExist=*/options.ignoreRaggedTail};
  ranges.notFull = notFull.project(excluded);

  dropUnvisited(state, ranges.visit, ranges.notFull);

  ranges.gaveUp = visit.gaveUp || notFull.gaveUp;
  ranges.form = chooseForm(state, ranges);
  ranges.work += state.work;
  ranges.context = std::move(state.context);
  return ranges;
}

bool attn::isNeverVisible(const MaskContext &context, const Formula &mask) {
  // A pair is a tile of one row and one key.
  AnalysisState state{context, TileSizes{1, 1}, BoundsOptions()};
  return Projector{state, /*keysExist=*/true}.project(mask).parts.empty();
}

bool attn::contains(const MaskContext &context, const KeySet &set,
                    llvm::ArrayRef<int64_t> values, int64_t keyTile) {
  std::vector<int64_t> point(values.begin(), values.end());
  point[Variable::KeyTile] = keyTile;
  auto holds = [&](const Linear &linear) {
    return context.evaluate(linear, point) >= 0;
  };
  auto distance = [&](const KeyBound &bound) {
    return keyTile * bound.divisor - context.evaluate(bound.expression, point);
  };
  return llvm::any_of(set.parts, [&](const KeyInterval &part) {
    return llvm::all_of(part.guards, holds) &&
           llvm::all_of(part.tests, holds) &&
           llvm::all_of(part.lower,
                        [&](auto &bound) { return distance(bound) >= 0; }) &&
           llvm::all_of(part.upper,
                        [&](auto &bound) { return distance(bound) <= 0; });
  });
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string toString(const MaskContext &context,
                            llvm::ArrayRef<KeyBound> bounds, bool isLower) {
  std::string text;
  for (const KeyBound &bound : bounds) {
    if (!text.empty())
      text += ", ";
    std::string expression = context.toString(bound.expression);
    if (bound.divisor == 1)
      text += expression;
    else
      text += (isLower ? "ceil((" : "floor((") + expression + ")/" +
              std::to_string(bound.divisor) + ")";
  }
  if (bounds.empty())
    return "inf";
  return bounds.size() == 1 ? text : (isLower ? "max(" : "min(") + text + ")";
}

std::string attn::toString(const MaskContext &context, const KeySet &set) {
  std::string text;
  for (const KeyInterval &part : set.parts) {
    text += "  kt in [" + ::toString(context, part.lower, true) + " .. " +
            ::toString(context, part.upper, false) + "]";
    for (const Linear &guard : part.guards)
      text += "  if " + context.toString(guard) + " >= 0";
    for (const Linear &test : part.tests)
      text += "  per tile: " + context.toString(test) + " >= 0";
    text += part.exact ? "\n" : "  (over-approximation)\n";
  }
  return text.empty() ? "  none\n" : text;
}

std::string attn::toString(const KeyRanges &ranges) {
  const char *forms[] = {"none", "loops", "walk"};
  std::string text = "form ";
  text += forms[static_cast<int>(ranges.form)];
  text += ranges.gaveUp ? ", the mask is too complex for exact bounds\n" : "\n";
  text += "visit\n" + toString(ranges.context, ranges.visit);
  text += "not full\n" + toString(ranges.context, ranges.notFull);
  return text;
}
