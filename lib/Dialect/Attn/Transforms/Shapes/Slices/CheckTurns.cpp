// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices whose place has no bound, turn by turn of the loops around them.
//
// Before:  scf.for %i = %c0 to %batch step %c1 iter_args(%c = %cache) {
//            %at = tensor.extract %positions[%i]
//            %next = tensor.insert_slice %key into %c[%i, %at, 0] [1, 1, 64] ..
// Asked:   %all = scf.for %i = %c0 to %batch step %c1 iter_args(%ok = %true) {
//            %at = tensor.extract %positions[%i]
//            // %ok, and 0 <= %at, and %at + 1 <= the rows of %cache
//
// The loops are written once more with what places the slice and nothing else:
// numbers that follow from counters, from what stands in front of the loops and
// from elements of arguments.
#include "SliceChecker.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

/// An element of an argument, or -1 where it has no such element.
static Value elementOrNone(OpBuilder &b, Location loc, Value tensor,
                           ArrayRef<Value> indices) {
  Value isThere = arith::ConstantIntOp::create(b, loc, true, 1);
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value size = tensor::DimOp::create(b, loc, tensor, i);
    Value isInside = arith::CmpIOp::create(b, loc, Predicate::ult, index, size);
    isThere = arith::AndIOp::create(b, loc, isThere, isInside);
  }
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  auto choice = scf::IfOp::create(
      b, loc, isThere,
      [&](OpBuilder &b, Location loc) {
        Value found = tensor::ExtractOp::create(b, loc, tensor, indices);
        scf::YieldOp::create(b, loc, found);
      },
      [&](OpBuilder &b, Location loc) {
        TypedAttr none = isa<FloatType>(element)
                             ? TypedAttr(b.getFloatAttr(element, -1))
                             : b.getIntegerAttr(element, -1);
        scf::YieldOp::create(
            b, loc, arith::ConstantOp::create(b, loc, none).getResult());
      });
  return choice.getResult(0);
}

/// What `value`, of the loops around `op`, is in the turn at hand; null where
/// it cannot be told.
Value SliceChecker::inTurn(Operation *op, Value value, IRMapping &turn) {
  if (Value known = turn.lookupOrNull(value))
    return known;
  if (value.getParentBlock() == &function.front())
    return value;
  Operation *made = value.getDefiningOp();
  if (!made || made->getNumRegions() != 0 || made->getNumResults() != 1 ||
      !isMemoryEffectFree(made) || !value.getType().isIntOrIndexOrFloat())
    return {};
  if (auto dim = dyn_cast<tensor::DimOp>(made)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    return index ? sizeOf(op, Dim{dim.getSource(), *index}) : Value();
  }
  auto element = dyn_cast<tensor::ExtractOp>(made);
  if (element && (!isa<BlockArgument>(element.getTensor()) ||
                  element.getTensor().getParentBlock() != &function.front()))
    return {};
  SmallVector<Value> operands;
  for (Value operand : element ? ValueRange(element.getIndices())
                               : ValueRange(made->getOperands())) {
    operands.push_back(inTurn(op, operand, turn));
    if (!operands.back())
      return {};
    turn.map(operand, operands.back());
  }
  Value now =
      element ? elementOrNone(b, made->getLoc(), element.getTensor(), operands)
              : b.clone(*made, turn)->getResult(0);
  turn.map(value, now);
  return now;
}

