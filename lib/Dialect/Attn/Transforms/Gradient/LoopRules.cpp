// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of loops of linalg.
//
//   %y = linalg.generic ins(%x, %g) outs(%e) { (s, d): %x[s, d] * %g[d] }
// gives, where both are learned,
//   %d_x = linalg.generic .. { (s, d): %d_y[s, d] * %g[d] }
//   %d_g = linalg.generic .. { (s, d): sum over s of %d_y[s, d] * %x[s, d] }
//
// An operand gets the cotangent times the body's derivative by its element, a
// tangent as in ScoreTangents.h, summed over the dimensions that it lacks.
// Loops that sum (the body adds to the element of `outs`) pass their cotangent
// to every summand; maxima and minima to the elements that are equal to the
// result, each an equal part of it, as in torch.amax. A learned element that
// they begin with is one of these.
//
// What a body reads of a tensor from outside (tensor.extract), at places that
// may be computed, is a lookup, as of an embedding. Its gradient is a sum into
// the places that were read, element by element, in the loop's order:
//   %d_t = scf.for .. iter_args(%sum = %zeros) { %sum[place] += %d_y[..] * .. }
//
// Sums have the type of the statistics.
#include "Adjoints.h"
#include "Partials.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;

namespace {
/// What a loop does with its results' elements.
enum class Combines { Nothing, Sums, Extremes };

/// A loop whose body is known.
struct Body {
  linalg::GenericOp op;
  Combines combines = Combines::Nothing;
  /// What is stored, summed or compared, and by what: null if stored.
  Value term;
  Operation *combiner = nullptr;

  Block &block() const { return op->getRegion(0).front(); }
  bool readsResult() const {
    return combines == Combines::Nothing &&
           !block().getArguments().back().use_empty();
  }
};
} // namespace

/// How the body combines `term` with the element of the result.
static std::optional<Body> bodyOf(linalg::GenericOp op) {
  auto isSimple = [](AffineMap map) { return map.isProjectedPermutation(); };
  auto isScalar = [](Operation &each) {
    return each.getNumResults() == 1 && each.getNumRegions() == 0;
  };
  Body body{op};
  if (op->getNumResults() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(), isSimple) ||
      !llvm::all_of(body.block().without_terminator(), isScalar))
    return std::nullopt;
  body.term = body.block().getTerminator()->getOperand(0);
  if (op.getNumReductionLoops() == 0)
    return body;
  BlockArgument sum = body.block().getArguments().back();
  Operation *last = body.term.getDefiningOp();
  if (!last || last->getNumOperands() != 2 || !sum.hasOneUse() ||
      !llvm::is_contained(last->getOperands(), sum))
    return std::nullopt;
  body.combiner = last;
  body.term = last->getOperand(last->getOperand(0) == sum);
  if (isa<arith::AddFOp>(last))
    body.combines = Combines::Sums;
  else if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
               arith::MinNumFOp>(last))
    body.combines = Combines::Extremes;
  else
    return std::nullopt;
  return body;
}

/// The op on the way from `input`, a value of the body, to the term whose
/// derivative is not known; null if all are.
static Operation *findUnknown(const Body &body, Value input) {
  llvm::DenseSet<Value> dependent{input};
  for (Operation &op : body.block().without_terminator())
    if (&op != body.combiner && !spreadDependence(&op, dependent))
      return &op;
  return nullptr;
}

namespace {
/// The gradient of one loop, whose result `y` has the cotangent `dy`.
class LoopGradient {
public:
  LoopGradient(Adjoints &adjoints, const Body &body, Value y, Value dy)
      : adjoints(adjoints), b(adjoints.builder), body(body), y(y), dy(dy),
        op(body.op), loc(body.op->getLoc()) {}

  LogicalResult follow();

private:
  FloatType statistics() {
    Type element = getElementTypeOrSelf(y);
    return element.isF64() ? cast<FloatType>(element) : b.getF32Type();
  }
  Value zerosLike(Value tensor);
  AffineMap mapOf(OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  }
  LogicalResult expectKnown(Value input);
  void addOperand(OpOperand *operand);
  void addLookup(Value table);

