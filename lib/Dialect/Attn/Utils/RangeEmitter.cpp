// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RangeEmitter.h"
#include "llvm/ADT/STLExtras.h"

using namespace attn;
using namespace mlir;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Scalar expressions
//===----------------------------------------------------------------------===//

Value ScalarEmitter::variable(int id) {
  if (!Variable::isDivision(id)) {
    Value value = symbols.lookup(context, id);
    if (id < Variable::FirstScalar ||
        !context.symbols()[id - Variable::FirstSymbol].saturates)
      return value;
    return max(min(value, constant(MaskContext::MaxNumber)),
               constant(-MaskContext::MaxNumber));
  }
  const MaskContext::Division &division = context.division(id);
  return binary<arith::FloorDivSIOp>(linear(division.numerator),
                                     constant(division.divisor));
}

Value ScalarEmitter::linear(const Linear &linear) {
  Value sum;
  // Positive terms first, so that no negation is needed where there is one.
  for (bool negative : {false, true})
    for (const auto &[id, coefficient] : linear.terms) {
      if ((coefficient < 0) != negative)
        continue;
      Value term = variable(id);
      int64_t magnitude = negative ? -coefficient : coefficient;
      if (magnitude != 1)
        term = binary<arith::MulIOp>(term, constant(magnitude));
      if (negative)
        sum = binary<arith::SubIOp>(sum ? sum : constant(0), term);
      else
        sum = sum ? binary<arith::AddIOp>(sum, term) : term;
    }
  if (!sum)
    return constant(linear.constant);
  return linear.constant ? binary<arith::AddIOp>(sum, constant(linear.constant))
                         : sum;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

RangeEmitter::RangeEmitter(OpBuilder &builder, Location loc,
                           const KeyRanges &ranges, const SymbolValues &symbols)
    : ScalarEmitter{builder, loc, ranges.context, symbols}, ranges(ranges) {
  tiles = binary<arith::CeilDivSIOp>(
      symbols.lookup(ranges.context, Variable::KeyLength),
      constant(ranges.tiles.key));
}

TileRange RangeEmitter::range(const KeyInterval &interval) {
  Value begin, end;
  bool needsZero = true, needsTiles = true;
  for (const KeyBound &bound : interval.lower) {
    Value value = linear(bound.expression);
    if (bound.divisor != 1)
      value = binary<arith::CeilDivSIOp>(value, constant(bound.divisor));
    begin = begin ? max(begin, value) : value;
    needsZero &=
        !(bound.expression.isConstant() && bound.expression.constant >= 0);
  }
  if (!begin || needsZero)
    begin = begin ? max(begin, constant(0)) : constant(0);
  for (const KeyBound &bound : interval.upper) {
    Value value = linear(bound.expression);
    if (bound.divisor != 1)
      value = binary<arith::FloorDivSIOp>(value, constant(bound.divisor));
    value = binary<arith::AddIOp>(value, constant(1));
    if (bound.divisor == ranges.tiles.key &&
        bound.expression == Linear::keyLength() - Linear(1)) {
      value = tiles;
      needsTiles = false;
    }
    end = end ? min(end, value) : value;
  }
  if (!end || needsTiles)
    end = end ? min(end, tiles) : tiles;
  for (const Linear &guard : interval.guards)
    end = select(isNonNegative(guard), end, begin);
  return {begin, end};
}

/// For form Loops: all visited parts begin alike.
KeyBlockBounds RangeEmitter::loopBounds() {
  ArrayRef<KeyInterval> visited = ranges.visit.parts;
  auto [begin, end] = range(visited.front());
  for (const KeyInterval &part : visited.drop_front())
    end = max(end, range(part).end);
  end = max(end, begin);
  if (ranges.neverFull)
    return {begin, end, end, end};

  Value fullBegin = begin, fullEnd = end;
  for (unsigned index : ranges.head)
    fullBegin = max(fullBegin, range(ranges.notFull.parts[index]).end);
  if (!ranges.head.empty())
    fullBegin = min(fullBegin, end);
  for (unsigned index : ranges.tail) {
    const KeyInterval &part = ranges.notFull.parts[index];
    auto [first, last] = range(part);
    // With a guard that fails the part is not there.
    if (!part.guards.empty())
      first = select(compare(CmpIPredicate::slt, first, last), first, end);
    fullEnd = min(fullEnd, first);
  }
  // The middle may be empty; then the tail begins where the head ends.
  if (!ranges.tail.empty())
    fullEnd = max(fullEnd, fullBegin);
  return {begin, fullBegin, fullEnd, end};
}

/// Parts that are empty at run time do not count.
TileRange RangeEmitter::hull(ArrayRef<TileRange> visited) {
  TileRange result;
  for (auto [begin, end] : visited) {
    if (visited.size() > 1) {
      Value some = compare(CmpIPredicate::slt, begin, end);
      begin = select(some, begin, tiles);
      end = select(some, end, constant(0));
    }
    result.begin = result.begin ? min(result.begin, begin) : begin;
    result.end = result.end ? max(result.end, end) : end;
  }
  return result;
}
