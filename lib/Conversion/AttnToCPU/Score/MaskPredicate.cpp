// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of a mask on a vector of queries, from its formula. Most
// literals are `q*a + rest >= 0` with a scalar rest: one comparison of a
// broadcast with a constant vector.
#include "MaskPredicate.h"
#include "Build/Apart.h"
#include "ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static AllowedAttr allowedOf(const FormulaNode &literal) {
  return literal.kind == FormulaKind::Opaque
             ? dyn_cast<AllowedAttr>(
                   Attribute::getFromOpaquePointer(literal.term))
             : AllowedAttr();
}

/// Does it read booleans, which lie in the rows of a query block?
static bool readsBlock(const Formula &f) {
  return allowedOf(*f) || llvm::any_of(f->children, readsBlock);
}

/// Instructions, roughly.
int64_t MaskPredicate::lengthOf(const Formula &f) {
  int64_t length = 1;
  for (const Formula &child : f->children)
    length += lengthOf(child);
  if (f->kind == FormulaKind::Ge || f->kind == FormulaKind::Eq)
    length += f->linear.terms.size() + (ofLaneZero(f->linear) ? 0 : k.lanes);
  if (f->kind == FormulaKind::Opaque && f->term)
    if (auto predicate =
            dyn_cast<PredicateAttr>(Attribute::getFromOpaquePointer(f->term)))
      length += predicate.getProgram().getSteps().size();
  return length;
}

/// As `evaluate`, but what reads no query block is a call of a function `name`.
Value MaskPredicate::evaluateApart(const Formula &f, StringRef name,
                                   Value query, Value key, LookUp lookUp) {
  if (!readsBlock(f))
    return callMask(f, name, query, key);
  if (f->children.empty())
    return evaluateHere(f, query, key, lookUp);
  bool isAnd = f->kind == FormulaKind::And;
  auto join = [&](Value a, Value b) -> Value {
    if (isAnd)
      return arith::AndIOp::create(k.builder, k.loc, a, b);
    return arith::OrIOp::create(k.builder, k.loc, a, b);
  };
  std::vector<Formula> apart;
  Value result;
  for (auto [i, child] : llvm::enumerate(f->children)) {
    if (!readsBlock(child)) {
      apart.push_back(child);
      continue;
    }
    std::string own = (name + "_" + Twine(i)).str();
    Value next = evaluateApart(child, own, query, key, lookUp);
    result = result ? join(result, next) : next;
  }
  if (apart.empty())
    return result;
  Formula rest = isAnd ? allOf(apart) : anyOf(apart);
  return join(result, callMask(rest, name, query, key));
}

Value MaskPredicate::callMask(const Formula &f, StringRef name, Value query,
                              Value key) {
  Values arguments{query, key, inputs.keyBegin, inputs.queryLength,
                   inputs.keyLength};
  llvm::append_range(arguments, inputs.operands);
  return callApart(
      k, name, arguments, k.boolVectorType, [&](ValueRange inside) {
        MaskPredicate alone(
            k, context,
            {inside[2], inside[3], inside[4], inside.drop_front(5)});
        return Values{alone.evaluateHere(f, inside[0], inside[1], nullptr)};
      })[0];
}

Value MaskPredicate::evaluate(const Formula &f, Value query, Value key,
                              LookUp lookUp) {
  return lengthOf(f) > mostInline ? evaluateApart(f, "mask", query, key, lookUp)
                                  : evaluateHere(f, query, key, lookUp);
}

Value MaskPredicate::evaluateHere(const Formula &f, Value query, Value key,
                                  LookUp lookUp) {
  switch (f->kind) {
  case FormulaKind::True:
  case FormulaKind::False: {
    bool value = f->kind == FormulaKind::True;
    return arith::ConstantOp::create(
        k.builder, k.loc, DenseElementsAttr::get(k.boolVectorType, value));
  }
  case FormulaKind::Ge:
  case FormulaKind::Eq:
    return compare(f->linear, f->kind == FormulaKind::Eq, query, key);
  case FormulaKind::And:
  case FormulaKind::Or: {
    Value result;
    for (const Formula &child : f->children) {
      Value next = evaluateHere(child, query, key, lookUp);
      if (!result)
        result = next;
      else if (f->kind == FormulaKind::And)
        result = arith::AndIOp::create(k.builder, k.loc, result, next);
      else
        result = arith::OrIOp::create(k.builder, k.loc, result, next);
    }
    return result;
  }
  case FormulaKind::Opaque: {
    // The key relative to the tile, as the packed rows are.
    Value local = k.sub(key, inputs.keyBegin);
    AllowedAttr allowed = allowedOf(*f);
    Value bits = allowed ? lookUp(allowed.getOperand(), local)
                         : termVector(*f, query, key);
    if (!f->negated)
      return bits;
    Value ones = arith::ConstantOp::create(
        k.builder, k.loc, DenseElementsAttr::get(k.boolVectorType, true));
    return arith::XOrIOp::create(k.builder, k.loc, bits, ones);
  }
  }
  llvm_unreachable("all kinds handled");
}

