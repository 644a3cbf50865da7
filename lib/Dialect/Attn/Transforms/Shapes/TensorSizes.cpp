// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops of tensor, linalg and scf require of the sizes of their tensors.
#include "ShapeConstraints.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// A size that is asked of another tensor is the size of that.
void ShapeConstraints::size(Value result, int64_t dim, OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  auto of = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (of && of.getConstantIndex() && isTensor(of.getSource()))
    same(result, dim, of.getSource(), *of.getConstantIndex());
}

/// One value per size that the type does not know.
void ShapeConstraints::unknown(Value result, ValueRange values) {
  auto type = cast<RankedTensorType>(result.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i)) {
      size(result, i, values.front());
      values = values.drop_front();
    }
}

void ShapeConstraints::slice(tensor::ExtractSliceOp part) {
  llvm::SmallBitVector dropped = part.getDroppedDims();
  int64_t next = 0;
  for (auto [dim, value] : llvm::enumerate(part.getMixedSizes()))
    if (!dropped.test(dim))
      size(part.getResult(), next++, value);
}

/// Dimensions that stay what they are; groups of known sizes have no others.
void ShapeConstraints::groups(ArrayRef<ReassociationIndices> groups,
                              Value expanded, Value collapsed) {
  auto type = cast<RankedTensorType>(expanded.getType());
  for (auto [dim, group] : llvm::enumerate(groups)) {
    int64_t others = 1, unknown = 0, last = 0;
    for (int64_t i : group)
      if (type.isDynamicDim(i))
        ++unknown, last = i;
      else
        others *= type.getDimSize(i);
    if (unknown == 1 && others == 1)
      same(expanded, last, collapsed, static_cast<int64_t>(dim));
  }
}

/// Dimensions that one loop runs over are the same.
void ShapeConstraints::loops(linalg::LinalgOp generic) {
  SmallVector<std::optional<Dim>> seen(generic.getNumLoops());
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!isTensor(operand.get()))
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [i, expression] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
        std::optional<Dim> &first = seen[loop.getPosition()];
        if (first)
          classes.unify(op, *first, {operand.get(), i});
        else
          first = Dim{operand.get(), i};
      }
  }
}

/// A size that no turn of a loop changes is that of what the loop begins with.
void ShapeConstraints::carried(ValueRange inits, ValueRange arguments,
                               ValueRange yielded, ValueRange results) {
  for (auto [init, argument, next, result] :
       llvm::zip_equal(inits, arguments, yielded, results)) {
    if (!isTensor(result))
      continue;
    for (int64_t i = 0; i < rank(result); ++i) {
      unsigned size = classes.find({next, i});
      if (size != classes.find({argument, i}) &&
          size != classes.find({init, i}))
        continue;
      same(init, i, argument, i);
      same(init, i, next, i);
      same(init, i, result, i);
    }
  }
}

/// A size that both branches give is that of the result.
void ShapeConstraints::chosen(ValueRange first, ValueRange second,
                              ValueRange results) {
  for (auto [a, b, result] : llvm::zip_equal(first, second, results))
    if (isTensor(result))
      for (int64_t i = 0; i < rank(result); ++i)
        if (classes.find({a, i}) == classes.find({b, i}))
          same(a, i, result, i);
}

void ShapeConstraints::concat(tensor::ConcatOp joined) {
  for (Value input : joined.getInputs())
    for (int64_t i = 0; i < rank(input); ++i)
      if (i != static_cast<int64_t>(joined.getDim()))
        same(input, i, joined.getResult(), i);
  auto dim = static_cast<int64_t>(joined.getDim());
  if (int64_t whole = joined.getResultType().getDimSize(dim);
      !ShapedType::isDynamic(whole))
    rest(joined.getInputs(), dim, whole);
}

/// The one part whose size is unknown has what others leave of the whole.
void ShapeConstraints::rest(ValueRange parts, int64_t dim, int64_t whole) {
  Value open;
  for (Value part : parts) {
    int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(size) && open)
      return;
    if (ShapedType::isDynamic(size))
      open = part;
    else
      whole -= size;
  }
  if (open && whole >= 0)
    classes.fix(op, {open, dim}, whole);
}

