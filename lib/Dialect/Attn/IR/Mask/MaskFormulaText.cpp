// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formulas as people write them.
#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using llvm::ArrayRef;
using llvm::StringRef;

std::string MaskContext::nameOf(int variable) const {
  if (Variable::isDivision(variable)) {
    const Division &quotient = division(variable);
    std::string numerator = toString(quotient.numerator);
    if (numerator.find(' ') != std::string::npos)
      numerator = "(" + numerator + ")";
    return "floor(" + numerator + "/" + std::to_string(quotient.divisor) + ")";
  }
  switch (variable) {
  case Variable::Query:
    return "q";
  case Variable::Key:
    return "k";
  case Variable::KeyTile:
    return "kt";
  default:
    return symbolList[variable - Variable::FirstSymbol].name;
  }
}

std::string MaskContext::toString(const Linear &linear) const {
  std::string text;
  for (bool negative : {false, true})
    for (const auto &[id, coefficient] : linear.terms) {
      if ((coefficient < 0) != negative)
        continue;
      if (negative)
        text += text.empty() ? "-" : " - ";
      else if (!text.empty())
        text += " + ";
      if (int64_t magnitude = negative ? -coefficient : coefficient;
          magnitude != 1)
        text += std::to_string(magnitude) + "*";
      text += nameOf(id);
    }
  if (text.empty())
    return std::to_string(linear.constant);
  if (linear.constant > 0)
    text += " + " + std::to_string(linear.constant);
  else if (linear.constant < 0)
    text += " - " + std::to_string(-linear.constant);
  return text;
}

/// Prints `linear >= 0` or `linear == 0` the way a person writes it: k or q
/// alone on the left if it can be, else negative terms moved to the right.
std::string MaskContext::comparison(const Linear &linear, bool equality) const {
  for (int id : {int(Variable::Key), int(Variable::Query)}) {
    int64_t sign = linear.coefficient(id);
    if (sign != 1 && sign != -1)
      continue;
    Linear other = linear.without(id) * -sign;
    if (equality)
      return nameOf(id) + " == " + toString(other);
    // x <= e - 1 reads x < e; a bare constant reads x <= 7.
    bool strict = !other.isConstant() && other.constant == sign;
    const char *relation =
        sign < 0 ? (strict ? " < " : " <= ") : (strict ? " > " : " >= ");
    return nameOf(id) + relation +
           toString(strict ? other - Linear(sign) : other);
  }
  Linear left, right;
  for (const auto &[id, coefficient] : linear.terms)
    (coefficient > 0 ? left : right) +=
        Linear::variable(id, coefficient > 0 ? coefficient : -coefficient);
  (linear.constant > 0 ? left : right) +=
      Linear(linear.constant > 0 ? linear.constant : -linear.constant);
  return toString(left) + (equality ? " == " : " >= ") + toString(right);
}

std::string MaskContext::toString(const Formula &formula) const {
  switch (formula->kind) {
  case FormulaKind::True:
  case FormulaKind::False:
    return formula->kind == FormulaKind::True ? "true" : "false";
  case FormulaKind::Ge:
  case FormulaKind::Eq:
    return comparison(formula->linear, formula->kind == FormulaKind::Eq);
  case FormulaKind::And:
  case FormulaKind::Or: {
    bool isAnd = formula->kind == FormulaKind::And;
    std::string text;
    for (const Formula &child : formula->children) {
      if (!text.empty())
        text += isAnd ? " and " : " or ";
      bool nested =
          child->kind == FormulaKind::And || child->kind == FormulaKind::Or;
      text += nested ? "(" + toString(child) + ")" : toString(child);
    }
    return text;
  }
  case FormulaKind::Opaque:
    return (formula->negated ? "not " : "") + formula->name;
  }
  llvm_unreachable("all kinds of formula are handled");
}
