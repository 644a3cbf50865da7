// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops that are no slices read and write lies in their tensors.
#include "Lookups.h"
#include "SliceChecker.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

/// Elements at places that sizes tell; those that elements tell are clamped.
void SliceChecker::checkElement(Operation *op, Value tensor,
                                ValueRange indices) {
  for (auto [i, index] : llvm::enumerate(indices)) {
    Dim dim{tensor, static_cast<int64_t>(i)};
    std::optional<int64_t> known = getConstantIntValue(index);
    bool isInside = known && *known >= 0 && *known < classes.sizeOf(dim);
    if (isInside || dependsOnElements(index))
      continue;
    b.setInsertionPoint(function.front().getTerminator());
    if (Value size = knownSize(op, dim))
      require(op, Rule::Place,
              compare(op->getLoc(), Predicate::ult, index, size));
  }
}

/// A part is as large as the slice that it becomes.
void SliceChecker::checkInserted(tensor::InsertSliceOp insert) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Location loc = insert.getLoc();
  int64_t next = 0;
  for (auto [i, size] : llvm::enumerate(insert.getMixedSizes())) {
    if (dropped.test(i))
      continue;
    Dim dim{insert.getSource(), next++};
    std::optional<int64_t> known = getConstantIntValue(size);
    auto of = isa<Value>(size)
                  ? cast<Value>(size).getDefiningOp<tensor::DimOp>()
                  : tensor::DimOp();
    bool isOwn = of && of.getConstantIndex() &&
                 classes.find({of.getSource(), *of.getConstantIndex()}) ==
                     classes.find(dim);
    if (isOwn || (known && *known == classes.sizeOf(dim)))
      continue;
    b.setInsertionPoint(function.front().getTerminator());
    if (Value own = knownSize(insert, dim)) {
      Value slice = getValueOrCreateConstantIndexOp(b, loc, size);
      if (own != slice)
        require(insert, Rule::Size, compare(loc, Predicate::eq, own, slice));
    }
  }
}

void attn::eachElement(Value value,
                       llvm::function_ref<Value(tensor::ExtractOp)> visit) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || isa<tensor::DimOp>(op) || !seen.insert(op).second)
      continue;
    SmallVector<tensor::ExtractOp> elements;
    op->walk([&](Operation *inner) {
      if (auto element = dyn_cast<tensor::ExtractOp>(inner))
        elements.push_back(element);
      else if (!isa<tensor::DimOp>(inner))
        llvm::append_range(open, inner->getOperands());
    });
    for (tensor::ExtractOp element : elements) {
      llvm::append_range(open, element.getIndices());
      if (Value more = visit(element))
        open.push_back(more);
    }
  }
}

bool attn::isComputed(tensor::ExtractOp element) {
  Operation *computes = element.getTensor().getDefiningOp();
  return computes && !isa<arith::ConstantOp>(computes);
}

bool attn::needsComputed(Value value) {
  bool found = false;
  eachElement(value, [&](tensor::ExtractOp element) {
    found |= isComputed(element);
    return Value();
  });
  return found;
}

/// Parts of a known size are all of it; sizes that are computed have checks of
/// their own.
void SliceChecker::checkConcat(tensor::ConcatOp joined) {
  auto dim = static_cast<int64_t>(joined.getDim());
  int64_t known = joined.getResultType().getDimSize(dim);
  Location loc = joined.getLoc();
  b.setInsertionPoint(function.front().getTerminator());
  Value total;
  bool isUnknown = false;
  for (Value part : joined.getInputs()) {
    Value size = knownSize(joined, {part, dim});
    if (!size || ShapedType::isDynamic(known) || needsComputed(size))
      return;
    isUnknown |= classes.sizeOf({part, dim}) < 0;
    total = total ? arith::AddIOp::create(b, loc, total, size) : size;
  }
  if (isUnknown)
    require(joined, Rule::Size,
            compare(loc, Predicate::eq, total,
                    arith::ConstantIndexOp::create(b, loc, known)));
}

