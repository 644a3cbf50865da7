// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many key tiles the query tiles of a mask visit, all together.

#include "attn/Analysis/MaskCounts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace attn;

/// No period is longer: the budget would not allow it either.
static constexpr int64_t longest = int64_t(1) << 31;

Quasilinear attn::slopeOf(const MaskContext &context, const Linear &linear,
                          llvm::function_ref<int64_t(int variable)> rate) {
  Quasilinear sum{1, 0};
  for (const auto &[id, coefficient] : linear.terms) {
    Quasilinear term{1, 0};
    if (Variable::isDivision(id)) {
      const MaskContext::Division &division = context.division(id);
      Quasilinear inner = slopeOf(context, division.numerator, rate);
      int64_t common = std::gcd(inner.slope, division.divisor);
      int64_t times = division.divisor / common;
      if (inner.period > longest / times)
        return {longest, 0};
      term = {inner.period * times, inner.slope / common};
    } else {
      term.slope = rate(id);
    }
    int64_t period = std::lcm(sum.period, term.period), mine, other;
    if (period >= longest ||
        llvm::MulOverflow(sum.slope, period / sum.period, mine) ||
        llvm::MulOverflow(term.slope, period / term.period, other) ||
        llvm::MulOverflow(other, coefficient, other) ||
        llvm::AddOverflow(mine, other, sum.slope))
      return {longest, 0};
    sum.period = period;
  }
  return sum;
}

KeySet attn::intersection(const KeySet &a, const KeySet &b) {
  KeySet both;
  both.exact = a.exact && b.exact;
  for (const KeyInterval &x : a.parts)
    for (const KeyInterval &y : b.parts) {
      KeyInterval part = x;
      llvm::append_range(part.lower, y.lower);
      llvm::append_range(part.upper, y.upper);
      llvm::append_range(part.guards, y.guards);
      llvm::append_range(part.tests, y.tests);
      both.parts.push_back(std::move(part));
    }
  return both;
}

KeySet attn::only(const KeySet &set, int64_t tile) {
  KeySet result = set;
  for (KeyInterval &part : result.parts) {
    part.lower.push_back({Linear(tile), 1});
    part.upper.push_back({Linear(tile), 1});
  }
  return result;
}

namespace {
/// start + n * slope.
struct Affine {
  int64_t start, slope;
  int64_t at(int64_t n) const { return start + n * slope; }
};

/// The keys from the largest begin to the smallest end, for all n in 0, 1, ..,
/// where all guards are at least 0.
struct Range {
  llvm::SmallVector<Affine> begins, ends, guards;
};

/// floor((sign * value + constant) / divisor) + behind, where value is that of
/// `linear` at a query tile.
struct Bound {
  const Linear *linear;
  int64_t sign, constant, divisor, behind;
  Quasilinear change{1, 0}; ///< of the value, by query tile
};

/// A part of the set, of the key tiles first + step * j: bounds of j.
struct PartBounds {
  llvm::SmallVector<Bound> begins, ends, guards;
};

class Counter {
public:
  Counter(const MaskContext &context, TileSizes tiles,
          llvm::ArrayRef<int64_t> given, int64_t &work)
      : context(context), tiles(tiles), values(given.begin(), given.end()),
        work(work) {
    keyTiles = llvm::divideCeilSigned(values[Variable::KeyLength], tiles.key);
  }

  /// Of the query tiles [begin, end) of `rows` rows.
  std::optional<int64_t> count(const KeySet &set, int64_t begin, int64_t end,
                               int64_t rows);

private:
  Quasilinear byQueryTile(const Linear &linear) const;
  Quasilinear byKeyTile(const Linear &linear) const;
  PartBounds boundsOf(const KeyInterval &part, int64_t first, int64_t step);
  int64_t periodOf(llvm::ArrayRef<PartBounds> parts) const;
  std::optional<Range> rangeAt(const PartBounds &part, int64_t tile,
                               int64_t period);
  std::optional<int64_t> countClasses(llvm::ArrayRef<PartBounds> parts,
                                      int64_t begin, int64_t end, int64_t most);
  int64_t sumOver(llvm::ArrayRef<Range> ranges, int64_t times, int64_t most);

  const MaskContext &context;
  TileSizes tiles;
  std::vector<int64_t> values;
  int64_t &work;
  int64_t rows = 0, keyTiles;
};
} // namespace

