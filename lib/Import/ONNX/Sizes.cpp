// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace attn::onnx;

/// Those of a quotient: a model's sizes have a few, and hostile ones any
/// number.
static constexpr unsigned mostTerms = 256;
static constexpr unsigned mostDivisions = 16;

std::optional<int64_t> Size::constant() const {
  if (!valid)
    return std::nullopt;
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

int64_t Size::fixed() const {
  auto term = terms.find({});
  return term == terms.end() ? 0 : term->second;
}

void Size::add(const Monomial &monomial, int64_t coefficient) {
  auto [term, isNew] = terms.try_emplace(monomial, 0);
  if (llvm::AddOverflow(term->second, coefficient, term->second))
    valid = false;
  if (term->second == 0)
    terms.erase(term);
}

const std::pair<const Size::Monomial, int64_t> &Size::leading() const {
  return *std::max_element(
      terms.begin(), terms.end(), [](const auto &a, const auto &b) {
        return std::forward_as_tuple(a.first.size(), a.first) <
               std::forward_as_tuple(b.first.size(), b.first);
      });
}

bool Size::isPositive() const {
  return valid && fixed() > 0 &&
         llvm::all_of(terms, [](const auto &term) { return term.second > 0; });
}

Size Size::operator+(const Size &other) const {
  Size sum = *this;
  sum.valid &= other.valid;
  for (const auto &[monomial, coefficient] : other.terms)
    sum.add(monomial, coefficient);
  return sum;
}

Size Size::operator-(const Size &other) const {
  return *this + other * Size(-1);
}

Size Size::operator*(const Size &other) const {
  Size result;
  result.valid = valid && other.valid;
  for (const auto &[left, a] : terms)
    for (const auto &[right, b] : other.terms) {
      Monomial both;
      std::merge(left.begin(), left.end(), right.begin(), right.end(),
                 std::back_inserter(both));
      int64_t coefficient;
      if (llvm::MulOverflow(a, b, coefficient))
        result.valid = false;
      else
        result.add(both, coefficient);
    }
  return result;
}

std::optional<Size> Size::dividedBy(const Size &divisor) const {
  if (!valid || !divisor.valid || divisor.terms.empty())
    return std::nullopt;
  const auto &[symbols, number] = divisor.leading();
  Size rest = *this, quotient;
  for (unsigned steps = 0; !rest.terms.empty(); ++steps) {
    const auto &[monomial, coefficient] = rest.leading();
    if (steps == mostTerms ||
        !std::includes(monomial.begin(), monomial.end(), symbols.begin(),
                       symbols.end()) ||
        (number == -1 && coefficient == INT64_MIN) || coefficient % number)
      return std::nullopt;
    Monomial left;
    std::set_difference(monomial.begin(), monomial.end(), symbols.begin(),
                        symbols.end(), std::back_inserter(left));
    Size part;
    part.add(left, coefficient / number);
    quotient = quotient + part;
    rest = rest - part * divisor;
    if (!rest.valid)
      return std::nullopt;
  }
  return quotient;
}

unsigned Size::latest() const {
  unsigned last = 0;
  for (const auto &[monomial, coefficient] : terms)
    if (!monomial.empty())
      last = std::max(last, monomial.back() + 1);
  return last;
}

bool Size::isSum() const {
  return valid &&
         llvm::all_of(terms, [](const auto &term) { return term.second > 0; });
}

std::optional<std::pair<Size, Size>> Size::solved(const Size &other) const {
  if (!valid || !other.valid || terms.size() != 1 || other.terms.size() != 1)
    return std::nullopt;
  const auto &[left, a] = *terms.begin();
  const auto &[right, b] = *other.terms.begin();
  Monomial mine, its;
  std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                      std::back_inserter(mine));
  std::set_difference(right.begin(), right.end(), left.begin(), left.end(),
                      std::back_inserter(its));
  if (mine.size() < its.size())
    return other.solved(*this);
  if (mine.size() != 1 || a <= 0 || b <= 0 || b % a || (!its.empty() && a != b))
    return std::nullopt;
  return std::pair(symbol(mine[0]), its.empty() ? Size(b / a) : symbol(its[0]));
}

