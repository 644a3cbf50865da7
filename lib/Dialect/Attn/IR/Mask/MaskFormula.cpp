// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks as formulas over q, k and scalars.
//
// Construction and evaluation of mask formulas.

#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

using namespace attn;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

Linear Linear::variable(int id, int64_t coefficient) {
  Linear result;
  if (coefficient)
    result.terms[id] = coefficient;
  return result;
}

int64_t Linear::coefficient(int id) const {
  auto it = terms.find(id);
  return it == terms.end() ? 0 : it->second;
}

Linear Linear::without(int id) const {
  Linear result = *this;
  result.terms.erase(id);
  return result;
}

Linear &Linear::add(const Linear &other, int64_t factor) {
  overflow |= other.overflow;
  auto addProduct = [&](int64_t &mine, int64_t value) {
    int64_t product, sum;
    // Without the lowest number, of which there is no negative.
    if (llvm::MulOverflow(value, factor, product) ||
        llvm::AddOverflow(mine, product, sum) ||
        sum == std::numeric_limits<int64_t>::min())
      overflow = true;
    else
      mine = sum;
  };
  if (factor)
    for (const auto &[id, coefficient] : other.terms) {
      int64_t &mine = terms[id];
      addProduct(mine, coefficient);
      if (!mine)
        terms.erase(id);
    }
  addProduct(constant, other.constant);
  return *this;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static std::shared_ptr<FormulaNode> makeNode(FormulaKind kind) {
  auto node = std::make_shared<FormulaNode>();
  node->kind = kind;
  return node;
}

Formula attn::truth(bool value) {
  return makeNode(value ? FormulaKind::True : FormulaKind::False);
}

Formula attn::isNonNegative(const Linear &linear) {
  if (linear.isConstant())
    return truth(linear.constant >= 0);
  auto node = makeNode(FormulaKind::Ge);
  node->linear = linear;
  return node;
}

Formula attn::isZero(const Linear &linear) {
  if (linear.isConstant())
    return truth(linear.constant == 0);
  auto node = makeNode(FormulaKind::Eq);
  node->linear = linear;
  return node;
}

Formula attn::lessEqual(const Linear &left, const Linear &right) {
  return isNonNegative(right - left);
}

Formula attn::lessThan(const Linear &left, const Linear &right) {
  return isNonNegative(right - left - Linear(1));
}

/// And and Or alike: drop the neutral formulas, stop at an absorbing one,
/// flatten nested nodes of the same kind.
static Formula combine(FormulaKind kind, FormulaKind neutral,
                       FormulaKind absorbing, ArrayRef<Formula> formulas) {
  auto node = makeNode(kind);
  for (const Formula &formula : formulas) {
    if (formula->kind == absorbing)
      return formula;
    if (formula->kind == neutral)
      continue;
    if (formula->kind == kind)
      llvm::append_range(node->children, formula->children);
    else
      node->children.push_back(formula);
  }
  if (node->children.empty())
    return makeNode(neutral);
  return node->children.size() == 1 ? node->children[0] : Formula(node);
}

Formula attn::allOf(ArrayRef<Formula> formulas) {
  return combine(FormulaKind::And, FormulaKind::True, FormulaKind::False,
                 formulas);
}

Formula attn::anyOf(ArrayRef<Formula> formulas) {
  return combine(FormulaKind::Or, FormulaKind::False, FormulaKind::True,
                 formulas);
}

Formula attn::opaque(unsigned operand, StringRef name, Formula may,
                     Formula mayNot) {
  auto node = makeNode(FormulaKind::Opaque);
  node->operand = operand;
  node->name = name.str();
  node->arguments = {Linear::query(), Linear::key()};
  node->may = std::move(may);
  node->mayNot = std::move(mayNot);
  return node;
}

Formula attn::opaque(const void *term, StringRef name,
                     ArrayRef<Linear> arguments, Formula may, Formula mayNot) {
  auto node = makeNode(FormulaKind::Opaque);
  node->term = term;
  node->name = name.str();
  node->arguments = arguments.vec();
  node->may = std::move(may);
  node->mayNot = std::move(mayNot);
  return node;
}

Formula attn::negate(const Formula &formula) {
  const Linear &linear = formula->linear;
  switch (formula->kind) {
  case FormulaKind::True:
  case FormulaKind::False:
    return truth(formula->kind == FormulaKind::False);
  case FormulaKind::Ge: // not x >= 0 is -x - 1 >= 0: the values are integers
    return isNonNegative(linear * -1 - Linear(1));
  case FormulaKind::Eq:
    return anyOf({isNonNegative(linear - Linear(1)),
                  isNonNegative(linear * -1 - Linear(1))});
  case FormulaKind::And:
  case FormulaKind::Or: {
    std::vector<Formula> children;
    for (const Formula &child : formula->children)
      children.push_back(negate(child));
    return formula->kind == FormulaKind::And ? anyOf(children)
                                             : allOf(children);
  }
  case FormulaKind::Opaque: {
    auto node = std::make_shared<FormulaNode>(*formula);
    node->negated = !formula->negated;
    std::swap(node->may, node->mayNot);
    return node;
  }
  }
  llvm_unreachable("all kinds of formula are handled");
}

//===----------------------------------------------------------------------===//
// MaskContext: symbols and divisions
//===----------------------------------------------------------------------===//

MaskContext::MaskContext() {
  Linear begin = addSymbol("qlo", SymbolKind::QueryBegin, 0, true);
  Linear end = addSymbol("qhi", SymbolKind::QueryEnd, 0, false);
  Linear queries = addSymbol("Sq", SymbolKind::QueryLength, 0, false);
  addSymbol("Skv", SymbolKind::KeyLength, 0, true);
  addFact(end - begin - Linear(1));
  addFact(queries - end);
}

Linear MaskContext::addSymbol(StringRef name, SymbolKind kind, unsigned operand,
                              bool nonNegative) {
  Linear symbol = Linear::variable(numValues());
  symbolList.push_back(
      {name.str(), kind, operand, Role::None, nullptr, /*saturates=*/false});
  if (nonNegative)
    addFact(symbol);
  return symbol;
}

Linear MaskContext::operandSymbol(unsigned operandIndex, StringRef name,
                                  bool nonNegative) {
  for (size_t i = 0; i < symbolList.size(); ++i) {
    const Symbol &symbol = symbolList[i];
    if (symbol.kind != SymbolKind::Operand || symbol.operand != operandIndex)
      continue;
    Linear known = Linear::variable(Variable::FirstSymbol + i);
    if (nonNegative && !llvm::is_contained(factList, known))
      addFact(known);
    return known;
  }
  return addSymbol(name, SymbolKind::Operand, operandIndex, nonNegative);
}

Linear MaskContext::freeSymbol(StringRef name, bool nonNegative, Role role,
                               const void *term) {
  Linear symbol = addSymbol(name, SymbolKind::Free, 0, nonNegative);
  symbolList.back().role = role;
  symbolList.back().term = term;
  return symbol;
}

Linear MaskContext::sharedSymbol(StringRef name, Role role) {
  for (size_t i = 0; i < symbolList.size(); ++i)
    if (symbolList[i].role == role)
      return Linear::variable(Variable::FirstSymbol + i);
  return freeSymbol(name, /*nonNegative=*/false, role);
}

void MaskContext::setSaturates(const Linear &symbol) {
  symbolList[symbol.terms.begin()->first - Variable::FirstSymbol].saturates =
      true;
}

Linear MaskContext::floorDivide(const Linear &numerator, int64_t divisor) {
  assert(divisor > 0 && "only divisions by positive constants");
  if (divisor == 1 || numerator.overflow)
    return numerator;
  // What the divisor divides comes out of the division.
  Linear whole, rest = numerator;
  for (const auto &[id, coefficient] : numerator.terms)
    if (coefficient % divisor == 0) {
      whole.terms[id] = coefficient / divisor;
      rest.terms.erase(id);
    }
  whole.constant = llvm::divideFloorSigned(rest.constant, divisor);
  rest.constant %= divisor;
  if (rest.constant < 0)
    rest.constant += divisor;
  if (rest.isConstant())
    return whole;
  // floor((g*x + c) / (g*d)) = floor((x + floor(c/g)) / d)
  int64_t common = divisor;
  for (const auto &[id, coefficient] : rest.terms)
    common = std::gcd(common, coefficient);
  if (common > 1) {
    for (auto &[id, coefficient] : rest.terms)
      coefficient /= common;
    rest.constant = llvm::divideFloorSigned(rest.constant, common);
    return whole + floorDivide(rest, divisor / common);
  }
  for (size_t i = 0; i < divisionList.size(); ++i)
    if (divisionList[i].divisor == divisor && divisionList[i].numerator == rest)
      return whole + Linear::variable(Variable::FirstDivision + i);
  divisionList.push_back({rest, divisor});
  return whole +
         Linear::variable(Variable::FirstDivision + divisionList.size() - 1);
}

Linear MaskContext::modulo(const Linear &numerator, int64_t divisor) {
  return numerator - floorDivide(numerator, divisor) * divisor;
}

bool MaskContext::dependsOn(const Linear &linear,
                            llvm::function_ref<bool(int)> matches) const {
  return llvm::any_of(linear.terms, [&](const auto &term) {
    return Variable::isDivision(term.first)
               ? dependsOn(division(term.first).numerator, matches)
               : matches(term.first);
  });
}

bool MaskContext::dependsOn(const Formula &formula,
                            llvm::function_ref<bool(int)> matches) const {
  auto ofLinear = [&](const Linear &linear) {
    return dependsOn(linear, matches);
  };
  auto ofFormula = [&](const Formula &inner) {
    return inner && dependsOn(inner, matches);
  };
  return ofLinear(formula->linear) ||
         llvm::any_of(formula->arguments, ofLinear) ||
         llvm::any_of(formula->children, ofFormula) ||
         ofFormula(formula->may) || ofFormula(formula->mayNot);
}

bool MaskContext::dependsOn(const Linear &linear, int variable) const {
  return dependsOn(linear, [&](int id) { return id == variable; });
}

double MaskContext::magnitude(const Linear &linear) const {
  double sum = std::abs(static_cast<double>(linear.constant));
  for (const auto &[id, coefficient] : linear.terms) {
    double of = static_cast<double>(MaxLength);
    if (Variable::isDivision(id)) {
      double numerator = magnitude(division(id).numerator);
      if (numerator > 0x1p62)
        return numerator;
      of = numerator / static_cast<double>(division(id).divisor) + 1;
    } else if (id >= Variable::FirstScalar) {
      of = static_cast<double>(MaxNumber);
    }
    sum += std::abs(static_cast<double>(coefficient)) * of;
  }
  return sum;
}

bool MaskContext::fits(const Linear &linear) const {
  return !linear.overflow && magnitude(linear) <= 0x1p62;
}

//===----------------------------------------------------------------------===//
// MaskContext: evaluation
//===----------------------------------------------------------------------===//

int64_t MaskContext::evaluate(const Linear &linear,
                              ArrayRef<int64_t> values) const {
  int64_t result = linear.constant;
  for (const auto &[id, coefficient] : linear.terms) {
    if (!Variable::isDivision(id)) {
      result += coefficient * values[id];
      continue;
    }
    const Division &quotient = division(id);
    result += coefficient *
              llvm::divideFloorSigned(evaluate(quotient.numerator, values),
                                      quotient.divisor);
  }
  return result;
}

bool MaskContext::evaluate(const Formula &formula, ArrayRef<int64_t> values,
                           OpaqueCallback opaque) const {
  auto holds = [&](const Formula &child) {
    return evaluate(child, values, opaque);
  };
  switch (formula->kind) {
  case FormulaKind::True:
  case FormulaKind::False:
    return formula->kind == FormulaKind::True;
  case FormulaKind::Ge:
    return evaluate(formula->linear, values) >= 0;
  case FormulaKind::Eq:
    return evaluate(formula->linear, values) == 0;
  case FormulaKind::And:
    return llvm::all_of(formula->children, holds);
  case FormulaKind::Or:
    return llvm::any_of(formula->children, holds);
  case FormulaKind::Opaque:
    return opaque(formula->operand, values[Variable::Query],
                  values[Variable::Key]) != formula->negated;
  }
  llvm_unreachable("all kinds of formula are handled");
}
