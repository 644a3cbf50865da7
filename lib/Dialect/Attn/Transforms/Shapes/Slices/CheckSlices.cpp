// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices whose place only the call knows stay inside of their tensors.
//
// Before:  func.func @f(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>) {
//            %n = tensor.dim %k, %c0
//            %part = tensor.extract_slice %v[0, 0] [%n, 8] [1, 1]
// After:   and func.func @f.slices(%k, %v) -> i32 attributes {attn.broken =
//              ["arguments: a slice lies outside of its tensor: ..", ..]} {
//            // 0 where 0 <= n, n <= the rows of %v, else 1
//          }
//
// The C function asks it before the kernel runs, and refuses the call with the
// text of that number, which counts from 1 (SliceRules.cpp). So are
// sizes that are computed, of a slice or a tensor.concat, where an op has them
// meet others: `x + first_four_rows(x)` wants four rows, and the parts of a
// dimension are all of it. So are places outside of loops, the last ones that
// the maps of a linalg op compute, and widths to pad by (CheckAccesses.cpp).
// What elements are looked up in has one, unless nothing is looked up. In a
// loop that has a turn, the bounds of what all turns read and write are asked
// for. An element of a computed tensor that places a slice is computed by
// itself (ElementOf.h), or refused. Where MLIR's value bounds know none, or a
// condition stands around the slice, its turns are looked at one by one
// (CheckTurns.cpp). Not checked are slices in an scf.while, and those whose
// place loops carry from turn to turn.
//
// Before: the fused level. After: functions with such slices have their
// @NAME.slices.
#include "ElementOf.h"
#include "Lookups.h"
#include "Shapes/EntryFunctions.h"
#include "Shapes/ResultSizes.h"
#include "SliceChecker.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_CHECKSLICES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

