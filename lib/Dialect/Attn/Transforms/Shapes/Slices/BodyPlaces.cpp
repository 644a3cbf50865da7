// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places at which the body of a linalg op reads elements.
//
// A sum, product or quotient of the op's counters and of values in front of it
// that has each counter once is least and largest at the counters' ends: two
// comparisons before the kernel runs tell whether the body stays inside, and
// cost it nothing. Of any other place numbers that are known may tell; of one
// that neither does the nearest element is taken (ClampLookups.cpp).
#include "Lookups.h"
#include "SliceChecker.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

/// The dimension of an operand along which counter `d` of `loop` goes.
static std::optional<Dim> countedDim(linalg::LinalgOp loop, unsigned d) {
  for (OpOperand &operand : loop->getOpOperands())
    for (auto [i, place] :
         llvm::enumerate(loop.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(place);
          dim && dim.getPosition() == d)
        return Dim{operand.get(), static_cast<int64_t>(i)};
  return std::nullopt;
}

/// Whether the body of `loop` does not compute `value`.
static bool isOutside(linalg::LinalgOp loop, Value value) {
  return !loop.getBlock()->getParent()->isAncestor(value.getParentRegion());
}

/// Whether `op` divides by a number above 0, and what unsigned takes for
/// large is none.
static bool dividesUp(Operation *op) {
  if (!isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    return false;
  return getConstantIntValue(op->getOperand(1)).value_or(0) > 0 &&
         (!isa<arith::DivUIOp>(op) || isNeverNegative(op->getOperand(0)));
}

/// Whether `index` is monotone in each of the op's counters, which are new in
/// `counters`, and all else is known in front of the op.
static bool isMonotone(linalg::LinalgOp loop, Value index,
                       llvm::SmallBitVector &counters) {
  if (isOutside(loop, index))
    return isa<IndexType>(index.getType()) && !needsComputed(index);
  Operation *op = index.getDefiningOp();
  if (auto counter = dyn_cast_or_null<linalg::IndexOp>(op)) {
    if (counters.test(counter.getDim()))
      return false;
    counters.set(counter.getDim());
    return countedDim(loop, counter.getDim()).has_value();
  }
  if (!op || !isa<IndexType>(index.getType()))
    return false;
  bool isProduct = isa<arith::MulIOp>(op);
  if (isProduct && !llvm::any_of(op->getOperands(), [&](Value factor) {
        return isOutside(loop, factor);
      }))
    return false;
  return (isProduct || dividesUp(op) ||
          isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
              op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isMonotone(loop, operand, counters);
         });
}

/// What is known of `index` without asking for sizes.
static ConstantIntRanges rangeOf(linalg::LinalgOp loop, Value index,
                                 SizeClasses &classes, unsigned steps = 16) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(index.getType());
  ConstantIntRanges found = ConstantIntRanges::maxRange(width);
  Operation *op = index.getDefiningOp();
  if (auto counter = dyn_cast_or_null<linalg::IndexOp>(op)) {
    auto dim = loop ? countedDim(loop, counter.getDim()) : std::nullopt;
    int64_t size = dim ? classes.sizeOf(*dim) : -1;
    int64_t last = size < 0 ? INT64_MAX : std::max<int64_t>(size - 1, 0);
    return ConstantIntRanges::fromSigned(APInt(width, 0), APInt(width, last));
  }
  auto known = dyn_cast_or_null<InferIntRangeInterface>(op);
  if (!known || !steps || !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return type.isIntOrIndex();
      }))
    return found;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(rangeOf(loop, operand, classes, steps - 1));
  known.inferResultRanges(
      operands, [&](Value, const ConstantIntRanges &of) { found = of; });
  return found;
}

bool SliceChecker::isClamped(Dim dim, Value index) {
  auto least = index.getDefiningOp<arith::MaxSIOp>();
  auto most = least && isConstantIntValue(least.getRhs(), 0)
                  ? least.getLhs().getDefiningOp<arith::MinSIOp>()
                  : nullptr;
  auto less = most ? most.getRhs().getDefiningOp<arith::SubIOp>() : nullptr;
  auto size = less ? less.getLhs().getDefiningOp<tensor::DimOp>() : nullptr;
  return size && size.getConstantIndex() &&
         isConstantIntValue(less.getRhs(), 1) &&
         isa<RankedTensorType>(size.getSource().getType()) &&
         classes.find({size.getSource(), *size.getConstantIndex()}) ==
             classes.find(dim);
}

