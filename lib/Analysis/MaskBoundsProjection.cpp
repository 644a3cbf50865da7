// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjunction to an interval of tiles: what is left when q, k and the divisions
// that contain them are eliminated (MaskBoundsElimination.cpp).

#include "MaskBoundsElimination.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace attn;
using namespace attn::detail;

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