  using Maker = llvm::function_ref<Value(OpBuilder &, IRMapping &, ValueRange)>;
  Value loopOver(Value into, AffineMap to, ArrayRef<Value> others, Maker term);
  SmallVector<Operation *> cloneBody(OpBuilder &inner, IRMapping &values);
  Value wide(OpBuilder &inner, Value number);
  Value slope(OpBuilder &inner, ArrayRef<Operation *> ops, Value input,
              Value answer);
  bool learnsFirst();
  Value firstIsEqual();
  Value countEqual();
  void addFirst();

  Adjoints &adjoints;
  OpBuilder &b;
  Body body;
  Value y, dy;
  linalg::GenericOp op;
  Location loc;
};
} // namespace

Value LoopGradient::zerosLike(Value tensor) {
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, tensor), statistics());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(statistics()));
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

Value LoopGradient::wide(OpBuilder &inner, Value number) {
  if (number.getType() == statistics())
    return number;
  return arith::ExtFOp::create(inner, loc, statistics(), number);
}

/// The ops of the body but for what combines its term with the result's
/// element; `values` says what they read.
SmallVector<Operation *> LoopGradient::cloneBody(OpBuilder &inner,
                                                 IRMapping &values) {
  SmallVector<Operation *> ops;
  for (Operation &each : body.block().without_terminator())
    if (&each != body.combiner) {
      if (Value known = values.lookupOrNull(each.getResult(0)); !known)
        ops.push_back(inner.clone(each, values));
    }
  return ops;
}

/// The derivative of `answer` by `input`; null where it is 0.
Value LoopGradient::slope(OpBuilder &inner, ArrayRef<Operation *> ops,
                          Value input, Value answer) {
  Value one = arith::ConstantOp::create(inner, loc,
                                        inner.getFloatAttr(input.getType(), 1));
  llvm::DenseMap<Value, Value> tangents{{input, one}};
  for (Operation *each : ops)
    if (!isa<tensor::ExtractOp>(each))
      if (Value tangent = tangentOf(inner, each, tangents))
        tangents[each->getResult(0)] = tangent;
  Value result = tangents.lookup(answer);
  return result ? wide(inner, result) : Value();
}

/// A loop over the same places that adds `term`, of the body's values and those
/// of `others`, which lie like the result, to elements of `into`.
Value LoopGradient::loopOver(Value into, AffineMap to, ArrayRef<Value> others,
                             Maker term) {
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap ofResult = maps.pop_back_val();
  if (body.readsResult()) {
    inputs.push_back(op.getOutputs()[0]);
    maps.push_back(ofResult);
  }
  size_t own = inputs.size();
  for (Value other : others) {
    inputs.push_back(other);
    maps.push_back(ofResult);
  }
  maps.push_back(to);
  SmallVector<utils::IteratorType> kinds(op.getNumLoops(),
                                         utils::IteratorType::reduction);
  for (AffineExpr place : to.getResults())
    kinds[cast<AffineDimExpr>(place).getPosition()] =
        utils::IteratorType::parallel;
  auto loop = linalg::GenericOp::create(
      b, loc, into.getType(), inputs, into, maps, kinds,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        IRMapping values;
        values.map(body.block().getArguments().take_front(own),
                   arguments.take_front(own));
        Value summand =
            term(inner, values, arguments.drop_front(own).drop_back());
        if (!summand)
          return (void)linalg::YieldOp::create(inner, loc, arguments.back());
        Value sum =
            arith::AddFOp::create(inner, loc, arguments.back(), summand);
        linalg::YieldOp::create(inner, loc, sum);
      });
  return loop.getResult(0);
}

static Value isEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}

/// Whether what a maximum or minimum begins with has a gradient.
bool LoopGradient::learnsFirst() {
  return body.combines == Combines::Extremes &&
         adjoints.isActive(op.getOutputs()[0]);
}