/// Whether nothing is left to ask.
bool SliceChecker::isInside(const Range &range) {
  std::optional<int64_t> offset = getConstantIntValue(range.offset),
                         size = getConstantIntValue(range.size),
                         stride = getConstantIntValue(range.stride);
  int64_t whole = classes.sizeOf(range.whole);
  if (offset && size && stride && whole >= 0) {
    int64_t last;
    return *size == 0 ||
           (!llvm::MulOverflow(*size - 1, *stride, last) &&
            !llvm::AddOverflow(last, *offset, last) && last < whole);
  }
  if (offset != 0 || stride != 1)
    return false;
  auto value = dyn_cast<Value>(range.size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  return dim && dim.getConstantIndex() &&
         isa<RankedTensorType>(dim.getSource().getType()) &&
         classes.find({dim.getSource(), *dim.getConstantIndex()}) ==
             classes.find(range.whole);
}

/// A bound of `value` that is known where the outermost loop around `op`
/// begins; null if there is none.
Value SliceChecker::bound(Operation *op, presburger::BoundType type,
                          Value value) {
  Block *body = &function.front();
  FailureOr<OpFoldResult> found = arith::reifyIndexValueBound(
      b, op->getLoc(), type, value,
      [&](Value leaf, std::optional<int64_t>, ValueBoundsConstraintSet &) {
        return leaf.getParentBlock() == body;
      },
      /*closedUB=*/true);
  if (failed(found))
    return {};
  return getValueOrCreateConstantIndexOp(b, op->getLoc(), *found);
}

Value SliceChecker::sizeOf(Operation *op, Dim dim) {
  Location loc = op->getLoc();
  if (int64_t size = classes.sizeOf(dim); size >= 0)
    return arith::ConstantIndexOp::create(b, loc, size);
  if (auto found = arguments.find(classes.find(dim)); found != arguments.end())
    dim = found->second;
  if (dim.first.getParentBlock() != &function.front())
    return {};
  return tensor::DimOp::create(b, loc, dim.first, dim.second);
}

/// Whether the loops around `op` may have a turn; null if there is no loop.
/// Fails if something else decides, too.
FailureOr<Value> SliceChecker::hasTurns(Operation *op) {
  Value all;
  Location loc = op->getLoc();
  for (Operation *around = op->getParentOp(); around != function;
       around = around->getParentOp()) {
    if (isa<scf::InParallelOp>(around))
      continue;
    if (!isa<scf::ForOp, scf::ForallOp, scf::ParallelOp>(around))
      return failure();
    auto loop = cast<LoopLikeOpInterface>(around);
    OpBuilder inside(around);
    for (auto [lower, upper] : llvm::zip_equal(*loop.getLoopLowerBounds(),
                                               *loop.getLoopUpperBounds())) {
      Value from = bound(op, presburger::BoundType::LB,
                         getValueOrCreateConstantIndexOp(inside, loc, lower));
      Value to = bound(op, presburger::BoundType::UB,
                       getValueOrCreateConstantIndexOp(inside, loc, upper));
      if (!from || !to)
        return failure();
      all = both(loc, all, compare(loc, Predicate::slt, from, to));
    }
  }
  return all;
}

void SliceChecker::check(Operation *op, const Range &range) {
  Location loc = op->getLoc();
  // The last element, in the loop; the bounds of it, in front. Where parallel
  // insertions stand no other op may.
  OpBuilder inside(isa<tensor::ParallelInsertSliceOp>(op) ? op->getParentOp()
                                                          : op);
  auto value = [&](OpFoldResult given) {
    return getValueOrCreateConstantIndexOp(inside, loc, given);
  };
  Value one = arith::ConstantIndexOp::create(inside, loc, 1);
  Value offset = value(range.offset), size = value(range.size);
  Value steps = arith::MulIOp::create(
      inside, loc, arith::SubIOp::create(inside, loc, size, one),
      value(range.stride));
  Value end = arith::AddIOp::create(
      inside, loc, arith::AddIOp::create(inside, loc, offset, steps), one);

  b.setInsertionPoint(function.front().findAncestorOpInBlock(*op));
  using presburger::BoundType;
  Value whole = sizeOf(op, range.whole);
  Value least = bound(op, BoundType::LB, offset),
        fewest = bound(op, BoundType::LB, size),
        most = bound(op, BoundType::UB, size), last;
  last = bound(op, BoundType::UB, end);
  FailureOr<Value> turns = hasTurns(op);
  if (!whole || !least || !fewest || !most || !last)
    return checkTurns(op, range, {});
  b.setInsertionPoint(function.front().getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value holds = compare(loc, Predicate::sge, least, zero);
  auto require = [&](Predicate predicate, Value left, Value right) {
    holds = both(loc, holds, compare(loc, predicate, left, right));
  };
  require(Predicate::sge, fewest, zero);
  // Before the end, which could wrap around.
  require(Predicate::sle, least, whole);
  require(Predicate::sle, most, whole);
  // No element has no last one.
  Value none = compare(loc, Predicate::eq, most, zero);
  require(Predicate::sle, arith::SelectOp::create(b, loc, none, zero, last),
          whole);
  if (failed(turns))
    return checkTurns(op, range, holds);
  if (*turns) {
    Value always = arith::ConstantIntOp::create(b, loc, true, 1);
    holds = arith::SelectOp::create(b, loc, *turns, holds, always);
  }
  // Bounds of a slice have been the rule; elements may be at any place.
  if (!isa<OffsetSizeAndStrideOpInterface>(op))
    return checkTurns(op, range, holds);
  this->require(op, Rule::Place, holds);
}

void SliceChecker::check(OffsetSizeAndStrideOpInterface slice, Value whole) {
  for (int64_t i = 0; i < cast<RankedTensorType>(whole.getType()).getRank();
       ++i) {
    Range range{slice.getMixedOffsets()[i], slice.getMixedSizes()[i],
                slice.getMixedStrides()[i], Dim{whole, i}};
    if (!isInside(range))
      check(slice, range);
  }
}

/// The elements that loops write, or read, at places of their counters; those
/// that elements tell are clamped.
void SliceChecker::checkTurns(Operation *op, Value tensor, ValueRange indices) {
  if (isInFront(op) || isa<linalg::LinalgOp>(op->getParentOp()))
    return;
  Builder attributes(op->getContext());
  OpFoldResult one = attributes.getIndexAttr(1);
  for (auto [i, index] : llvm::enumerate(indices)) {
    Range range{getAsOpFoldResult(index), one, one,
                Dim{tensor, static_cast<int64_t>(i)}};
    if (!dependsOnElements(index) && !isInside(range))
      check(op, range);
  }
}

/// Whether no dims and symbols of at least 0 make it negative.
static bool hasNoNegative(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  auto two = dyn_cast<AffineBinaryOpExpr>(expr);
  return !two || (hasNoNegative(two.getLHS()) && hasNoNegative(two.getRHS()));
}

bool attn::isNeverNegative(Value size, unsigned steps) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return *known >= 0;
  Operation *op = size.getDefiningOp();
  if (!op || !steps)
    return false;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    if (!hasNoNegative(apply.getAffineMap().getResult(0)))
      return false;
  auto holds = [&](Value operand) {
    return isNeverNegative(operand, steps - 1);
  };
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), holds);
  return isa<tensor::DimOp, linalg::IndexOp>(op) ||
         (isa<affine::AffineApplyOp, arith::AddIOp, arith::MulIOp,
              arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp,
              arith::MinSIOp>(op) &&
          llvm::all_of(op->getOperands(), holds));
}

