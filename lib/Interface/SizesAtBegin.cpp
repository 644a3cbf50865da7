// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizesAtBegin.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::cpu;

/// A size that can be computed from the arguments alone.
bool SizesAtBegin::isKnownAtBegin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == block;
  return value.getDefiningOp()->getBlock() == block &&
         value.getDefiningOp()->isBeforeInBlock(begin);
}

/// `size`, or a bound for it, in front of `begin`; null if there is none.
Value SizesAtBegin::bound(Value size) {
  if (Operation *op = size.getDefiningOp();
      isKnownAtBegin(size) ||
      (op && op->getBlock() == block &&
       succeeded(moveValueDefinitions(rewriter, size, begin))))
    return size;
  FailureOr<OpFoldResult> bound = arith::reifyIndexValueBound(
      rewriter, loc, presburger::BoundType::UB, size,
      [&](Value value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
        Operation *op = value.getDefiningOp();
        return isKnownAtBegin(value) ||
               (op && op->getBlock() == block &&
                succeeded(moveValueDefinitions(rewriter, value, begin)));
      },
      /*closedUB=*/true);
  if (failed(bound))
    return again(size, /*exact=*/false);
  return getValueOrCreateConstantIndexOp(rewriter, loc, *bound);
}

/// The factors of an expression, whose operands are `operands`; false where it
/// is no product, or a number is beyond i64.
static bool factor(AffineExpr product, unsigned dims, ValueRange operands,
                   int64_t &known, SmallVectorImpl<Value> &factors) {
  if (auto number = dyn_cast<AffineConstantExpr>(product))
    return number.getValue() >= 0 &&
           !llvm::MulOverflow(known, number.getValue(), known);
  if (auto dim = dyn_cast<AffineDimExpr>(product))
    return SizesAtBegin::factor(operands[dim.getPosition()], known, factors);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(product))
    return SizesAtBegin::factor(operands[dims + symbol.getPosition()], known,
                                factors);
  auto two = dyn_cast<AffineBinaryOpExpr>(product);
  return two && two.getKind() == AffineExprKind::Mul &&
         ::factor(two.getLHS(), dims, operands, known, factors) &&
         ::factor(two.getRHS(), dims, operands, known, factors);
}

bool SizesAtBegin::factor(Value size, int64_t &known,
                          SmallVectorImpl<Value> &factors) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return *number >= 0 && !llvm::MulOverflow(known, *number, known);
  if (auto product = size.getDefiningOp<arith::MulIOp>())
    return factor(product.getLhs(), known, factors) &&
           factor(product.getRhs(), known, factors);
  if (auto apply = size.getDefiningOp<affine::AffineApplyOp>()) {
    AffineMap map = apply.getAffineMap();
    int64_t number = known;
    SmallVector<Value> parts;
    if (::factor(map.getResult(0), map.getNumDims(), apply.getMapOperands(),
                 number, parts)) {
      known = number;
      llvm::append_range(factors, parts);
      return true;
    }
  }
  factors.push_back(size);
  return true;
}

/// The argument of the kernel that `memref` is, or a copy with rows side by
/// side (attn-make-contiguous) of; null if it is no argument.
static Value argumentOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      memref = choice.getFalseValue();
    else if (auto cast = dyn_cast<memref::CastOp>(op))
      memref = cast.getSource();
    else
      return {};
  }
  return memref;
}

/// The size of dimensions that were joined: their product.
Value SizesAtBegin::ofJoined(memref::DimOp size) {
  auto collapse = size.getSource().getDefiningOp<memref::CollapseShapeOp>();
  std::optional<int64_t> dim = size.getConstantIndex();
  if (!collapse || !dim)
    return {};
  // A copy of an argument has its sizes, which are known earlier.
  Value source = collapse.getSrc(), argument = argumentOf(source);
  if (argument)
    source = argument;
  Value product = arith::ConstantIndexOp::create(rewriter, loc, 1);
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  for (int64_t part : groups[*dim]) {
    OpBuilder before(collapse);
    Value one = bound(before.createOrFold<memref::DimOp>(loc, source, part));
    if (!one)
      return {};
    product = arith::MulIOp::create(rewriter, loc, product, one);
  }
  return product;
}

/// Whether `op` grows with its operand: a bound of that gives one of the
/// result.
static bool growsWith(Operation *op, unsigned operand) {
  return isa<arith::AddIOp, arith::MulIOp, arith::MaxUIOp, arith::MaxSIOp,
             arith::MinUIOp, arith::MinSIOp, arith::IndexCastOp,
             arith::IndexCastUIOp>(op) ||
         (operand == 0 && isa<arith::SubIOp, arith::DivUIOp, arith::DivSIOp,
                              arith::CeilDivUIOp, arith::CeilDivSIOp>(op));
}

/// `size` computed once more, from first elements of arguments too. The smaller
/// of two numbers is bounded by either; where the size itself is asked for
/// (`exact`) both must be known.
Value SizesAtBegin::again(Value size, bool exact) {
  Operation *op = size.getDefiningOp();
  if (isKnownAtBegin(size))
    return size;
  if (!op)
    return {};
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (Value known = ofJoined(dim))
      return known;
  if (auto choice = dyn_cast<arith::SelectOp>(op); choice && !exact) {
    if (Value known = again(size, /*exact=*/true))
      return known;
    // The condition is known later, such as that of strides of a view.
    Value first = bound(choice.getTrueValue());
    Value second = bound(choice.getFalseValue());
    return first && second
               ? arith::MaxUIOp::create(rewriter, loc, first, second)
                     .getResult()
               : Value();
  }
  if (!exact && isa<arith::MinUIOp, arith::MinSIOp>(op)) {
    Value first = bound(op->getOperand(0)), second = bound(op->getOperand(1));
    if (!first || !second)
      return first ? first : second;
    return isa<arith::MinUIOp>(op)
               ? arith::MinUIOp::create(rewriter, loc, first, second)
                     .getResult()
               : arith::MinSIOp::create(rewriter, loc, first, second);
  }
  IRMapping mapping;
  bool isElement = false;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    Value argument = argumentOf(load.getMemRef());
    isElement = argument && isKnownAtBegin(argument) &&
                llvm::all_of(load.getIndices(), [](Value index) {
                  return isConstantIntValue(index, 0);
                });
    if (isElement)
      mapping.map(load.getMemRef(), argument);
  }
  if (!isElement && (op->getNumRegions() || !isPure(op)))
    return {};
  for (OpOperand &operand : op->getOpOperands()) {
    if (mapping.contains(operand.get()))
      continue;
    Value known = again(operand.get(),
                        exact || !growsWith(op, operand.getOperandNumber()));
    if (!known)
      return {};
    mapping.map(operand.get(), known);
  }
  return rewriter.clone(*op, mapping)
      ->getResult(cast<OpResult>(size).getResultNumber());
}