Value LoopGradient::firstIsEqual() {
  return isEqual(b, loc, op.getOutputs()[0], y);
}

/// How many terms each element of the result is equal to.
Value LoopGradient::countEqual() {
  AffineMap ofResult = op.getIndexingMapsArray().back();
  Value start = zerosLike(y);
  if (learnsFirst())
    start = arith::UIToFPOp::create(b, loc, start.getType(), firstIsEqual());
  return loopOver(
      start, ofResult, {y},
      [&](OpBuilder &inner, IRMapping &values, ValueRange others) {
        cloneBody(inner, values);
        auto number = [&](double value) -> Value {
          return arith::ConstantOp::create(
              inner, loc, inner.getFloatAttr(statistics(), value));
        };
        Value equal = isEqual(inner, loc, values.lookup(body.term), others[0]);
        return arith::SelectOp::create(inner, loc, equal, number(1), number(0))
            .getResult();
      });
}

/// The part of what a maximum or minimum begins with.
void LoopGradient::addFirst() {
  Value zeros = zerosLike(y), part = dy;
  if (part.getType() != zeros.getType())
    part = arith::ExtFOp::create(b, loc, zeros.getType(), part);
  part = arith::DivFOp::create(b, loc, part, countEqual());
  adjoints.add(op.getOutputs()[0],
               arith::SelectOp::create(b, loc, firstIsEqual(), part, zeros));
}

void LoopGradient::addOperand(OpOperand *operand) {
  bool chooses = body.combines == Combines::Extremes;
  SmallVector<Value> others{dy};
  if (chooses)
    llvm::append_values(others, y, countEqual());
  Value argument = body.block().getArgument(operand->getOperandNumber());
  Value sum = loopOver(
      zerosLike(operand->get()), mapOf(operand), others,
      [&](OpBuilder &inner, IRMapping &values, ValueRange others) -> Value {
        SmallVector<Operation *> ops = cloneBody(inner, values);
        Value answer = values.lookup(body.term);
        Value t = slope(inner, ops, values.lookup(argument), answer);
        if (!t)
          return t;
        Value part = wide(inner, others[0]);
        if (chooses)
          part = arith::DivFOp::create(inner, loc, part, others[2]);
        part = arith::MulFOp::create(inner, loc, part, t);
        if (!chooses)
          return part;
        Value zero = arith::ConstantOp::create(inner, loc,
                                               inner.getZeroAttr(statistics()));
        Value equal = isEqual(inner, loc, answer, others[1]);
        return arith::SelectOp::create(inner, loc, equal, part, zero);
      });
  adjoints.add(operand->get(), sum);
}

/// Adds to the places that were read, one after the other.
void LoopGradient::addLookup(Value table) {
  SmallVector<Value> begins, ends, steps;
  for (const Range &range :
       cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc)) {
    begins.push_back(getValueOrCreateConstantIndexOp(b, loc, range.offset));
    ends.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
    steps.push_back(getValueOrCreateConstantIndexOp(b, loc, range.stride));
  }
  auto step = [&](OpBuilder &inner, Location, ValueRange ivs,
                  ValueRange sums) -> scf::ValueVector {
    auto elementAt = [&](Value tensor, AffineMap map) -> Value {
      SmallVector<Value> places;
      for (AffineExpr place : map.getResults())
        places.push_back(ivs[cast<AffineDimExpr>(place).getPosition()]);
      return tensor::ExtractOp::create(inner, loc, tensor, places);
    };
    IRMapping values;
    for (OpOperand &operand : op->getOpOperands())
      if (op.isDpsInput(&operand) || body.readsResult())
        values.map(body.block().getArgument(operand.getOperandNumber()),
                   elementAt(operand.get(), mapOf(&operand)));
    for (auto place : body.block().getOps<linalg::IndexOp>())
      values.map(place.getResult(), ivs[place.getDim()]);
    SmallVector<Operation *> ops = cloneBody(inner, values);
    AffineMap ofResult = op.getIndexingMapsArray().back();
    Value part = wide(inner, elementAt(dy, ofResult)), sum = sums[0];
    for (auto read : body.block().getOps<tensor::ExtractOp>()) {
      if (read.getTensor() != table)
        continue;
      auto cloned =
          values.lookup(read.getResult()).getDefiningOp<tensor::ExtractOp>();
      Value t = slope(inner, ops, cloned, values.lookup(body.term));
      if (!t)
        continue;
      Value old =
          tensor::ExtractOp::create(inner, loc, sum, cloned.getIndices());
      Value more = arith::MulFOp::create(inner, loc, part, t);
      more = arith::AddFOp::create(inner, loc, old, more);
      sum =
          tensor::InsertOp::create(inner, loc, more, sum, cloned.getIndices());
    }
    return {sum};
  };
  scf::LoopNest nest =
      scf::buildLoopNest(b, loc, begins, ends, steps, zerosLike(table), step);
  adjoints.add(table, nest.results[0]);
}