std::optional<std::pair<Size, int64_t>>
Size::multipleFor(const Size &divisor) const {
  if (!valid || !divisor.valid || terms.size() != 1 ||
      divisor.terms.size() != 1)
    return std::nullopt;
  const auto &[all, a] = *terms.begin();
  const auto &[part, b] = *divisor.terms.begin();
  Monomial left;
  std::set_difference(all.begin(), all.end(), part.begin(), part.end(),
                      std::back_inserter(left));
  if (a <= 0 || b <= 0 || left.size() != 1 ||
      all.size() != part.size() + left.size())
    return std::nullopt;
  return std::pair(symbol(left[0]), b / std::gcd(a, b));
}

std::optional<std::pair<Size, Size>> Size::sameFor(const Size &divisor) const {
  if (!valid || !divisor.valid || terms.size() != 1 ||
      divisor.terms.size() != 1)
    return std::nullopt;
  const auto &[all, a] = *terms.begin();
  const auto &[part, b] = *divisor.terms.begin();
  Monomial mine, its;
  std::set_difference(all.begin(), all.end(), part.begin(), part.end(),
                      std::back_inserter(mine));
  std::set_difference(part.begin(), part.end(), all.begin(), all.end(),
                      std::back_inserter(its));
  if (mine.size() != 1 || its.size() != 1 || a <= 0 || b <= 0 || a % b)
    return std::nullopt;
  return std::pair(symbol(mine[0]), symbol(its[0]));
}

Size Size::replaced(unsigned symbol, const Size &other) const {
  Size result;
  result.valid = valid;
  for (const auto &[monomial, coefficient] : terms) {
    Size term = coefficient;
    for (unsigned factor : monomial)
      term = term * (factor == symbol ? other : Size::symbol(factor));
    result = result + term;
  }
  return result;
}

Size attn::onnx::product(ArrayRef<Size> sizes) {
  Size all = 1;
  for (const Size &size : sizes)
    all = all * size;
  return all;
}

std::optional<Size> Sizes::quotient(const Size &size, int64_t divisor) {
  if (!size.valid)
    return std::nullopt;
  // What is a multiple of the divisor leaves the quotient, and a number below 0
  // with it.
  Size whole, rest;
  for (const auto &[monomial, coefficient] : size.terms) {
    int64_t times = llvm::divideFloorSigned(coefficient, divisor);
    whole.add(monomial, times);
    rest.add(monomial, coefficient - times * divisor);
  }
  if (rest.constant())
    return whole;
  int64_t number = rest.fixed();
  Size unknown = rest - Size(number);
  if (const auto &[monomial, coefficient] = unknown.leading();
      unknown.terms.size() == 1 && monomial.size() == 1 && coefficient == 1)
    if (const std::optional<Quotient> &inner = symbols[monomial[0]].quotient) {
      int64_t all, more;
      if (!llvm::MulOverflow(inner->divisor, divisor, all) &&
          !llvm::MulOverflow(inner->divisor, number, more)) {
        std::optional<Size> both = quotient(inner->number + Size(more), all);
        return both ? whole + *both : both;
      }
    }
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (symbol.quotient && symbol.quotient->divisor == divisor &&
        symbol.quotient->number == rest)
      return whole + Size::symbol(i);
  unsigned cost = 1;
  for (const auto &[monomial, coefficient] : rest.terms)
    for (unsigned symbol : monomial)
      if (symbols[symbol].quotient)
        cost += symbols[symbol].quotient->cost;
  if (cost > mostDivisions)
    return std::nullopt;
  symbols.push_back({Value(), Quotient{rest, divisor, cost}});
  return whole + Size::symbol(symbols.size() - 1);
}

Size Sizes::multiple(const Size &size, int64_t divisor) {
  symbols.push_back({Value(), Quotient{size, divisor, 1, true}});
  return Size(divisor) * Size::symbol(symbols.size() - 1);
}