/// A size that `op` computes is what other ops take it for, and at least 0.
void SliceChecker::checkSize(Operation *op, Dim dim, Value size) {
  auto other = size.getDefiningOp<tensor::DimOp>();
  unsigned own = classes.find(dim);
  if (other && other.getConstantIndex() &&
      isa<RankedTensorType>(other.getSource().getType()) &&
      classes.find({other.getSource(), *other.getConstantIndex()}) == own)
    return;
  bool isTold = classes.sizeOf(dim) >= 0 || arguments.contains(own);
  b.setInsertionPoint(function.front().getTerminator());
  Value expected =
      isTold ? sizeOf(op, dim) : computed.try_emplace(own, size).first->second;
  if (expected != size)
    require(op, Rule::Size,
            compare(op->getLoc(), Predicate::eq, size, expected));
  // Slices are asked for by themselves.
  if (isa<tensor::ExtractSliceOp>(op) || expected != size || isTold ||
      isNeverNegative(size))
    return;
  Value zero = arith::ConstantIndexOp::create(b, op->getLoc(), 0);
  require(op, Rule::Size, compare(op->getLoc(), Predicate::sge, size, zero));
}

/// Whether both are one product of the same sizes.
static bool isSameProduct(Value a, Value c) {
  auto one = a.getDefiningOp<arith::MulIOp>(),
       other = c.getDefiningOp<arith::MulIOp>();
  auto same = [](Value x, Value y) {
    return isEqualConstantIntOrValue(x, y) || isSameProduct(x, y);
  };
  return one && other &&
         ((same(one.getLhs(), other.getLhs()) &&
           same(one.getRhs(), other.getRhs())) ||
          (same(one.getLhs(), other.getRhs()) &&
           same(one.getRhs(), other.getLhs())));
}

/// The size of a dimension as it is known without computing its tensor; null
/// if it is not.
Value SliceChecker::knownSize(Operation *op, Dim dim) {
  if (classes.sizeOf(dim) >= 0 || arguments.contains(classes.find(dim)))
    return sizeOf(op, dim);
  Operation *maker = dim.first.getDefiningOp();
  ReifiedRankedShapedTypeDims shapes;
  if (!maker || failed(reifyResultShapes(b, maker, shapes)))
    return {};
  unsigned result = cast<OpResult>(dim.first).getResultNumber();
  return getValueOrCreateConstantIndexOp(b, op->getLoc(),
                                         shapes[result][dim.second]);
}

/// Parts of a dimension are all of it.
void SliceChecker::checkParts(tensor::ExpandShapeOp expand) {
  Location loc = expand.getLoc();
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  b.setInsertionPoint(function.front().getTerminator());
  for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices())) {
    if (group.size() == 1 || llvm::all_of(group, [&](int64_t part) {
          return isa<Attribute>(sizes[part]);
        }))
      continue;
    Value whole = knownSize(expand, {expand.getSrc(), static_cast<int64_t>(i)});
    if (!whole)
      continue;
    Value product = arith::ConstantIndexOp::create(b, loc, 1);
    for (int64_t part : group)
      product = b.createOrFold<arith::MulIOp>(
          loc, product, getValueOrCreateConstantIndexOp(b, loc, sizes[part]));
    if (product != whole && !isSameProduct(product, whole))
      require(expand, Rule::Size, compare(loc, Predicate::eq, product, whole));
  }
}

