// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElementOf.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {
/// The way from one element back to those of arguments.
class ElementFinder {
public:
  ElementFinder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  FailureOr<Value> find(Value tensor, ArrayRef<Value> at);

private:
  FailureOr<Value> ofElementwise(Operation *op, ArrayRef<Value> at);
  FailureOr<Value> ofSlice(tensor::ExtractSliceOp op, ArrayRef<Value> at);
  FailureOr<Value> ofExpanded(tensor::ExpandShapeOp op, ArrayRef<Value> at);
  FailureOr<Value> ofCollapsed(tensor::CollapseShapeOp op, ArrayRef<Value> at);
  FailureOr<Value> ofLinalg(linalg::LinalgOp op, unsigned result,
                            ArrayRef<Value> at);
  FailureOr<Value> reduce(linalg::LinalgOp op, unsigned result,
                          SmallVector<Value> &point, Value sum);
  FailureOr<Value> step(linalg::LinalgOp op, unsigned result,
                        ArrayRef<Value> point, Value sum);
  Value number(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  Value multiply(Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

FailureOr<Value> ElementFinder::ofElementwise(Operation *op,
                                              ArrayRef<Value> at) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> element = operand;
    if (isa<RankedTensorType>(operand.getType()))
      element = find(operand, at);
    if (failed(element))
      return failure();
    operands.push_back(*element);
  }
  OperationState state(loc, op->getName(), operands,
                       getElementTypeOrSelf(op->getResult(0)), op->getAttrs());
  return b.create(state)->getResult(0);
}

FailureOr<Value> ElementFinder::ofSlice(tensor::ExtractSliceOp op,
                                        ArrayRef<Value> at) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Value> from;
  for (auto [dim, given] : llvm::enumerate(
           llvm::zip_equal(op.getMixedOffsets(), op.getMixedStrides()))) {
    auto [offset, stride] = given;
    Value index = number(offset);
    if (!dropped.test(dim)) {
      index = add(index, multiply(at.front(), number(stride)));
      at = at.drop_front();
    }
    from.push_back(index);
  }
  return find(op.getSource(), from);
}

FailureOr<Value> ElementFinder::ofExpanded(tensor::ExpandShapeOp op,
                                           ArrayRef<Value> at) {
  SmallVector<Value> from;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    Value index = number(b.getIndexAttr(0));
    for (int64_t dim : group)
      index =
          add(multiply(index, number(op.getMixedOutputShape()[dim])), at[dim]);
    from.push_back(index);
  }
  return find(op.getSrc(), from);
}

FailureOr<Value> ElementFinder::ofCollapsed(tensor::CollapseShapeOp op,
                                            ArrayRef<Value> at) {
  SmallVector<Value> from(op.getSrcType().getRank());
  for (auto [group, whole] :
       llvm::zip_equal(op.getReassociationIndices(), at)) {
    Value rest = whole;
    for (int64_t dim : llvm::reverse(llvm::drop_begin(group))) {
      Value size = b.createOrFold<tensor::DimOp>(loc, op.getSrc(), dim);
      from[dim] = b.createOrFold<arith::RemUIOp>(loc, rest, size);
      rest = b.createOrFold<arith::DivUIOp>(loc, rest, size);
    }
    from[group.front()] = rest;
  }
  return find(op.getSrc(), from);
}

/// What the body makes of the inputs' elements at a point of the loops.
FailureOr<Value> ElementFinder::step(linalg::LinalgOp op, unsigned result,
                                     ArrayRef<Value> point, Value sum) {
  Block &body = *op.getBlock();
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() || op.isDpsInit(&operand))
      continue;
    FailureOr<Value> element = operand.get();
    if (!op.isScalar(&operand)) {
      SmallVector<Value> at;
      for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults())
        at.push_back(number(affine::makeComposedFoldedAffineApply(
            b, loc, index, getAsOpFoldResult(point))));
      element = find(operand.get(), at);
    }
    if (failed(element))
      return failure();
    mapping.map(argument, *element);
  }
  BlockArgument own = body.getArgument(op.getNumDpsInputs() + result);
  mapping.map(own, sum);
  for (Operation &inner : body.without_terminator())
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), point[index.getDim()]);
    else
      b.clone(inner, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(result));
}

/// `sum` and the points whose coordinates are not known yet.
FailureOr<Value> ElementFinder::reduce(linalg::LinalgOp op, unsigned result,
                                       SmallVector<Value> &point, Value sum) {
  auto *open = llvm::find(point, Value());
  if (open == point.end())
    return step(op, result, point, sum);
  Value source;
  unsigned sourceDim;
  if (failed(op.mapIterationSpaceDimToOperandDim(open - point.begin(), source,
                                                 sourceDim)))
    return op.emitOpError("has a loop whose size is no size of an operand");
  Value size = b.createOrFold<tensor::DimOp>(loc, source, sourceDim);
  auto loop = scf::ForOp::create(b, loc, number(b.getIndexAttr(0)), size,
                                 number(b.getIndexAttr(1)), ValueRange(sum));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  *open = loop.getInductionVar();
  FailureOr<Value> next = reduce(op, result, point, loop.getRegionIterArg(0));
  if (failed(next))
    return failure();
  scf::YieldOp::create(b, loc, *next);
  return loop.getResult(0);
}

FailureOr<Value> ElementFinder::ofLinalg(linalg::LinalgOp op, unsigned result,
                                         ArrayRef<Value> at) {
  OpOperand *init = op.getDpsInitOperand(result);
  SmallVector<Value> point(op.getNumLoops());
  for (auto [index, value] :
       llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), at))
    point[cast<AffineDimExpr>(index).getPosition()] = value;
  Value first;
  if (op.payloadUsesValueFromOperand(init) ||
      llvm::is_contained(point, Value())) {
    FailureOr<Value> found = find(init->get(), at);
    if (failed(found))
      return failure();
    first = *found;
  }
  return reduce(op, result, point, first);
}

/// Whether every result of a linalg op has its own place in the loops.
static bool isLookedThrough(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() &&
         (op->getNumResults() == 1 || op.getNumReductionLoops() == 0) &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isProjectedPermutation();
         });
}

FailureOr<Value> ElementFinder::find(Value tensor, ArrayRef<Value> at) {
  Operation *op = tensor.getDefiningOp();
  if (!op || isa<arith::ConstantOp>(op))
    return tensor::ExtractOp::create(b, loc, tensor, at).getResult();
  if (OpTrait::hasElementwiseMappableTraits(op))
    return ofElementwise(op, at);
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op);
      linalg && isLookedThrough(linalg))
    return ofLinalg(linalg, cast<OpResult>(tensor).getResultNumber(), at);
  return TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](tensor::CastOp cast) { return find(cast.getSource(), at); })
      .Case([&](tensor::SplatOp splat) { return splat.getInput(); })
      .Case([&](tensor::ExtractSliceOp slice) { return ofSlice(slice, at); })
      .Case([&](tensor::ExpandShapeOp shape) { return ofExpanded(shape, at); })
      .Case(
          [&](tensor::CollapseShapeOp shape) { return ofCollapsed(shape, at); })
      .Default([](Operation *other) {
        return other->emitOpError(
            "computes the place of a slice, which must be known before the "
            "call computes; expects an element of an argument, or of "
            "elementwise ops, reshapes and sums of arguments");
      });
}

FailureOr<Value> attn::elementOf(OpBuilder &b, Location loc, Value tensor,
                                 ValueRange indices) {
  return ElementFinder(b, loc).find(tensor, SmallVector<Value>(indices));
}