LogicalResult LoopGradient::expectKnown(Value input) {
  Operation *unknown = findUnknown(body, input);
  if (!unknown)
    return success();
  return unknown->emitOpError("has no derivative that is known, but a learned "
                              "argument reaches a result through it");
}

LogicalResult LoopGradient::follow() {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value table : captured) {
    if (!adjoints.isActive(table))
      continue;
    if (body.combines == Combines::Extremes)
      return op.emitOpError("has no gradient for what a maximum or minimum "
                            "looks up");
    for (Operation *user : table.getUsers()) {
      if (user->getBlock() != &body.block())
        continue;
      if (failed(expectKnown(user->getResult(0))))
        return failure();
    }
    addLookup(table);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!adjoints.isActive(operand.get()))
      continue;
    bool isInit = op.isDpsInit(&operand);
    if (isInit && !body.readsResult()) {
      // Where a loop sums, it begins with this.
      if (body.combines == Combines::Sums)
        adjoints.add(operand.get(), dy);
      else if (learnsFirst())
        addFirst();
      continue;
    }
    if (failed(
            expectKnown(body.block().getArgument(operand.getOperandNumber()))))
      return failure();
    addOperand(&operand);
  }
  return success();
}

/// Whether what is learned reaches the body through tensor.extract alone.
static bool onlyLooksUp(const Adjoints &adjoints, linalg::GenericOp op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::all_of(captured, [&](Value value) {
    return !adjoints.isActive(value) ||
           llvm::all_of(value.getUsers(), [&](Operation *user) {
             return user->getParentOp() != op || isa<tensor::ExtractOp>(user);
           });
  });
}

Ruled attn::followLoop(Adjoints &adjoints, Operation *op) {
  auto loop = dyn_cast<linalg::LinalgOp>(op);
  if (!loop || isa<linalg::TransposeOp>(op) || op->getNumResults() != 1)
    return std::nullopt;
  auto follow = [&](linalg::GenericOp generic) -> Ruled {
    std::optional<Body> body = bodyOf(generic);
    auto isNumber = [&](Value v) {
      return adjoints.isActive(v) && !isa<RankedTensorType>(v.getType());
    };
    if (!body || !onlyLooksUp(adjoints, generic) ||
        llvm::any_of(generic->getOperands(), isNumber))
      return std::nullopt;
    Value y = op->getResult(0);
    return LoopGradient(adjoints, *body, y, adjoints.of(y)).follow();
  };
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return follow(generic);
  // One that has a name is followed as what it stands for.
  IRRewriter rewriter(adjoints.builder);
  FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(
      rewriter, cast<linalg::LinalgOp>(adjoints.builder.clone(*op)));
  if (failed(generic))
    return std::nullopt;
  Ruled done = follow(*generic);
  rewriter.eraseOp(*generic);
  return done;
}