/// Nothing is taken away, and a known result is all of it.
void SliceChecker::checkPad(tensor::PadOp pad) {
  Location loc = pad.getLoc();
  b.setInsertionPoint(function.front().getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (int64_t i = 0; i < pad.getResultType().getRank(); ++i) {
    Value total = knownSize(pad, {pad.getSource(), i});
    bool isComputed = false;
    for (OpFoldResult side :
         {pad.getMixedLowPad()[i], pad.getMixedHighPad()[i]}) {
      Value width = getValueOrCreateConstantIndexOp(b, loc, side);
      isComputed |= isa<Value>(side);
      if (isa<Value>(side) && !isNeverNegative(width))
        require(pad, Rule::Size, compare(loc, Predicate::sge, width, zero));
      total = total ? arith::AddIOp::create(b, loc, total, width).getResult()
                    : Value();
    }
    int64_t known = pad.getResultType().getDimSize(i);
    if (total && isComputed && !ShapedType::isDynamic(known))
      require(pad, Rule::Size,
              compare(loc, Predicate::eq, total,
                      arith::ConstantIndexOp::create(b, loc, known)));
  }
}

/// Whether the expression is largest where its dims are.
static bool isGrowing(AffineExpr expr) {
  auto two = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!two)
    return true;
  if (two.getKind() == AffineExprKind::Add)
    return isGrowing(two.getLHS()) && isGrowing(two.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(two.getRHS());
  return two.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() >= 0 && isGrowing(two.getLHS());
}

/// Places that a loop computes of its counters: the last one, if it has a turn.
void SliceChecker::checkMaps(linalg::LinalgOp loop) {
  Location loc = loop.getLoc();
  b.setInsertionPoint(function.front().getTerminator());
  SmallVector<Value> last(loop.getNumLoops());
  Value one = arith::ConstantIndexOp::create(b, loc, 1),
        zero = arith::ConstantIndexOp::create(b, loc, 0), hasNone;
  for (OpOperand &operand : loop->getOpOperands())
    for (auto [i, place] :
         llvm::enumerate(loop.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(place);
          dim && !last[dim.getPosition()])
        if (Value size =
                knownSize(loop, {operand.get(), static_cast<int64_t>(i)})) {
          last[dim.getPosition()] = arith::SubIOp::create(b, loc, size, one);
          Value isNone = compare(loc, Predicate::eq, size, zero);
          hasNone =
              hasNone ? arith::OrIOp::create(b, loc, hasNone, isNone) : isNone;
        }
  if (!llvm::all_of(last, [](Value index) { return bool(index); }))
    return;
  for (OpOperand &operand : loop->getOpOperands())
    for (auto [i, place] :
         llvm::enumerate(loop.getMatchingIndexingMap(&operand).getResults())) {
      Dim dim{operand.get(), static_cast<int64_t>(i)};
      Value size = isa<AffineDimExpr>(place) || !isGrowing(place)
                       ? Value()
                       : knownSize(loop, dim);
      if (!size)
        continue;
      Value at = affine::expandAffineExpr(b, loc, place, last, {});
      Value holds = compare(loc, Predicate::slt, at, size);
      require(loop, Rule::Place,
              hasNone ? arith::OrIOp::create(b, loc, hasNone, holds) : holds);
    }
}

void SliceChecker::checkAccess(Operation *op) {
  if (auto lookup = dyn_cast<tensor::ExtractOp>(op)) {
    checkLookup(lookup);
    checkBody(lookup);
  }
  if (!isInFront(op))
    return;
  if (auto element = dyn_cast<tensor::ExtractOp>(op))
    checkElement(op, element.getTensor(), element.getIndices());
  else if (auto element = dyn_cast<tensor::InsertOp>(op))
    checkElement(op, element.getDest(), element.getIndices());
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    checkInserted(insert);
  else if (auto joined = dyn_cast<tensor::ConcatOp>(op))
    checkConcat(joined);
  else if (auto pad = dyn_cast<tensor::PadOp>(op))
    checkPad(pad);
  else if (auto loop = dyn_cast<linalg::LinalgOp>(op))
    if (llvm::any_of(loop.getIndexingMapsArray(), [](AffineMap map) {
          return !llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
        }))
      checkMaps(loop);
}
