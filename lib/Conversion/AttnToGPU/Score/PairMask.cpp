// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PairMask.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

/// What is compared in 32 bits: far away is as good as near, and distances
/// within a tile are added without an overflow.
static constexpr int64_t limit = int64_t(1) << 30;
/// No tile has so many rows or columns.
static constexpr int64_t mostDistance = 4096;
/// Each doubles the comparisons of a pair.
static constexpr int64_t mostDivisions = 2;

PairMask::PairMask(OpBuilder &b, const PairOperands &pairs, Value firstQuery,
                   Value firstKey)
    : loc(pairs.loc), operands(pairs.maskOperands),
      queryLength(pairs.queryLength), keyLength(pairs.keyLength) {
  formula = maskFormula(context, pairs.mask);
  symbols = SymbolValues(context, queryLength, keyLength, operands);
  first = symbols;
  first.set(Variable::Query, firstQuery);
  first.set(Variable::Key, firstKey);
  prepare(b, formula);
}

static bool isPair(int id) {
  return id == Variable::Query || id == Variable::Key;
}

/// Whether elements differ by small coefficients of query and key only, and by
/// those of divisions of such sums, if there are `divisions` of them at most.
bool PairMask::isSimple(const Linear &linear, int64_t divisions) {
  for (auto [id, coefficient] : linear.terms) {
    bool divides = Variable::isDivision(id) &&
                   context.dependsOn(Linear::variable(id), isPair);
    if (divides && (divisions-- <= 0 || context.division(id).divisor >= limit ||
                    !isSimple(context.division(id).numerator, 0)))
      return false;
    if ((divides || isPair(id)) &&
        std::abs(coefficient) >= limit / (4 * mostDistance))
      return false;
  }
  return !linear.overflow;
}

/// The value of a sum at the thread's first pair.
Value PairMask::atFirst(OpBuilder &b, const Linear &linear) {
  Value value = emitLinear(b, loc, context, linear, first);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  value = arith::MinSIOp::create(b, loc, value, constant(limit));
  value = arith::MaxSIOp::create(b, loc, value, constant(-limit));
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
}

void PairMask::prepare(OpBuilder &b, const Formula &f) {
  for (const Formula &child : f->children)
    prepare(b, child);
  if ((f->kind != FormulaKind::Ge && f->kind != FormulaKind::Eq) ||
      !isSimple(f->linear, mostDivisions))
    return;
  Literal literal{atFirst(b, f->linear), {}};
  for (auto [id, coefficient] : f->linear.terms)
    if (Variable::isDivision(id) &&
        context.dependsOn(Linear::variable(id), isPair)) {
      MaskContext::Division division = context.division(id);
      Linear rest = division.numerator - Linear::variable(id, division.divisor);
      literal.quotients.push_back({atFirst(b, rest), division.numerator,
                                   division.divisor, coefficient});
    }
  literals[f.get()] = literal;
}

/// What a sum has at a pair more than at the first one, but for divisions: a
/// constant, when elements are known.
Value PairMask::distance(OpBuilder &b, const Linear &linear, const Pair &pair) {
  Value sum = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [variable, distance] :
       {std::pair<int, Value>{Variable::Query, pair.queryDistance},
        std::pair<int, Value>{Variable::Key, pair.keyDistance}})
    if (int64_t coefficient = linear.coefficient(variable)) {
      Value factor = arith::ConstantIndexOp::create(b, loc, coefficient);
      Value moved = arith::MulIOp::create(b, loc, distance, factor);
      sum = arith::AddIOp::create(b, loc, sum, moved);
    }
  return sum;
}

/// base + distance >= 0, as base >= -distance, which is a constant. A quotient
/// floor(n / d) is that of the first pair, plus floor(distance / d), plus 1
/// where the rest of the first pair and that of the distance reach d.
Value PairMask::compare(OpBuilder &b, const FormulaNode &node,
                        const Pair &pair) {
  const Literal &literal = literals.find(&node)->second;
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto narrow = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  };
  Value threshold = arith::SubIOp::create(b, loc, constant(0),
                                          distance(b, node.linear, pair));
  SmallVector<std::pair<Value, int64_t>> carries;
  for (const Quotient &quotient : literal.quotients) {
    Value divisor = constant(quotient.divisor);
    Value moved = distance(b, quotient.numerator, pair);
    Value whole = arith::FloorDivSIOp::create(b, loc, moved, divisor);
    Value part = arith::MulIOp::create(b, loc, whole, divisor);
    Value missing = arith::SubIOp::create(
        b, loc, divisor, arith::SubIOp::create(b, loc, moved, part));
    threshold = arith::SubIOp::create(
        b, loc, threshold,
        arith::MulIOp::create(b, loc, whole, constant(quotient.coefficient)));
    carries.emplace_back(arith::CmpIOp::create(b, loc,
                                               arith::CmpIPredicate::sge,
                                               quotient.rest, narrow(missing)),
                         quotient.coefficient);
  }
  auto predicate = node.kind == FormulaKind::Eq ? arith::CmpIPredicate::eq
                                                : arith::CmpIPredicate::sge;
  std::function<Value(size_t, Value)> choose = [&](size_t i,
                                                   Value limit) -> Value {
    if (i == carries.size())
      return arith::CmpIOp::create(b, loc, predicate, literal.base,
                                   narrow(limit));
    auto [carry, coefficient] = carries[i];
    Value lower = arith::SubIOp::create(b, loc, limit, constant(coefficient));
    return arith::SelectOp::create(b, loc, carry, choose(i + 1, lower),
                                   choose(i + 1, limit));
  };
  return choose(0, threshold);
}

/// Rows and columns behind the last one read what the last one reads.
Value PairMask::inside(OpBuilder &b, Value position, Value length) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, length, one);
  return arith::MinSIOp::create(b, loc, position, last);
}

Value PairMask::readOpaque(OpBuilder &b, const FormulaNode &literal,
                           ValueRange arguments, const Pair &pair) {
  auto term =
      cast<MaskTermInterface>(Attribute::getFromOpaquePointer(literal.term));
  auto allowed = dyn_cast<AllowedAttr>(Attribute(term));
  if (!allowed) {
    PairPlace place{operands, {}, {}, {}};
    return term.emitOpaque(b, loc, place, arguments);
  }
  Value matrix = operands[allowed.getOperand()];
  if (!isa<MemRefType>(matrix.getType()))
    return matrix;
  return loadOfPair(b, loc, matrix, pair);
}

Value PairMask::evaluate(OpBuilder &b, const Formula &f, const Pair &pair) {
  if (f->kind == FormulaKind::And || f->kind == FormulaKind::Or) {
    Value result;
    for (const Formula &child : f->children) {
      Value next = evaluate(b, child, pair);
      if (!result)
        result = next;
      else if (f->kind == FormulaKind::And)
        result = arith::AndIOp::create(b, loc, result, next);
      else
        result = arith::OrIOp::create(b, loc, result, next);
    }
    return result;
  }
  if (literals.contains(f.get()))
    return compare(b, *f, pair);
  SymbolValues here = symbols;
  here.set(Variable::Query, inside(b, pair.query, queryLength));
  here.set(Variable::Key, inside(b, pair.key, keyLength));
  return emitPredicate(b, loc, context, f, here,
                       [&](const FormulaNode &literal, ValueRange arguments) {
                         return readOpaque(b, literal, arguments, pair);
                       });
}
