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

PairMask::PairMask(OpBuilder &b, const PairOperands &pairs, Value firstQuery,
                   Value firstKey)
    : loc(pairs.loc), operands(pairs.maskOperands),
      queryLength(pairs.queryLength), keyLength(pairs.keyLength) {
  formula = maskFormula(context, pairs.mask);
  symbols = SymbolValues(context, queryLength, keyLength, operands);
  prepare(b, formula, firstQuery, firstKey);
}

/// Whether elements differ by coefficients of query and key only, and small
/// ones.
bool PairMask::isSimple(const Linear &linear) {
  auto isPair = [](int id) {
    return id == Variable::Query || id == Variable::Key;
  };
  for (auto [id, coefficient] : linear.terms) {
    if (Variable::isDivision(id) &&
        context.dependsOn(Linear::variable(id), isPair))
      return false;
    if (isPair(id) && std::abs(coefficient) >= limit / (4 * mostDistance))
      return false;
  }
  return !linear.overflow;
}

void PairMask::prepare(OpBuilder &b, const Formula &f, Value firstQuery,
                       Value firstKey) {
  for (const Formula &child : f->children)
    prepare(b, child, firstQuery, firstKey);
  if ((f->kind != FormulaKind::Ge && f->kind != FormulaKind::Eq) ||
      !isSimple(f->linear))
    return;
  SymbolValues here = symbols;
  here.set(Variable::Query, firstQuery);
  here.set(Variable::Key, firstKey);
  Value value = emitLinear(b, loc, context, f->linear, here);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  value = arith::MinSIOp::create(b, loc, value, constant(limit));
  value = arith::MaxSIOp::create(b, loc, value, constant(-limit));
  bases[f.get()] = arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
}

/// base + distance >= 0, as base >= -distance, which is a constant.
Value PairMask::compare(OpBuilder &b, const FormulaNode &literal,
                        const Pair &pair) {
  Value threshold = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [variable, distance] :
       {std::pair<int, Value>{Variable::Query, pair.queryDistance},
        std::pair<int, Value>{Variable::Key, pair.keyDistance}})
    if (int64_t coefficient = literal.linear.coefficient(variable)) {
      Value factor = arith::ConstantIndexOp::create(b, loc, coefficient);
      Value moved = arith::MulIOp::create(b, loc, distance, factor);
      threshold = arith::SubIOp::create(b, loc, threshold, moved);
    }
  Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), threshold);
  auto predicate = literal.kind == FormulaKind::Eq ? arith::CmpIPredicate::eq
                                                   : arith::CmpIPredicate::sge;
  return arith::CmpIOp::create(b, loc, predicate, bases.lookup(&literal),
                               narrow);
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
  if (bases.contains(f.get()))
    return compare(b, *f, pair);
  SymbolValues here = symbols;
  here.set(Variable::Query, inside(b, pair.query, queryLength));
  here.set(Variable::Key, inside(b, pair.key, keyLength));
  return emitPredicate(b, loc, context, f, here,
                       [&](const FormulaNode &literal, ValueRange arguments) {
                         return readOpaque(b, literal, arguments, pair);
                       });
}