/// Whether types and equal sizes tell that `index` lies inside. The loop may be
/// null.
static bool isKnownInside(linalg::LinalgOp loop, Dim dim, Value index,
                          SizeClasses &classes) {
  ConstantIntRanges place = rangeOf(loop, index, classes);
  if (place.smin().isNegative())
    return false;
  if (place.smax().slt(classes.sizeOf(dim)))
    return true;
  auto counter = index.getDefiningOp<linalg::IndexOp>();
  if (!counter || !loop)
    return false;
  auto counted = countedDim(loop, counter.getDim());
  return counted && classes.find(*counted) == classes.find(dim);
}

bool SliceChecker::isTold(Dim dim) {
  Operation *maker = dim.first.getDefiningOp();
  return classes.sizeOf(dim) >= 0 || arguments.contains(classes.find(dim)) ||
         isa_and_nonnull<ReifyRankedShapedTypeOpInterface>(maker);
}

bool SliceChecker::takesNearest(Operation *op, Dim dim, Value index) {
  auto loop = op->getParentOfType<linalg::LinalgOp>();
  if (isClamped(dim, index) || isKnownInside(loop, dim, index, classes))
    return false;
  if (dependsOnElements(index))
    return true;
  if (!loop)
    return false;
  llvm::SmallBitVector counters(loop.getNumLoops());
  if (op->getParentOp() != loop || !isInFront(loop) || !isTold(dim) ||
      !isMonotone(loop, index, counters))
    return true;
  for (unsigned d = 0; d < loop.getNumLoops(); ++d)
    if (auto counted = countedDim(loop, d); !counted || !isTold(*counted))
      return true;
  return false;
}

/// The least and the largest value of `index`.
std::pair<Value, Value> SliceChecker::ends(linalg::LinalgOp loop, Value index) {
  Location loc = index.getLoc();
  if (isOutside(loop, index))
    return {index, index};
  Operation *op = index.getDefiningOp();
  if (auto counter = dyn_cast<linalg::IndexOp>(op)) {
    Value size = knownSize(loop, *countedDim(loop, counter.getDim()));
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    return {arith::ConstantIndexOp::create(b, loc, 0),
            b.createOrFold<arith::SubIOp>(loc, size, one)};
  }
  auto [low, high] = ends(loop, op->getOperand(0));
  auto [from, to] = ends(loop, op->getOperand(1));
  auto compute = [&](Value left, Value right) -> Value {
    Operation *copy = b.clone(*op);
    copy->setOperands({left, right});
    return copy->getResult(0);
  };
  if (isa<arith::SubIOp>(op))
    return {compute(low, to), compute(high, from)};
  Value first = compute(low, from), last = compute(high, to);
  std::optional<int64_t> factor = getConstantIntValue(op->getOperand(1));
  if (!isa<arith::MulIOp>(op) || factor.value_or(-1) >= 0)
    return {first, last};
  if (factor)
    return {last, first};
  return {arith::MinSIOp::create(b, loc, first, last),
          arith::MaxSIOp::create(b, loc, first, last)};
}

void SliceChecker::checkBody(tensor::ExtractOp element) {
  auto loop = dyn_cast<linalg::LinalgOp>(element->getParentOp());
  if (!loop || !isInFront(loop))
    return;
  Location loc = element.getLoc();
  b.setInsertionPoint(function.front().getTerminator());
  for (auto [i, index] : llvm::enumerate(element.getIndices())) {
    Dim dim{element.getTensor(), static_cast<int64_t>(i)};
    if (isClamped(dim, index) || isKnownInside(loop, dim, index, classes) ||
        takesNearest(element, dim, index))
      continue;
    auto [low, high] = ends(loop, index);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0),
          size = knownSize(element, dim);
    using Bounds = ValueBoundsConstraintSet;
    if (Bounds::compare(low, Bounds::GE, zero) &&
        Bounds::compare(high, Bounds::LT, size))
      continue;
    Value holds =
        arith::AndIOp::create(b, loc, compare(loc, Predicate::sge, low, zero),
                              compare(loc, Predicate::slt, high, size));
    for (unsigned d = 0; d < loop.getNumLoops(); ++d)
      holds = arith::OrIOp::create(
          b, loc, holds,
          compare(loc, Predicate::eq, knownSize(loop, *countedDim(loop, d)),
                  zero));
    require(element, Rule::Place, holds);
  }
}
