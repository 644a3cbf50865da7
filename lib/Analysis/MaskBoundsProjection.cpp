// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjunction to an interval of tiles.
//
// Eliminates q, k and the divisions that contain them from one conjunction:
// Fourier-Motzkin with the Omega test's exactness condition, symbolic floors
// for bounds over symbols only, and tests per tile where neither helps.

#include "MaskBoundsDetail.h"
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

namespace {
/// A lower row l*v >= L and an upper row u*v <= U of the variable v.
struct BoundPair {
  Row lower, upper;
  int64_t lowerFactor, upperFactor; ///< l and u
  std::optional<Row> shadow;        ///< l*U >= u*L
  bool exact;
};

class Eliminator {
public:
  Eliminator(Polyhedron system, bool exact)
      : exact(exact), system(std::move(system)) {}

  /// False if nothing is left.
  bool run();

  bool exact;
  std::vector<Linear> tests;
  Polyhedron system;

private:
  bool hasOnlySymbols(const Row &row, unsigned except) const;
  bool hasOtherExistential(const Row &row, unsigned except) const;
  int findUnitEquality(unsigned column) const;
  std::vector<BoundPair> boundPairs(unsigned column, bool thorough) const;
  int64_t cost(unsigned column, bool thorough) const;
  int cheapestColumn() const;

  void eliminate(unsigned column);
  void substitute(unsigned column, unsigned equality);
  void splitEqualities(unsigned column);
  void roundSymbolicBounds(unsigned column);
  void replaceByShadows(unsigned column);
  void keepOnly(llvm::ArrayRef<Linear> rows);
  void keepShortest(size_t limit);
  void shrink();

  int numFloors = 0;
};
} // namespace

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

//===----------------------------------------------------------------------===//
// Rows to intervals
//===----------------------------------------------------------------------===//

std::vector<Linear> detail::rowsOf(const KeyInterval &interval) {
  std::vector<Linear> rows = interval.guards;
  for (const KeyBound &bound : interval.lower)
    rows.push_back(Linear::variable(Variable::KeyTile, bound.divisor) -
                   bound.expression);
  for (const KeyBound &bound : interval.upper)
    rows.push_back(bound.expression -
                   Linear::variable(Variable::KeyTile, bound.divisor));
  return rows;
}

KeyInterval detail::intervalOf(llvm::ArrayRef<Linear> rows,
                               AnalysisState &state) {
  const MaskContext &context = state.context;
  KeyInterval interval;
  for (const Linear &row : rows) {
    if (!context.fits(row)) {
      state.overflow = true;
      continue;
    }
    int64_t factor = row.coefficient(Variable::KeyTile);
    Linear rest = row.without(Variable::KeyTile);
    if (context.dependsOn(rest, Variable::KeyTile)) // a division of kt
      interval.tests.push_back(row);
    else if (factor > 0)
      interval.lower.push_back({rest * -1, factor});
    else if (factor < 0)
      interval.upper.push_back({rest, -factor});
    else
      interval.guards.push_back(rest);
  }
  return interval;
}

/// A bound on one block number floor((a*kt + ..)/c) and on nothing else of kt
/// is a bound on kt.
static Linear unwrapBlockBound(const Linear &row, const Polyhedron &system) {
  MaskContext &context = system.context();
  int block = -1;
  for (const auto &term : row.terms)
    if (system.dependsOnTile(term.first)) {
      if (block >= 0 || !Variable::isDivision(term.first))
        return row;
      block = term.first;
    }
  if (block < 0)
    return row;
  MaskContext::Division division = context.division(block);
  for (const auto &term : division.numerator.terms)
    if (term.first != Variable::KeyTile && system.dependsOnTile(term.first))
      return row;
  int64_t factor = row.coefficient(block);
  Linear rest = row.without(block);
  Linear bound =
      factor > 0 ? division.numerator -
                       context.floorDivide(Linear(factor - 1) - rest, factor) *
                           division.divisor
                 : context.floorDivide(rest, -factor) * division.divisor +
                       Linear(division.divisor - 1) - division.numerator;
  return bound.overflow ? row : bound;
}

/// Drops rows that the facts and the other rows imply.
static void dropImplied(std::vector<Linear> &rows, const Polyhedron &known) {
  for (size_t i = 0; i < rows.size() && !known.state().isSpent();) {
    Polyhedron others = known;
    for (size_t j = 0; j < rows.size(); ++j)
      if (j != i)
        others.add(rows[j]);
    if (others.implies(rows[i]))
      rows.erase(rows.begin() + i);
    else
      ++i;
  }
}

KeyInterval detail::everyTile() {
  KeyInterval interval;
  interval.lower = {{Linear(0), 1}};
  interval.exact = false;
  return interval;
}

std::optional<KeyInterval> detail::projectToTiles(Polyhedron start,
                                                  bool exact) {
  Eliminator eliminator(std::move(start), exact);
  if (!eliminator.run())
    return std::nullopt;
  if (eliminator.system.state().isSpent())
    return everyTile();
  Polyhedron &system = eliminator.system;
  MaskContext &context = system.context();

  std::vector<Linear> rows = system.inequalities();
  for (unsigned i = 0; i < system.constraints.getNumEqualities(); ++i) {
    Linear row = system.linearOf(system.equality(i));
    rows.push_back(row);
    rows.push_back(row * -1);
  }
  rows.push_back(Linear::variable(Variable::KeyTile)); // kt >= 0
  // Facts are no news, and may be of symbols that the mask does not use.
  llvm::erase_if(rows, [&](const Linear &row) {
    return llvm::is_contained(context.facts(), row);
  });
  for (Linear &row : rows)
    row = unwrapBlockBound(row, system);
  // Long rows first: they are the ones to get rid of.
  sortBySize(rows, [](const Linear &row) { return ~row.terms.size(); });
  Polyhedron known(system.state());
  known.addFacts();
  for (unsigned i = 0; i < system.numColumns(); ++i)
    known.column(system.variableOf(i)); // what symbolic floors mean
  dropImplied(rows, known);

  AnalysisState &state = system.state();
  KeyInterval interval = intervalOf(rows, state);
  for (const Linear &test : eliminator.tests) {
    if (!context.fits(test)) {
      state.overflow = true;
      continue;
    }
    (context.dependsOn(test, Variable::KeyTile) ? interval.tests
                                                : interval.guards)
        .push_back(test);
  }
  interval.exact = eliminator.exact && !state.overflow;
  return interval;
}