Quasilinear Counter::byQueryTile(const Linear &linear) const {
  return slopeOf(context, linear, [&](int id) {
    bool isRow = id == Variable::QueryBegin || id == Variable::QueryEnd;
    return isRow ? tiles.query : 0;
  });
}

Quasilinear Counter::byKeyTile(const Linear &linear) const {
  return slopeOf(context, linear,
                 [](int id) { return int64_t(id == Variable::KeyTile); });
}

/// `step` is a multiple of the period of each test, or there is only one j.
PartBounds Counter::boundsOf(const KeyInterval &part, int64_t first,
                             int64_t step) {
  PartBounds bounds;
  for (const KeyBound &bound : part.lower) {
    int64_t divisor = step * bound.divisor;
    bounds.begins.push_back({&bound.expression, 1,
                             divisor - 1 - first * bound.divisor, divisor, 0});
  }
  for (const KeyBound &bound : part.upper)
    bounds.ends.push_back({&bound.expression, 1, -first * bound.divisor,
                           step * bound.divisor, 1});
  for (const Linear &guard : part.guards)
    bounds.guards.push_back({&guard, 1, 0, 1, 0});
  for (const Linear &test : part.tests) {
    Quasilinear change = byKeyTile(test);
    int64_t rise = step < keyTiles ? change.slope * (step / change.period) : 0;
    if (rise == 0) // the same for all j
      bounds.guards.push_back({&test, 1, 0, 1, 0});
    else if (rise > 0)
      bounds.begins.push_back({&test, -1, rise - 1, rise, 0});
    else
      bounds.ends.push_back({&test, 1, 0, -rise, 1});
  }
  for (auto *list : {&bounds.begins, &bounds.ends, &bounds.guards})
    for (Bound &bound : *list)
      bound.change = byQueryTile(*bound.linear);
  return bounds;
}

/// After how many query tiles all bounds have risen by whole numbers that are
/// the same from then on.
int64_t Counter::periodOf(llvm::ArrayRef<PartBounds> parts) const {
  int64_t period = 1;
  for (const PartBounds &part : parts)
    for (const auto *list : {&part.begins, &part.ends, &part.guards})
      for (const Bound &bound : *list) {
        int64_t times =
            bound.divisor / std::gcd(bound.change.slope, bound.divisor);
        if (bound.change.period > longest / times)
          return longest;
        period = std::lcm(period, bound.change.period * times);
        if (period >= longest)
          return longest;
      }
  return period;
}

/// The part at the query tiles tile + n * period; nothing if it is not there
/// for any n.
std::optional<Range> Counter::rangeAt(const PartBounds &part, int64_t tile,
                                      int64_t period) {
  values[Variable::QueryBegin] = tile * tiles.query;
  values[Variable::QueryEnd] = tile * tiles.query + rows;
  auto affine = [&](const Bound &bound) -> Affine {
    work -= 10;
    int64_t value = bound.sign * context.evaluate(*bound.linear, values);
    int64_t times = period / bound.change.period;
    return {llvm::divideFloorSigned(value + bound.constant, bound.divisor) +
                bound.behind,
            bound.sign * bound.change.slope * times / bound.divisor};
  };
  Range range;
  for (const Bound &bound : part.guards) {
    Affine guard = affine(bound);
    if (guard.slope == 0 && guard.start < 0)
      return std::nullopt;
    if (guard.slope != 0)
      range.guards.push_back(guard);
  }
  for (const Bound &bound : part.begins)
    range.begins.push_back(affine(bound));
  for (const Bound &bound : part.ends)
    range.ends.push_back(affine(bound));
  return range;
}

/// Numbers in [0, most) that some of the ranges holds.
static int64_t unionAt(llvm::ArrayRef<Range> ranges, int64_t n, int64_t most) {
  llvm::SmallVector<std::pair<int64_t, int64_t>> there;
  for (const Range &range : ranges) {
    int64_t begin = 0, end = most;
    for (const Affine &bound : range.begins)
      begin = std::max(begin, bound.at(n));
    for (const Affine &bound : range.ends)
      end = std::min(end, bound.at(n));
    if (begin < end &&
        llvm::all_of(
            range.guards,
            [&](const Affine &guard) { return guard.at(n) >= 0; }))
      there.push_back({begin, end});
  }
  llvm::sort(there);
  int64_t total = 0, covered = 0;
  for (auto [begin, end] : there) {
    total += std::max<int64_t>(0, end - std::max(begin, covered));
    covered = std::max(covered, end);
  }
  return total;
}