void ShapeConstraints::pad(tensor::PadOp pad) {
  for (auto [i, low, high] :
       llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    std::optional<int64_t> below = getConstantIntValue(low),
                           above = getConstantIntValue(high);
    auto dim = static_cast<int64_t>(i);
    int64_t whole = pad.getResultType().getDimSize(dim);
    if (below && above && !ShapedType::isDynamic(whole))
      rest(pad.getSource(), dim, whole - *below - *above);
    else if (below == 0 && above == 0)
      same(pad.getSource(), dim, pad.getResult(), dim);
  }
}

/// As many elements as in a result of a known shape.
void ShapeConstraints::reshape(tensor::ReshapeOp reshape) {
  auto from = dyn_cast<RankedTensorType>(reshape.getSource().getType()),
       to = dyn_cast<RankedTensorType>(reshape.getResult().getType());
  if (!from || !to || !to.hasStaticShape() || from.getNumDynamicDims() != 1)
    return;
  int64_t others = 1, open = 0;
  for (auto [i, size] : llvm::enumerate(from.getShape()))
    if (ShapedType::isDynamic(size))
      open = static_cast<int64_t>(i);
    else
      others *= size;
  if (others > 0 && to.getNumElements() % others == 0)
    classes.fix(op, {reshape.getSource(), open}, to.getNumElements() / others);
}

bool ShapeConstraints::collectLoops(Operation *operation) {
  return llvm::TypeSwitch<Operation *, bool>(operation)
      .Case([&](scf::ForOp loop) {
        carried(loop.getInitArgs(), loop.getRegionIterArgs(),
                loop.getYieldedValues(), loop.getResults());
        return true;
      })
      .Case([&](scf::WhileOp loop) {
        for (auto [given, argument, result] :
             llvm::zip_equal(loop.getConditionOp().getArgs(),
                             loop.getAfterArguments(), loop.getResults()))
          if (isTensor(given)) {
            sameShape(given, argument);
            sameShape(given, result);
          }
        carried(loop.getInits(), loop.getBeforeArguments(),
                loop.getYieldedValues(), loop.getBeforeArguments());
        return true;
      })
      .Case([&](scf::ForallOp loop) {
        for (auto [init, argument, result] :
             llvm::zip_equal(loop.getOutputs(), loop.getRegionIterArgs(),
                             loop.getResults())) {
          sameShape(init, argument);
          sameShape(init, result);
        }
        return true;
      })
      .Case([&](scf::IfOp choice) {
        if (choice.getNumResults() > 0)
          chosen(choice.thenYield().getOperands(),
                 choice.elseYield().getOperands(), choice.getResults());
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool ShapeConstraints::collectTensors(Operation *operation) {
  if (auto writes = dyn_cast<DestinationStyleOpInterface>(operation)) {
    for (OpResult result : operation->getResults())
      if (isTensor(result))
        sameShape(writes.getTiedOpOperand(result)->get(), result);
    if (auto generic = dyn_cast<linalg::LinalgOp>(operation))
      loops(generic);
    return true;
  }
  return llvm::TypeSwitch<Operation *, bool>(operation)
      .Case([&](tensor::ExtractSliceOp part) { return slice(part), true; })
      .Case<tensor::EmptyOp, tensor::SplatOp>([&](auto made) {
        return unknown(made->getResult(0), made.getDynamicSizes()), true;
      })
      .Case([&](tensor::GenerateOp made) {
        return unknown(made.getResult(), made.getDynamicExtents()), true;
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        unknown(expand.getResult(), expand.getOutputShape());
        groups(expand.getReassociationIndices(), expand.getResult(),
               expand.getSrc());
        return true;
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        groups(collapse.getReassociationIndices(), collapse.getSrc(),
               collapse.getResult());
        return true;
      })
      .Case([&](tensor::CastOp cast) {
        if (isTensor(cast.getSource()) && isTensor(cast.getResult()))
          sameShape(cast.getSource(), cast.getResult());
        return true;
      })
      .Case([&](tensor::ConcatOp joined) { return concat(joined), true; })
      .Case([&](tensor::PadOp op) { return pad(op), true; })
      .Case([&](tensor::ReshapeOp op) { return reshape(op), true; })
      .Default([&](Operation *other) { return collectLoops(other); });
}
