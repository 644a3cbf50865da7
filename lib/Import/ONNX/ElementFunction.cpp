// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElementFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::onnx;

ElementFunction::ElementFunction(Value scores, Value score, Block &body,
                                 unsigned first)
    : scores(scores), score(score), body(body),
      b(OpBuilder::atBlockEnd(&body)) {
  for (BlockArgument index : body.getArguments().slice(first, 4))
    place.push_back(index);
}

SmallVector<Value> ElementFunction::captures() const {
  return llvm::map_to_vector(captured,
                             [](const auto &entry) { return entry.first; });
}

Value ElementFunction::element(Value tensor) { return at(tensor, place); }

Value ElementFunction::constant(int64_t index) {
  return arith::ConstantIndexOp::create(b, scores.getLoc(), index);
}

Value ElementFunction::capture(Value value) {
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    if (llvm::is_contained(tensor.getShape(), 0))
      return {};
  auto [entry, isNew] = captured.try_emplace(value);
  if (isNew)
    entry->second = body.addArgument(value.getType(), value.getLoc());
  return entry->second;
}

bool ElementFunction::dependsOnScores(Value value) {
  if (value == scores)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto known = dependent.find(value); known != dependent.end())
    return known->second;
  bool depends = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      depends |= dependsOnScores(operand);
  });
  return dependent[value] = depends;
}

Value ElementFunction::outer(Value number) {
  Attribute known;
  if (matchPattern(number, m_Constant(&known)))
    return arith::ConstantOp::create(b, number.getLoc(),
                                     cast<TypedAttr>(known));
  return dependsOnScores(number) ? Value() : capture(number);
}

/// Ops that a region may hold and kernels have code for.
static bool isAllowed(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op)) {
    APInt divisor;
    return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
           !divisor.isZero() && !divisor.isAllOnes();
  }
  for (Type type : op->getResultTypes())
    if (auto number = dyn_cast<FloatType>(type))
      if (!number.isF32() && !number.isF64())
        return false;
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::RemFOp>(op);
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CosOp, math::ErfOp, math::Exp2Op, math::ExpM1Op, math::ExpOp,
             math::FloorOp, math::FmaOp, math::Log1pOp, math::Log2Op,
             math::LogOp, math::PowFOp, math::RoundEvenOp, math::RoundOp,
             math::RsqrtOp, math::SinOp, math::SqrtOp, math::TanhOp,
             math::TruncOp>(op);
}

/// `op` on numbers, or what that folds to.
Value ElementFunction::clone(Operation *op, ArrayRef<Value> operands) {
  if (llvm::is_contained(operands, Value()))
    return {};
  OperationState state(op->getLoc(), op->getName(), operands,
                       getElementTypeOrSelf(op->getResult(0)), op->getAttrs());
  Operation *scalar = b.create(state);
  if (!isAllowed(scalar))
    return {};
  SmallVector<Value> folded;
  if (failed(b.tryFold(scalar, folded)) || folded.empty())
    return scalar->getResult(0);
  scalar->erase();
  return folded.front();
}

/// The element of the reshape's source: dimensions of size 1 come and go, and
/// others are joined where the inner sizes are known.
Value ElementFunction::reshaped(Operation *op, ArrayRef<Value> indices) {
  SmallVector<Value> source;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Value index;
      for (int64_t dim : group) {
        if (shape[dim] == 1)
          continue;
        if (index && ShapedType::isDynamic(shape[dim]))
          return {};
        if (index)
          index = arith::AddIOp::create(
              b, op->getLoc(),
              arith::MulIOp::create(b, op->getLoc(), index,
                                    constant(shape[dim])),
              indices[dim]);
        else
          index = indices[dim];
      }
      source.push_back(index ? index : constant(0));
    }
    return at(expand.getSrc(), source);
  }
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  source.resize(shape.size());
  for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    bool isTaken = false;
    for (int64_t dim : group) {
      if (shape[dim] != 1 && isTaken)
        return {};
      source[dim] = shape[dim] == 1 ? constant(0) : indices[i];
      isTaken |= shape[dim] != 1;
    }
  }
  return at(collapse.getSrc(), source);
}

/// A loop over elements, with its body in place.
Value ElementFunction::inlineGeneric(Operation *op, ArrayRef<Value> indices) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumParallelLoops() != generic.getNumLoops() ||
      generic.getNumDpsInits() != 1 ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0))
           .isIdentity())
    return {};
  llvm::DenseMap<Value, Value> values;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    SmallVector<Value> source;
    for (AffineExpr expression :
         generic.getMatchingIndexingMap(input).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expression);
      if (!loop)
        return {};
      source.push_back(indices[loop.getPosition()]);
    }
    Value element = at(input->get(), source);
    if (!element)
      return {};
    values[generic.getMatchingBlockArgument(input)] = element;
  }
  auto inside = [&](Value value) {
    auto known = values.find(value);
    return known == values.end() ? outer(value) : known->second;
  };
  for (Operation &inner : generic.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      values[index] = indices[index.getDim()];
      continue;
    }
    if (inner.getNumResults() != 1 || inner.getNumRegions())
      return {};
    SmallVector<Value> operands = llvm::map_to_vector(
        inner.getOperands(), [&](Value operand) { return inside(operand); });
    Value result;
    if (!llvm::is_contained(operands, Value()) && isa<tensor::ExtractOp>(inner))
      result = tensor::ExtractOp::create(b, inner.getLoc(), operands.front(),
                                         ArrayRef(operands).drop_front());
    else
      result = clone(&inner, operands);
    if (!result)
      return {};
    values[inner.getResult(0)] = result;
  }
  return inside(generic.getBody()->getTerminator()->getOperand(0));
}

/// The element of what `op` makes, or null.
Value ElementFunction::compute(Operation *op, ArrayRef<Value> indices) {
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType())
                             ? at(operand, indices)
                             : outer(operand));
    return clone(op, operands);
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tensor::CastOp cast) { return at(cast.getSource(), indices); })
      .Case([&](tensor::SplatOp splat) { return outer(splat.getInput()); })
      .Case([&](linalg::BroadcastOp broadcast) {
        SmallVector<Value> source;
        for (auto [i, index] : llvm::enumerate(indices))
          if (!llvm::is_contained(broadcast.getDimensions(),
                                  static_cast<int64_t>(i)))
            source.push_back(index);
        return at(broadcast.getInput(), source);
      })
      .Case([&](linalg::TransposeOp transpose) {
        SmallVector<Value> source(indices.size());
        for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
          source[from] = indices[i];
        return at(transpose.getInput(), source);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto) { return reshaped(op, indices); })
      .Default([&](Operation *other) { return inlineGeneric(other, indices); });
}

Value ElementFunction::at(Value tensor, ArrayRef<Value> indices) {
  if (tensor == scores)
    return score && llvm::equal(indices, place) ? score : Value();
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return arith::ConstantOp::create(
        b, tensor.getLoc(), cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  if (Operation *op = tensor.getDefiningOp())
    if (Value element = compute(op, indices))
      return element;
  if (dependsOnScores(tensor))
    return {};
  Value table = capture(tensor);
  return table ? tensor::ExtractOp::create(b, tensor.getLoc(), table, indices)
                     .getResult()
               : Value();
}
