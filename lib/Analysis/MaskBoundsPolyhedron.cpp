// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constraints with named columns.
//
// A thin layer over MLIR's Presburger library.  The table of divisions is ours,
// since the library recovers a division only while its defining rows exist,
// and elimination may take them.

#include "MaskBoundsDetail.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

using namespace attn;
using namespace attn::detail;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::Simplex;
using mlir::presburger::VarKind;

Polyhedron::Polyhedron(AnalysisState &state)
    : constraints(PresburgerSpace::getSetSpace(
          /*numDims=*/1, state.context.symbols().size())),
      shared(&state) {
  columns.push_back(Variable::KeyTile);
  for (size_t i = 0; i < state.context.symbols().size(); ++i)
    columns.push_back(Variable::FirstSymbol + i);
}

unsigned Polyhedron::column(int variable) {
  auto it = llvm::find(columns, variable);
  if (it != columns.end())
    return it - columns.begin();
  if (Variable::isDivision(variable)) {
    MaskContext::Division division = context().division(variable);
    // The row may add columns, and has the width before this one is added.
    Row numerator = rowOf(division.numerator);
    columns.push_back(variable);
    constraints.addLocalFloorDiv(numerator, division.divisor);
  } else {
    columns.push_back(variable);
    constraints.appendVar(VarKind::Local);
  }
  return columns.size() - 1;
}

void Polyhedron::removeColumn(unsigned column) {
  constraints.removeVar(column);
  columns.erase(columns.begin() + column);
}

Row Polyhedron::rowOf(const Linear &linear) {
  for (const auto &term : linear.terms)
    column(term.first);
  Row row(constraints.getNumCols(), 0);
  for (const auto &[id, coefficient] : linear.terms)
    row[column(id)] = coefficient;
  row.back() = linear.constant;
  return row;
}

Linear Polyhedron::linearOf(llvm::ArrayRef<int64_t> row) const {
  Linear linear(row.back());
  for (size_t i = 0; i < columns.size(); ++i)
    if (row[i])
      linear.terms[columns[i]] = row[i];
  return linear;
}

Row Polyhedron::inequality(unsigned index) const {
  auto row = constraints.getInequality64(index);
  return Row(row.begin(), row.end());
}

Row Polyhedron::equality(unsigned index) const {
  auto row = constraints.getEquality64(index);
  return Row(row.begin(), row.end());
}

std::vector<Linear> Polyhedron::inequalities() const {
  std::vector<Linear> rows;
  for (unsigned i = 0; i < constraints.getNumInequalities(); ++i)
    rows.push_back(linearOf(inequality(i)));
  return rows;
}

void Polyhedron::add(const Linear &linear, bool isEquality) {
  if (linear.overflow) {
    shared->overflow = true;
    return;
  }
  Row row = rowOf(linear);
  if (isEquality)
    constraints.addEquality(row);
  else
    constraints.addInequality(row);
}

void Polyhedron::addFacts() {
  for (const Linear &fact : context().facts())
    add(fact);
  if (int64_t rows = shared->tiles.query)
    add(Linear::variable(Variable::QueryBegin) -
        Linear::variable(Variable::QueryEnd) + Linear(rows));
}

bool Polyhedron::isExistential(int variable) const {
  return context().dependsOn(Linear::variable(variable), [](int id) {
    return id == Variable::Query || id == Variable::Key;
  });
}

bool Polyhedron::dependsOnTile(int variable) const {
  return context().dependsOn(Linear::variable(variable), Variable::KeyTile);
}

bool Polyhedron::isEmpty() const {
  auto copy = constraints;
  copy.removeTrivialRedundancy(); // also divides by the gcd and rounds
  int64_t rows = copy.getNumConstraints();
  shared->work += rows * rows;
  return copy.isEmptyByGCDTest() || Simplex(copy).isEmpty();
}

bool Polyhedron::implies(const Linear &linear) const {
  Polyhedron counterexamples = *this;
  counterexamples.add(linear * -1 - Linear(1));
  return counterexamples.isEmpty();
}