/// Whether the slice stays inside in the turn at hand; null as above.
Value SliceChecker::holdsInTurn(Operation *op, const Range &range, Value whole,
                                IRMapping &turn) {
  Location loc = op->getLoc();
  SmallVector<Value, 3> values;
  for (OpFoldResult given : {range.offset, range.size, range.stride}) {
    auto value = dyn_cast<Value>(given);
    values.push_back(value ? inTurn(op, value, turn)
                           : arith::ConstantIndexOp::create(
                                 b, loc, *getConstantIntValue(given))
                                 .getResult());
    if (!values.back())
      return {};
  }
  Value offset = values[0], size = values[1], holds;
  auto require = [&](Predicate predicate, Value left, Value right) {
    holds = both(loc, holds, compare(loc, predicate, left, right));
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  require(Predicate::sge, offset, zero);
  require(Predicate::sge, size, zero);
  // Before the end, which could wrap around.
  require(Predicate::sle, offset, whole);
  require(Predicate::sle, size, whole);
  Value steps = arith::MulIOp::create(
      b, loc, arith::SubIOp::create(b, loc, size, one), values[2]);
  Value last = arith::AddIOp::create(b, loc, offset, steps);
  Value isNone = compare(loc, Predicate::eq, size, zero),
        isBelow = compare(loc, Predicate::slt, last, whole);
  return both(loc, holds, arith::OrIOp::create(b, loc, isNone, isBelow));
}

/// The same in all turns of the loops `around` it, the outermost first.
Value SliceChecker::holdsInTurns(ArrayRef<Operation *> around, Operation *op,
                                 const Range &range, IRMapping &turn) {
  Location loc = op->getLoc();
  if (around.empty()) {
    Value whole = sizeOf(op, range.whole);
    return whole ? holdsInTurn(op, range, whole, turn) : Value();
  }
  OpBuilder::InsertionGuard guard(b);
  Value always = arith::ConstantIntOp::create(b, loc, true, 1);
  if (auto choice = dyn_cast<scf::IfOp>(around.front())) {
    Value condition = inTurn(op, choice.getCondition(), turn);
    if (!condition)
      return {};
    bool isThen = choice.getThenRegion().isAncestor(op->getParentRegion());
    if (!isThen)
      condition = arith::XOrIOp::create(b, loc, condition, always);
    auto made = scf::IfOp::create(b, loc, b.getI1Type(), condition,
                                  /*withElseRegion=*/true);
    b.setInsertionPointToEnd(made.elseBlock());
    scf::YieldOp::create(b, loc, always);
    b.setInsertionPointToEnd(made.thenBlock());
    Value inner = holdsInTurns(around.drop_front(), op, range, turn);
    scf::YieldOp::create(b, loc, inner ? inner : always);
    return inner ? made.getResult(0) : Value();
  }
  auto loop = cast<LoopLikeOpInterface>(around.front());
  SmallVector<scf::ForOp> made;
  auto bound = [&](OpFoldResult given) -> Value {
    if (auto value = dyn_cast<Value>(given))
      return inTurn(op, value, turn);
    return arith::ConstantIndexOp::create(b, loc, *getConstantIntValue(given));
  };
  for (auto [counter, lower, upper, step] :
       llvm::zip_equal(*loop.getLoopInductionVars(), *loop.getLoopLowerBounds(),
                       *loop.getLoopUpperBounds(), *loop.getLoopSteps())) {
    Value from = bound(lower), to = bound(upper), by = bound(step);
    if (!from || !to || !by)
      return {};
    made.push_back(scf::ForOp::create(
        b, loc, from, to, by,
        made.empty() ? always : made.back().getRegionIterArg(0)));
    turn.map(counter, made.back().getInductionVar());
    b.setInsertionPointToEnd(made.back().getBody());
  }
  Value holds = holdsInTurns(around.drop_front(), op, range, turn);
  if (!holds)
    return {};
  holds = both(loc, made.back().getRegionIterArg(0), holds);
  for (scf::ForOp each : llvm::reverse(made)) {
    b.setInsertionPointToEnd(each.getBody());
    scf::YieldOp::create(b, loc, holds);
    holds = each.getResult(0);
  }
  return holds;
}

void SliceChecker::checkTurns(Operation *op, const Range &range, Value holds) {
  SmallVector<Operation *> around;
  for (Operation *parent = op->getParentOp(); parent != function;
       parent = parent->getParentOp()) {
    if (isa<scf::InParallelOp>(parent))
      continue;
    if (!isa<scf::ForOp, scf::ForallOp, scf::ParallelOp, scf::IfOp>(parent))
      return;
    around.push_back(parent);
  }
  std::reverse(around.begin(), around.end());
  Location loc = op->getLoc();
  Operation *end = function.front().getTerminator();
  b.setInsertionPoint(end);
  Value always = arith::ConstantIntOp::create(b, loc, true, 1);
  if (!holds)
    holds = arith::ConstantIntOp::create(b, loc, false, 1);
  auto choice = scf::IfOp::create(b, loc, b.getI1Type(), holds,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToEnd(choice.elseBlock());
  IRMapping turn;
  Value inner = holdsInTurns(around, op, range, turn);
  if (!inner)
    return choice.erase();
  scf::YieldOp::create(b, loc, inner);
  b.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(b, loc, always);
  b.setInsertionPoint(end);
  if (needsComputed(choice.getResult(0)))
    return choice.erase();
  require(op, Rule::Place, choice.getResult(0));
}