/// What the literal's term emits for one pair, for one pair per lane.
Value MaskPredicate::termVector(const FormulaNode &literal, Value query,
                                Value key) {
  auto term =
      cast<MaskTermInterface>(Attribute::getFromOpaquePointer(literal.term));
  mlir::Block block; // is never part of the kernel
  SmallVector<Lanes> lanes;
  auto add = [&](Type type, const Lanes &value) {
    block.addArgument(type, k.loc);
    lanes.push_back(value);
  };
  for (Value operand : inputs.operands)
    add(operand.getType(), {operand});
  for (const Linear &argument : literal.arguments) {
    if (ofLaneZero(argument))
      add(k.builder.getIndexType(), {scalarValue(argument, query, key),
                                     argument.coefficient(Variable::Query)});
    else
      add(k.builder.getIndexType(),
          {Value(), 0, laneValues(argument, query, key)});
  }
  ValueRange arguments(block.getArguments());
  PairPlace place{arguments.take_front(inputs.operands.size()), {}, {}, {}};
  OpBuilder builder(k.builder.getContext());
  builder.setInsertionPointToEnd(&block);
  Value answer = term.emitOpaque(builder, k.loc, place,
                                 arguments.drop_front(place.operands.size()));
  return cpu::ScoreFunction(k, block).evaluate(lanes, answer);
}

/// Do lanes differ by the coefficient of the query only?
bool MaskPredicate::ofLaneZero(const Linear &linear) {
  return llvm::all_of(linear.terms, [&](const auto &term) {
    return !Variable::isDivision(term.first) ||
           !context.dependsOn(Linear::variable(term.first), Variable::Query);
  });
}

Value MaskPredicate::compare(const Linear &linear, bool equality, Value query,
                             Value key) {
  auto predicate =
      equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
  // Thresholds of 32 bits need room beside the limit of what is compared.
  constexpr int64_t limit = int64_t(1) << 30;
  int64_t coefficient = linear.coefficient(Variable::Query);
  if (!ofLaneZero(linear) || std::abs(coefficient) >= limit / k.lanes) {
    Value values = laneValues(linear, query, key);
    auto type = cast<VectorType>(values.getType());
    Value zero = arith::ConstantOp::create(
        k.builder, k.loc, DenseElementsAttr::get(type, int64_t(0)));
    return arith::CmpIOp::create(k.builder, k.loc, predicate, values, zero);
  }
  Value rest = scalarValue(linear, query, key);
  if (coefficient == 0)
    return k.broadcast(
        arith::CmpIOp::create(k.builder, k.loc, predicate, rest, k.index(0)));
  // rest + coefficient * lane >= 0, in 32 bits: far away is as good as near.
  Value bound = k.index(limit);
  Value limited = k.min(k.max(rest, k.index(-limit)), bound);
  Value narrow = arith::IndexCastOp::create(k.builder, k.loc,
                                            k.builder.getI32Type(), limited);
  SmallVector<int32_t> thresholds;
  for (int64_t lane = 0; lane < k.lanes; ++lane)
    thresholds.push_back(static_cast<int32_t>(-coefficient * lane));
  Value lanes = arith::ConstantOp::create(
      k.builder, k.loc,
      DenseElementsAttr::get(k.intVectorType, ArrayRef<int32_t>(thresholds)));
  return arith::CmpIOp::create(k.builder, k.loc, predicate, k.broadcast(narrow),
                               lanes);
}

Value MaskPredicate::variableValue(int variable, Value query, Value key) {
  switch (variable) {
  case Variable::Query:
    return query;
  case Variable::Key:
    return key;
  case Variable::QueryLength:
    return inputs.queryLength;
  case Variable::KeyLength:
    return inputs.keyLength;
  default:
    break;
  }
  if (Variable::isDivision(variable)) {
    const MaskContext::Division &division = context.division(variable);
    return arith::FloorDivSIOp::create(
        k.builder, k.loc, scalarValue(division.numerator, query, key),
        k.index(division.divisor));
  }
  const MaskContext::Symbol &symbol =
      context.symbols()[variable - Variable::FirstSymbol];
  return inputs.operands[symbol.operand];
}

/// The value for the query of lane 0.
Value MaskPredicate::scalarValue(const Linear &linear, Value query, Value key) {
  Value sum = k.index(linear.constant);
  for (auto &[variable, coefficient] : linear.terms) {
    Value value = variableValue(variable, query, key);
    if (coefficient == 1)
      sum = k.add(sum, value);
    else if (coefficient == -1)
      sum = k.sub(sum, value);
    else
      sum = k.add(sum, k.mul(value, coefficient));
  }
  return sum;
}

/// One value per lane, for terms that divide the query's position.
Value MaskPredicate::laneValues(const Linear &linear, Value query, Value key) {
  auto type = VectorType::get(k.lanes, k.builder.getIndexType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        k.builder, k.loc,
        DenseElementsAttr::get(type, k.builder.getIndexAttr(value)));
  };
  Value sum = constant(linear.constant);
  for (auto &[variable, coefficient] : linear.terms) {
    Value value;
    if (variable == Variable::Query) {
      Value step = vector::StepOp::create(k.builder, k.loc, type);
      value = arith::AddIOp::create(k.builder, k.loc, k.broadcast(query), step);
    } else if (Variable::isDivision(variable) &&
               context.dependsOn(Linear::variable(variable), Variable::Query)) {
      const MaskContext::Division &division = context.division(variable);
      value = arith::FloorDivSIOp::create(
          k.builder, k.loc, laneValues(division.numerator, query, key),
          constant(division.divisor));
    } else {
      value = k.broadcast(variableValue(variable, query, key));
    }
    value =
        arith::MulIOp::create(k.builder, k.loc, value, constant(coefficient));
    sum = arith::AddIOp::create(k.builder, k.loc, sum, value);
  }
  return sum;
}
