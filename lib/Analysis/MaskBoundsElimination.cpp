// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier-Motzkin with the Omega test's exactness condition (Pugh, 1991),
// symbolic floors for bounds over symbols only, and tests per tile where
// neither helps.
#include "MaskBoundsElimination.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>
#include <numeric>

using namespace attn;
using namespace attn::detail;

/// a*x + b*y, or nothing on overflow.  The caller may always drop a row: that
/// only makes the set larger.
static std::optional<Row> combine(const Row &x, int64_t a, const Row &y,
                                  int64_t b) {
  Row result;
  for (auto [left, right] : llvm::zip_equal(x, y)) {
    int64_t scaledLeft, scaledRight, sum;
    if (llvm::MulOverflow(left, a, scaledLeft) ||
        llvm::MulOverflow(right, b, scaledRight) ||
        llvm::AddOverflow(scaledLeft, scaledRight, sum) ||
        sum == std::numeric_limits<int64_t>::min()) // has no negative
      return std::nullopt;
    result.push_back(sum);
  }
  return result;
}

bool Eliminator::hasOnlySymbols(const Row &row, unsigned except) const {
  for (unsigned i = 0; i < system.numColumns(); ++i) {
    int id = system.variableOf(i);
    if (i != except && row[i] &&
        (system.dependsOnTile(id) || system.isExistential(id)))
      return false;
  }
  return true;
}

bool Eliminator::hasOtherExistential(const Row &row, unsigned except) const {
  for (unsigned i = 0; i < system.numColumns(); ++i)
    if (i != except && row[i] && system.isExistential(system.variableOf(i)))
      return true;
  return false;
}

/// An equality that can be solved for the column, or -1.
int Eliminator::findUnitEquality(unsigned column) const {
  for (unsigned i = 0; i < system.constraints.getNumEqualities(); ++i)
    if (int64_t factor = system.equality(i)[column];
        factor == 1 || factor == -1)
      return i;
  return -1;
}

/// Turns equalities with another coefficient into two inequalities.
void Eliminator::splitEqualities(unsigned column) {
  for (int i = system.constraints.getNumEqualities() - 1; i >= 0; --i) {
    Row row = system.equality(i);
    if (!row[column])
      continue;
    system.constraints.removeEquality(i);
    system.constraints.addInequality(row);
    for (int64_t &entry : row)
      entry = -entry;
    system.constraints.addInequality(row);
  }
}

/// u*v + rest >= 0 with |u| > 1 and rest over symbols: v >= ceil(-rest/u) or
/// v <= floor(rest/-u), a new symbolic division, makes the coefficient 1.
void Eliminator::roundSymbolicBounds(unsigned column) {
  const int variable = system.variableOf(column);
  MaskContext &context = system.context();
  for (int i = system.constraints.getNumInequalities() - 1; i >= 0; --i) {
    Row row = system.inequality(i);
    int64_t factor = row[column];
    if (std::abs(factor) <= 1 || !hasOnlySymbols(row, column))
      continue;
    if (++numFloors > MaxFloors)
      return;
    Linear rest = system.linearOf(row).without(variable);
    Linear self = Linear::variable(variable);
    system.constraints.removeInequality(i);
    system.add(factor > 0 ? self - context.floorDivide(
                                       Linear(factor - 1) - rest, factor)
                          : context.floorDivide(rest, -factor) - self);
    column = system.column(variable);
  }
}

/// Every lower with every upper row.  A pair is exact if a factor is 1 or the
/// dark shadow l*U - u*L >= (l-1)(u-1) follows; `thorough` asks the simplex, as
/// long as there is work for it.
std::vector<BoundPair> Eliminator::boundPairs(unsigned column,
                                              bool thorough) const {
  std::vector<Row> lower, upper;
  for (unsigned i = 0; i < system.constraints.getNumInequalities(); ++i) {
    Row row = system.inequality(i);
    if (row[column] > 0)
      lower.push_back(row);
    else if (row[column] < 0)
      upper.push_back(row);
  }
  system.state().work += lower.size() * upper.size() * system.numColumns() * 4;
  std::vector<BoundPair> pairs;
  for (const Row &low : lower)
    for (const Row &high : upper) {
      int64_t l = low[column], u = -high[column], common = std::gcd(l, u);
      auto shadow = combine(low, u / common, high, l / common);
      bool isExact = l == 1 || u == 1;
      if (!isExact && shadow) {
        Linear dark =
            system.linearOf(*shadow) * common - Linear(l - 1) * (u - 1);
        isExact = dark.isConstant() ? dark.constant >= 0
                                    : thorough && !system.state().isSpent() &&
                                          system.implies(dark);
      }
      pairs.push_back({low, high, l, u, shadow, isExact});
    }
  return pairs;
}

void Eliminator::keepOnly(llvm::ArrayRef<Linear> rows) {
  system.constraints.removeInequalityRange(
      0, system.constraints.getNumInequalities());
  for (const Linear &row : rows)
    system.add(row);
}

/// Dropping rows only makes the set larger.
void Eliminator::keepShortest(size_t limit) {
  std::vector<Linear> rows = system.inequalities();
  if (rows.size() <= limit)
    return;
  exact = false;
  sortBySize(rows, [](const Linear &row) { return row.terms.size(); });
  rows.resize(limit);
  keepOnly(rows);
}

