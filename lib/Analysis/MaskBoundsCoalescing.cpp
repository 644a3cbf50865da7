// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fewer intervals.
//
// The disjuncts of a mask often project to intervals that touch or overlap.
// The library's own coalescing does not find these pairs, since it must keep
// the divisions that describe them.

#include "MaskBoundsDetail.h"

using namespace attn;
using namespace attn::detail;

static Polyhedron systemOf(AnalysisState &state, llvm::ArrayRef<Linear> rows) {
  Polyhedron system(state);
  system.addFacts();
  for (const Linear &row : rows)
    system.add(row);
  return system;
}

/// Is first + second = { kt : all rows of hull hold }?  cutFirst are the rows
/// of `first` that `second` crosses, cutSecond the other way round.
static bool unionIsHull(AnalysisState &state, llvm::ArrayRef<Linear> hull,
                        llvm::ArrayRef<Linear> cutFirst,
                        llvm::ArrayRef<Linear> cutSecond) {
  for (const Linear &a : cutFirst)
    for (const Linear &b : cutSecond) {
      Polyhedron outside = systemOf(state, hull);
      outside.add(a * -1 - Linear(1));
      outside.add(b * -1 - Linear(1));
      if (!outside.isEmpty())
        return false;
    }
  return true;
}

/// Makes two intervals one, if that is exact: `first` covered by `second`, or
/// a union without a gap.
static std::optional<KeyInterval> join(AnalysisState &state,
                                       const KeyInterval &first,
                                       const KeyInterval &second) {
  if (!second.tests.empty() || (first.exact && !second.exact))
    return std::nullopt;
  std::vector<Linear> rowsFirst = rowsOf(first), rowsSecond = rowsOf(second);
  Polyhedron systemFirst = systemOf(state, rowsFirst);
  Polyhedron systemSecond = systemOf(state, rowsSecond);
  std::vector<Linear> hull, cutFirst, cutSecond;
  for (const Linear &row : rowsSecond)
    (systemFirst.implies(row) ? hull : cutSecond).push_back(row);
  if (cutSecond.empty())
    return second;
  if (!first.tests.empty() || first.exact != second.exact)
    return std::nullopt;
  for (const Linear &row : rowsFirst)
    (systemSecond.implies(row) ? hull : cutFirst).push_back(row);
  if (!unionIsHull(state, hull, cutFirst, cutSecond))
    return std::nullopt;
  std::set<Linear> unique(hull.begin(), hull.end());
  KeyInterval joined =
      intervalOf(std::vector<Linear>(unique.begin(), unique.end()), state);
  joined.exact = first.exact;
  return joined;
}

static bool joinSomePair(AnalysisState &state, KeySet &set) {
  for (size_t i = 0; i < set.parts.size(); ++i)
    for (size_t j = 0; j < set.parts.size(); ++j) {
      if (i == j)
        continue;
      if (state.isThrifty())
        return false;
      auto joined = join(state, set.parts[i], set.parts[j]);
      if (!joined)
        continue;
      set.parts[i] = *joined;
      set.parts.erase(set.parts.begin() + j);
      return true;
    }
  return false;
}

void detail::coalesce(AnalysisState &state, KeySet &set) {
  while (joinSomePair(state, set))
    ;
}