std::optional<std::pair<Size, int64_t>>
Sizes::multipleFor(const Size &a, const Size &b) const {
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    const std::optional<Quotient> &quotient = symbol.quotient;
    if (!quotient || quotient->number.terms.size() != 1)
      continue;
    const auto &[monomial, coefficient] = *quotient->number.terms.begin();
    Size times = Size(quotient->divisor) * Size::symbol(i);
    if (monomial.size() == 1 && coefficient == 1 &&
        a.replaced(monomial[0], times) == b.replaced(monomial[0], times))
      return std::pair(quotient->number, quotient->divisor);
  }
  return std::nullopt;
}

bool Sizes::isAtMost(const Size &a, const Size &b) const {
  Size rest = b - a;
  // A quotient that is subtracted is at most its number over its divisor, and
  // one that is added at least that of its number less a remainder: the
  // difference times the divisor has no quotient.
  for (unsigned left = mostDivisions; left && !rest.isSum(); --left) {
    auto find = [&](bool isSubtracted) {
      return llvm::find_if(rest.terms, [&](const auto &term) {
        return (term.second < 0) == isSubtracted && term.first.size() == 1 &&
               symbols[term.first[0]].quotient;
      });
    };
    auto term = find(true);
    if (term == rest.terms.end())
      term = find(false);
    if (term == rest.terms.end())
      break;
    const Quotient &quotient = *symbols[term->first[0]].quotient;
    Size times = term->second, symbol = Size::symbol(term->first[0]),
         most = quotient.number;
    if (term->second > 0)
      most = most - Size(quotient.divisor - 1);
    rest = (rest - times * symbol) * Size(quotient.divisor) + times * most;
  }
  return rest.isSum();
}

bool Sizes::isOlder(const Size &size, unsigned mark) const {
  for (const auto &[monomial, coefficient] : size.terms)
    for (unsigned symbol : monomial) {
      const std::optional<Quotient> &quotient = symbols[symbol].quotient;
      if (symbol >= mark && !(quotient && isOlder(quotient->number, mark)))
        return false;
    }
  return true;
}

Value Sizes::emit(OpBuilder &b, Location loc, unsigned symbol) {
  if (Value value = symbols[symbol].value)
    return value;
  Quotient quotient = *symbols[symbol].quotient;
  return arith::FloorDivSIOp::create(
      b, loc, emit(b, loc, quotient.number),
      arith::ConstantIndexOp::create(b, loc, quotient.divisor));
}

/// A product of symbols, times `coefficient`.
Value Sizes::emit(OpBuilder &b, Location loc, const Size::Monomial &monomial,
                  int64_t coefficient) {
  Value term;
  for (unsigned symbol : monomial) {
    Value factor;
    const std::optional<Quotient> &quotient = symbols[symbol].quotient;
    if (quotient && quotient->isExact && coefficient % quotient->divisor == 0) {
      // All of the number, without a division.
      coefficient /= quotient->divisor;
      factor = emit(b, loc, Size(quotient->number));
    } else {
      factor = emit(b, loc, symbol);
    }
    term = term ? arith::MulIOp::create(b, loc, term, factor) : factor;
  }
  if (term && coefficient == 1)
    return term;
  Value number = arith::ConstantIndexOp::create(b, loc, coefficient);
  return term ? arith::MulIOp::create(b, loc, term, number) : number;
}

Value Sizes::emit(OpBuilder &b, Location loc, const Size &size) {
  if (std::optional<int64_t> constant = size.constant())
    return arith::ConstantIndexOp::create(b, loc, *constant);
  Value sum;
  for (const auto &[monomial, coefficient] : size.terms) {
    Value term = emit(b, loc, monomial, coefficient);
    sum = sum ? arith::AddIOp::create(b, loc, sum, term) : term;
  }
  // Too large for 64 bits: a tensor of so many elements is refused later.
  return sum ? sum : arith::ConstantIndexOp::create(b, loc, 0).getResult();
}

OpFoldResult Sizes::emitFolded(OpBuilder &b, Location loc, const Size &size) {
  if (std::optional<int64_t> constant = size.constant())
    return b.getIndexAttr(*constant);
  return emit(b, loc, size);
}