void Eliminator::shrink() {
  system.constraints.removeTrivialRedundancy(); // gcd, rounding, duplicates
  std::vector<Linear> rows = system.inequalities();
  std::set<Linear> unique(rows.begin(), rows.end());
  if (unique.size() < rows.size())
    keepOnly(std::vector<Linear>(unique.begin(), unique.end()));
  AnalysisState &state = system.state();
  keepShortest(MaxRowsBefore);
  auto search = [&] { // cubic
    int64_t count = system.constraints.getNumInequalities();
    return count * count * count / 4;
  };
  bool thrifty = state.isThrifty() || state.work + search() > state.allowed;
  if (thrifty)
    keepShortest(ThriftyRowsBefore);
  // Few rows are not worth it.
  if (system.constraints.getNumInequalities() > 12) {
    state.work += search();
    system.constraints.removeRedundantConstraints();
  }
  keepShortest(thrifty ? ThriftyRowsAfter : MaxRowsAfter);
}

/// How bad it is to eliminate this column now.
int64_t Eliminator::cost(unsigned column, bool thorough) const {
  if (findUnitEquality(column) >= 0)
    return 0;
  for (unsigned i = 0; i < system.constraints.getNumEqualities(); ++i)
    if (system.equality(i)[column])
      return 500;
  int64_t total = 1;
  for (const BoundPair &pair : boundPairs(column, thorough)) {
    total += 1;
    if (!pair.exact) // a test per tile, or the loss of exactness
      total += hasOtherExistential(pair.lower, column) ||
                       hasOtherExistential(pair.upper, column)
                   ? 100000
                   : 1000;
  }
  return total;
}

/// Solves the equality for the column and inserts the solution everywhere.
void Eliminator::substitute(unsigned column, unsigned equality) {
  auto &constraints = system.constraints;
  const Row solution = system.equality(equality);
  const int64_t sign = solution[column];
  constraints.removeEquality(equality);
  for (int i = constraints.getNumEqualities() - 1; i >= 0; --i) {
    Row row = system.equality(i);
    if (!row[column])
      continue;
    constraints.removeEquality(i);
    if (auto combined = combine(row, 1, solution, -row[column] * sign))
      constraints.addEquality(*combined);
    else
      exact = false;
  }
  for (int i = constraints.getNumInequalities() - 1; i >= 0; --i) {
    Row row = system.inequality(i);
    if (!row[column])
      continue;
    constraints.removeInequality(i);
    if (auto combined = combine(row, 1, solution, -row[column] * sign))
      constraints.addInequality(*combined);
    else
      exact = false;
  }
  system.removeColumn(column);
}

void Eliminator::replaceByShadows(unsigned column) {
  const int variable = system.variableOf(column);
  std::vector<BoundPair> pairs = boundPairs(column, /*thorough=*/true);
  for (const BoundPair &pair : pairs) {
    if (pair.exact)
      continue;
    if (hasOtherExistential(pair.lower, column) ||
        hasOtherExistential(pair.upper, column)) {
      exact = false;
      continue;
    }
    // l*v >= L and u*v <= U have an integer solution iff l*floor(U/u) >= L;
    // L and U are over kt and symbols.
    Linear least = system.linearOf(pair.lower).without(variable) * -1;
    Linear most = system.linearOf(pair.upper).without(variable);
    tests.push_back(system.context().floorDivide(most, pair.upperFactor) *
                        pair.lowerFactor -
                    least);
  }
  for (int i = system.constraints.getNumInequalities() - 1; i >= 0; --i)
    if (system.inequality(i)[column])
      system.constraints.removeInequality(i);
  for (const BoundPair &pair : pairs) {
    if (pair.shadow)
      system.constraints.addInequality(*pair.shadow);
    else
      exact = false;
  }
  system.removeColumn(column);
  shrink();
}

void Eliminator::eliminate(unsigned column) {
  if (int equality = findUnitEquality(column); equality >= 0)
    return substitute(column, equality);
  const int variable = system.variableOf(column);
  splitEqualities(column);
  roundSymbolicBounds(column);
  replaceByShadows(system.column(variable));
}

/// The existential column to eliminate next, or -1.
int Eliminator::cheapestColumn() const {
  int best = -1;
  int64_t bestCost = 0;
  for (bool thorough : {false, true}) {
    // Ask the simplex only if no elimination is cheap without it.
    if (thorough && (best < 0 || bestCost < 1000 || system.state().isThrifty()))
      break;
    best = -1;
    for (unsigned i = 0; i < system.numColumns(); ++i) {
      if (!system.isExistential(system.variableOf(i)))
        continue;
      int64_t columnCost = cost(i, thorough);
      if (best < 0 || columnCost < bestCost) {
        best = i;
        bestCost = columnCost;
      }
    }
  }
  return best;
}

bool Eliminator::run() {
  for (int next = cheapestColumn(); next >= 0; next = cheapestColumn()) {
    if (system.state().isSpent())
      return true;
    eliminate(next);
  }
  // The block of the tile, where an equality gives it.
  for (unsigned i = 1; i < system.numColumns();) {
    if (system.dependsOnTile(system.variableOf(i)) && findUnitEquality(i) >= 0)
      eliminate(i);
    else
      ++i;
  }
  return !system.isEmpty();
}