/// The sizes of the unions for n in [0, times). Between two n at which bounds
/// change places, sizes are linear.
int64_t Counter::sumOver(llvm::ArrayRef<Range> ranges, int64_t times,
                         int64_t most) {
  std::vector<Affine> bounds{{0, 0}, {most, 0}};
  for (const Range &range : ranges)
    for (const auto *list : {&range.begins, &range.ends, &range.guards})
      bounds.insert(bounds.end(), list->begin(), list->end());
  std::vector<int64_t> cuts{0, times};
  for (size_t i = 0; i < bounds.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      int64_t ahead = bounds[i].start - bounds[j].start;
      int64_t rise = bounds[j].slope - bounds[i].slope;
      if (rise == 0)
        continue;
      if (rise < 0) {
        ahead = -ahead;
        rise = -rise;
      }
      // Equal from the first, past each other from the second on.
      for (int64_t cut : {llvm::divideCeilSigned(ahead, rise),
                          llvm::divideFloorSigned(ahead, rise) + 1})
        if (0 < cut && cut < times)
          cuts.push_back(cut);
    }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  work -= static_cast<int64_t>(bounds.size() * (bounds.size() + cuts.size()));
  int64_t total = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    int64_t first = cuts[i], count = cuts[i + 1] - first;
    int64_t size = unionAt(ranges, first, most);
    int64_t rise = count > 1 ? unionAt(ranges, first + 1, most) - size : 0;
    int64_t pairs =
        count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1);
    total += count * size + pairs * rise;
  }
  return total;
}

std::optional<int64_t> Counter::countClasses(llvm::ArrayRef<PartBounds> parts,
                                             int64_t begin, int64_t end,
                                             int64_t most) {
  const int64_t period = periodOf(parts);
  const bool isClass = period < end - begin; // else each tile is alone
  int64_t total = 0;
  for (int64_t tile = begin; tile < std::min(end, begin + period); ++tile) {
    llvm::SmallVector<Range> ranges;
    for (const PartBounds &part : parts)
      if (std::optional<Range> range =
              rangeAt(part, tile, isClass ? period : 0))
        ranges.push_back(std::move(*range));
    int64_t times = (end - tile - 1) / period + 1;
    if (!ranges.empty())
      total += sumOver(ranges, times, most);
    if (--work < 0)
      return std::nullopt;
  }
  return total;
}

std::optional<int64_t> Counter::count(const KeySet &set, int64_t begin,
                                      int64_t end, int64_t rowsPerTile) {
  rows = rowsPerTile;
  int64_t step = 1, total = 0;
  for (const KeyInterval &part : set.parts)
    for (const Linear &test : part.tests) {
      // At most one class per key tile.
      step = std::min(std::lcm(step, byKeyTile(test).period), keyTiles);
    }
  for (int64_t first = 0; first < std::min(step, keyTiles); ++first) {
    values[Variable::KeyTile] = first;
    llvm::SmallVector<PartBounds> parts;
    for (const KeyInterval &part : set.parts)
      parts.push_back(boundsOf(part, first, step));
    std::optional<int64_t> classes =
        countClasses(parts, begin, end, (keyTiles - first - 1) / step + 1);
    if (!classes)
      return std::nullopt;
    total += *classes;
  }
  return total;
}

std::optional<int64_t> attn::countTiles(const MaskContext &context,
                                        const KeySet &set, TileSizes tiles,
                                        QueryTileRange range,
                                        llvm::ArrayRef<int64_t> values,
                                        int64_t &work) {
  Counter counter(context, tiles, values, work);
  int64_t end = range.end - (range.lastRows ? 1 : 0), total = 0;
  if (range.begin < end) {
    std::optional<int64_t> whole =
        counter.count(set, range.begin, end, tiles.query);
    if (!whole)
      return std::nullopt;
    total = *whole;
  }
  if (range.lastRows) {
    std::optional<int64_t> last =
        counter.count(set, end, range.end, range.lastRows);
    if (!last)
      return std::nullopt;
    total += *last;
  }
  return total;
}
