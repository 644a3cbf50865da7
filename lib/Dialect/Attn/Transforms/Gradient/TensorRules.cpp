// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of what moves elements, and of arithmetic on tensors.
#include "Adjoints.h"
#include "Partials.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

static LogicalResult follow(Adjoints &adjoints, tensor::ExtractSliceOp op,
                            Value dy) {
  // What was not taken gets nothing.
  Value zeros = adjoints.zerosLike(op.getSource());
  adjoints.add(op.getSource(), tensor::InsertSliceOp::create(
                                   adjoints.builder, op.getLoc(), dy, zeros,
                                   op.getMixedOffsets(), op.getMixedSizes(),
                                   op.getMixedStrides()));
  return success();
}

static LogicalResult follow(Adjoints &adjoints, tensor::InsertSliceOp op,
                            Value dy) {
  OpBuilder &b = adjoints.builder;
  adjoints.add(op.getSource(),
               tensor::ExtractSliceOp::create(
                   b, op.getLoc(), op.getSourceType(), dy, op.getMixedOffsets(),
                   op.getMixedSizes(), op.getMixedStrides()));
  if (!adjoints.isActive(op.getDest()))
    return success();
  // What was overwritten gets nothing.
  Value zeros = adjoints.zerosLike(op.getSource());
  adjoints.add(op.getDest(),
               tensor::InsertSliceOp::create(
                   b, op.getLoc(), zeros, dy, op.getMixedOffsets(),
                   op.getMixedSizes(), op.getMixedStrides()));
  return success();
}

/// Each input gets the part of the cotangent that it became.
static LogicalResult follow(Adjoints &adjoints, tensor::ConcatOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  Location loc = op.getLoc();
  auto rank = op.getResultType().getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      strides(rank, b.getIndexAttr(1));
  OpFoldResult &begin = offsets[op.getDim()];
  for (Value input : op.getInputs()) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
    if (adjoints.isActive(input))
      adjoints.add(input, tensor::ExtractSliceOp::create(
                              b, loc, cast<RankedTensorType>(input.getType()),
                              dy, offsets, sizes, strides));
    AffineExpr sum = b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1);
    begin = affine::makeComposedFoldedAffineApply(b, loc, sum,
                                                  {begin, sizes[op.getDim()]});
  }
  return success();
}

static LogicalResult follow(Adjoints &adjoints, tensor::CollapseShapeOp op,
                            Value dy) {
  OpBuilder &b = adjoints.builder;
  adjoints.add(op.getSrc(),
               tensor::ExpandShapeOp::create(
                   b, op.getLoc(), op.getSrcType(), dy,
                   op.getReassociationIndices(),
                   tensor::getMixedSizes(b, op.getLoc(), op.getSrc())));
  return success();
}

static LogicalResult follow(Adjoints &adjoints, tensor::ExpandShapeOp op,
                            Value dy) {
  adjoints.add(op.getSrc(), tensor::CollapseShapeOp::create(
                                adjoints.builder, op.getLoc(), op.getSrcType(),
                                dy, op.getReassociationIndices()));
  return success();
}

static LogicalResult follow(Adjoints &adjoints, linalg::TransposeOp op,
                            Value dy) {
  OpBuilder &b = adjoints.builder;
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> back(type.getRank());
  for (auto [i, from] : llvm::enumerate(op.getPermutation()))
    back[from] = i;
  Value empty = tensor::EmptyOp::create(
      b, op.getLoc(), tensor::getMixedSizes(b, op.getLoc(), input),
      type.getElementType());
  adjoints.add(input,
               linalg::TransposeOp::create(b, op.getLoc(), dy, empty, back)
                   .getResult()[0]);
  return success();
}

/// What was padded gets the part of the cotangent that it became.
static LogicalResult follow(Adjoints &adjoints, tensor::PadOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  SmallVector<OpFoldResult> strides(op.getSourceType().getRank(),
                                    b.getIndexAttr(1));
  adjoints.add(op.getSource(),
               tensor::ExtractSliceOp::create(
                   b, op.getLoc(), op.getSourceType(), dy, op.getMixedLowPad(),
                   tensor::getMixedSizes(b, op.getLoc(), op.getSource()),
                   strides));
  return success();
}

/// Whether arithmetic behind `value` chooses elements: those that are not taken
/// may be infinite, and have a cotangent of 0.
static bool isChosen(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!OpTrait::hasElementwiseMappableTraits(user) ||
        !seen.insert(user).second)
      return false;
    return isa<arith::SelectOp>(user) || isChosen(user->getResult(0), seen);
  });
}

/// Arithmetic, element by element.
static Ruled followElementwise(Adjoints &adjoints, Operation *op, Value dy) {
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 16> seen;
  auto apply =
      isChosen(op->getResult(0), seen) ? applyPartialUnlessZero : applyPartial;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!adjoints.isActive(operand.get()))
      continue;
    if (!hasPartial(op, operand.getOperandNumber()))
      return std::nullopt;
    unsigned number = operand.getOperandNumber();
    adjoints.add(partialArgument(op, number),
                 apply(adjoints.builder, op, number, dy));
  }
  return success();
}

Ruled attn::followTensorOp(Adjoints &adjoints, Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  Value dy = adjoints.of(op->getResult(0));
  return llvm::TypeSwitch<Operation *, Ruled>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
            tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::PadOp,
            linalg::TransposeOp>(
          [&](auto known) -> Ruled { return follow(adjoints, known, dy); })
      .Case<tensor::CastOp>([&](tensor::CastOp cast) -> Ruled {
        adjoints.add(cast.getSource(),
                     tensor::CastOp::create(adjoints.builder, op->getLoc(),
                                            cast.getSource().getType(), dy));
        return success();
      })
      .Default([&](Operation *) -> Ruled {
        return followElementwise(adjoints, op, dy);
      });
}
