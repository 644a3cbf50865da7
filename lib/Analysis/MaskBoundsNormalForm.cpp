// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formula to conjunctions.
//
// The disjunctive normal form of a mask, pruned as it grows.  Opaque literals
// become what they may be; that one rule makes everything behind it sound.

#include "MaskBoundsDetail.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace attn;
using namespace attn::detail;
using Conjunctions = std::vector<Conjunction>;

/// Query tiles begin at multiples of TQ and key tiles at multiples of TK, so a
/// block number that is the same for a whole tile needs no q or k:
/// floor(q/c) = floor(qlo/c) if TQ divides c, and floor(k/c) = floor(kt*TK/c)
/// if TK divides c.  Block masks thus stay one interval.
static Linear alignToTiles(AnalysisState &state, const Linear &linear) {
  MaskContext &context = state.context;
  Linear result(linear.constant);
  for (const auto &[id, coefficient] : linear.terms) {
    if (!Variable::isDivision(id)) {
      result += Linear::variable(id, coefficient);
      continue;
    }
    MaskContext::Division division = context.division(id);
    int64_t divisor = division.divisor;
    Linear numerator = alignToTiles(state, division.numerator);
    auto isBlockOf = [&](int variable, int64_t tile) {
      return tile > 0 && numerator.terms.size() == 1 &&
             numerator.coefficient(variable) == 1 && divisor % tile == 0 &&
             numerator.constant % tile == 0;
    };
    if (state.options.rowsInOneTile &&
        isBlockOf(Variable::Query, state.tiles.query))
      numerator =
          Linear::variable(Variable::QueryBegin) + Linear(numerator.constant);
    else if (isBlockOf(Variable::Key, state.tiles.key))
      numerator = Linear::variable(Variable::KeyTile, state.tiles.key) +
                  Linear(numerator.constant);
    result += context.floorDivide(numerator, divisor) * coefficient;
  }
  return result;
}

Polyhedron detail::restricted(Polyhedron base, const Conjunction &conjunction) {
  for (const Linear &linear : conjunction.nonNegative)
    base.add(linear);
  for (const Linear &linear : conjunction.zero)
    base.add(linear, /*isEquality=*/true);
  return base;
}

/// A conjunction with more constraints than another is part of it.
static bool isPartOf(const Conjunction &part, const Conjunction &whole) {
  auto includes = [](const std::set<Linear> &a, const std::set<Linear> &b) {
    return std::includes(a.begin(), a.end(), b.begin(), b.end());
  };
  return includes(part.nonNegative, whole.nonNegative) &&
         includes(part.zero, whole.zero) && (whole.exact || !part.exact);
}

static bool isSame(const Conjunction &a, const Conjunction &b) {
  return a.nonNegative == b.nonNegative && a.zero == b.zero &&
         a.exact == b.exact;
}

static Conjunctions withoutParts(const Conjunctions &all) {
  Conjunctions kept;
  for (size_t i = 0; i < all.size(); ++i) {
    bool redundant = false;
    for (size_t j = 0; j < all.size() && !redundant; ++j)
      redundant = i != j && isPartOf(all[i], all[j]) &&
                  (!isSame(all[i], all[j]) || j < i);
    if (!redundant)
      kept.push_back(all[i]);
  }
  return kept;
}

/// All pairs, without those that are empty.
static std::optional<Conjunctions> distribute(const Conjunctions &left,
                                              const Conjunctions &right,
                                              const Polyhedron &base) {
  Conjunctions product;
  for (const Conjunction &a : left)
    for (const Conjunction &b : right) {
      Conjunction both = a;
      both.nonNegative.insert(b.nonNegative.begin(), b.nonNegative.end());
      both.zero.insert(b.zero.begin(), b.zero.end());
      both.exact &= b.exact;
      if (base.state().isSpent())
        return std::nullopt;
      if (!restricted(base, both).isEmpty())
        product.push_back(both);
    }
  return withoutParts(product);
}

static Conjunction literal(const Formula &formula, AnalysisState &state) {
  Conjunction conjunction;
  Linear aligned = alignToTiles(state, formula->linear);
  (formula->kind == FormulaKind::Ge ? conjunction.nonNegative
                                    : conjunction.zero)
      .insert(aligned);
  return conjunction;
}

std::optional<Conjunctions> detail::normalForm(const Formula &formula,
                                               const Polyhedron &base) {
  switch (formula->kind) {
  case FormulaKind::True:
    return Conjunctions{Conjunction()};
  case FormulaKind::False:
    return Conjunctions();
  case FormulaKind::Ge:
  case FormulaKind::Eq:
    return Conjunctions{literal(formula, base.state())};
  case FormulaKind::Opaque: {
    auto result = normalForm(formula->may, base);
    if (result)
      for (Conjunction &conjunction : *result)
        conjunction.exact = false;
    return result;
  }
  case FormulaKind::Or: {
    Conjunctions result;
    for (const Formula &child : formula->children) {
      auto parts = normalForm(child, base);
      if (!parts || result.size() + parts->size() > MaxConjunctions)
        return std::nullopt;
      result.insert(result.end(), parts->begin(), parts->end());
    }
    return result;
  }
  case FormulaKind::And: {
    Conjunctions result{Conjunction()};
    for (const Formula &child : formula->children) {
      auto parts = normalForm(child, base);
      if (!parts)
        return std::nullopt;
      auto product = distribute(result, *parts, base);
      if (!product || product->size() > MaxConjunctions)
        return std::nullopt;
      result = std::move(*product);
    }
    return result;
  }
  }
  llvm_unreachable("all kinds of formula are handled");
}