/// What the nearest element is taken of has one, if any element of the loop's
/// result is computed.
void SliceChecker::checkLookup(tensor::ExtractOp lookup) {
  auto loop = dyn_cast<linalg::LinalgOp>(lookup->getParentOp());
  if (!loop || loop->getBlock() != &function.front() ||
      loop->getNumResults() == 0)
    return;
  Location loc = lookup.getLoc();
  Value result = loop.getDpsInits()[0], table = lookup.getTensor();
  b.setInsertionPoint(function.front().getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [i, index] : llvm::enumerate(lookup.getIndices())) {
    Dim dim{table, static_cast<int64_t>(i)};
    Value size = isClamped(dim, index) || (classes.sizeOf(dim) < 0 &&
                                           takesNearest(lookup, dim, index))
                     ? knownSize(lookup, dim)
                     : Value();
    if (!size)
      continue;
    Value holds = compare(loc, Predicate::sgt, size, zero);
    for (int64_t j = 0; j < loop.getRank(loop.getDpsInitOperand(0)); ++j)
      if (classes.sizeOf({result, j}) < 0)
        if (Value turns = knownSize(loop, {result, j}))
          holds = arith::OrIOp::create(
              b, loc, holds, compare(loc, Predicate::eq, turns, zero));
    require(lookup, Rule::Place, holds);
  }
}

void SliceChecker::checkSizes(Operation *op) {
  if (op->getBlock() != &function.front() || !statesSizes(op))
    return;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    checkParts(expand);
  ReifiedRankedShapedTypeDims shapes;
  b.setInsertionPoint(op);
  if (failed(reifyResultShapes(b, op, shapes)))
    return;
  for (auto [dim, size] : llvm::enumerate(shapes.front()))
    if (auto value = dyn_cast<Value>(size))
      checkSize(op, {op->getResult(0), static_cast<int64_t>(dim)}, value);
}

/// Replaces the elements of computed tensors on which `answer` depends.
static LogicalResult computeElements(Value answer) {
  bool failed = false;
  eachElement(answer, [&](tensor::ExtractOp element) -> Value {
    if (failed || !isComputed(element))
      return {};
    OpBuilder b(element);
    FailureOr<Value> found = elementOf(b, element.getLoc(), element.getTensor(),
                                       element.getIndices());
    failed = mlir::failed(found);
    if (failed)
      return {};
    element.replaceAllUsesWith(*found);
    return *found;
  });
  return failure(failed);
}

/// Makes @NAME.slices of a copy of `function`, if there is something to check.
static LogicalResult addCheck(func::FuncOp function) {
  func::FuncOp copy = cloneBehind(function);
  SliceChecker checker(copy);
  SmallVector<std::pair<Operation *, Value>> slices;
  copy.walk([&](Operation *op) { checker.checkAccess(op); });
  copy.walk([&](Operation *op) {
    if (auto part = dyn_cast<tensor::ExtractSliceOp>(op))
      slices.push_back({op, part.getSource()});
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      slices.push_back({op, insert.getDest()});
    else if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
      slices.push_back({op, insert.getDest()});
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      slices.push_back({op, insert.getDest()});
    else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      slices.push_back({op, extract.getTensor()});
  });
  for (Operation &op : llvm::make_early_inc_range(copy.front()))
    checker.checkSizes(&op);
  for (auto [op, whole] : slices)
    if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
      checker.check(slice, whole);
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      checker.checkTurns(op, whole, insert.getIndices());
    else
      checker.checkTurns(op, whole, cast<tensor::ExtractOp>(op).getIndices());
  if (checker.all.empty()) {
    copy.erase();
    return success();
  }
  auto [answer, texts] = checker.firstBroken();
  answerInstead(copy, Part::Slices, answer);
  copy->setAttr(brokenAttr, texts);
  return computeElements(copy.front().getTerminator()->getOperand(0));
}

namespace {
struct CheckSlices : attn::impl::CheckSlicesBase<CheckSlices> {
  void runOnOperation() override {
    for (func::FuncOp function : entryFunctions(getOperation()))
      if (failed(addCheck(function)))
        return signalPassFailure();
  }
};
} // namespace
