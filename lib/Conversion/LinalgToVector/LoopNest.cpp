// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoopNest.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace attn::cpu;

bool Access::isContiguous(unsigned dim) const {
  if (!buffer || map.getNumResults() == 0 ||
      map.getResults().back() != getAffineDimExpr(dim, buffer.getContext()))
    return false;
  for (AffineExpr result : map.getResults().drop_back())
    if (result.isFunctionOfDim(dim))
      return false;
  // A row of one element may have any stride, which no vector op takes.
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return strides.back() == 1;
}

/// Of a view that has some dimensions of size 1 more or less, the buffer it is
/// of: a mean that kept its dimension is the mean.
static void lookThroughReshapes(Access &access) {
  auto isUnit = [](MemRefType type, int64_t dim) {
    return type.getDimSize(dim) == 1;
  };
  AffineExpr zero = getAffineConstantExpr(0, access.map.getContext());
  while (Operation *op = access.buffer.getDefiningOp()) {
    SmallVector<AffineExpr> results;
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      for (const ReassociationIndices &group :
           expand.getReassociationIndices()) {
        AffineExpr only = zero;
        unsigned count = 0;
        for (int64_t dim : group)
          if (!isUnit(expand.getResultType(), dim)) {
            only = access.map.getResult(dim);
            ++count;
          }
        if (count > 1)
          return;
        results.push_back(only);
      }
      access.buffer = expand.getSrc();
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
      for (auto [i, group] :
           llvm::enumerate(collapse.getReassociationIndices())) {
        unsigned count = 0;
        for (int64_t dim : group) {
          bool unit = isUnit(collapse.getSrcType(), dim);
          results.push_back(unit ? zero : access.map.getResult(i));
          count += !unit;
        }
        if (count > 1)
          return;
      }
      if (collapse.getReassociationIndices().empty())
        results.assign(collapse.getSrcType().getRank(), zero);
      access.buffer = collapse.getSrc();
    } else {
      return;
    }
    access.map = AffineMap::get(access.map.getNumDims(), 0, results,
                                access.map.getContext());
  }
}

LoopNest::LoopNest(linalg::GenericOp op) : op(op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Access access;
    access.isWritten = op.isDpsInit(&operand);
    access.isRead = op.payloadUsesValueFromOperand(&operand);
    access.map = op.getMatchingIndexingMap(&operand);
    if (isa<MemRefType>(operand.get().getType())) {
      access.buffer = operand.get();
      lookThroughReshapes(access);
    }
    accesses.push_back(access);
  }
  orderLoops();
  chooseKind();
}

/// Loops that the results have are parallel, in the results' order. Where the
/// results do not say, all loops run one after the other.
void LoopNest::orderLoops() {
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto addTo = [&](utils::IteratorType type, SmallVector<unsigned> &loops) {
    for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (iterator == type && !llvm::is_contained(loops, i))
        loops.push_back(i);
  };
  bool isKnown = true;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [i, type] : llvm::enumerate(op.getIteratorTypesArray()))
      isKnown &=
          map.isFunctionOfDim(i) == (type == utils::IteratorType::parallel);
    for (AffineExpr result : map.getResults())
      isKnown &= isa<AffineDimExpr, AffineConstantExpr>(result);
  }
  if (isKnown)
    for (AffineExpr result : first.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        if (!llvm::is_contained(parallel, dim.getPosition()))
          parallel.push_back(dim.getPosition());
  addTo(utils::IteratorType::parallel, isKnown ? parallel : reduced);
  addTo(utils::IteratorType::reduction, reduced);
}

/// Whether every op of the body has a form on vectors.
bool LoopNest::hasVectorBody() const {
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp, memref::LoadOp>(inner))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        inner.getNumRegions() || inner.getNumResults() != 1)
      return false;
  }
  return llvm::all_of(op.getBody()->getArgumentTypes(),
                      VectorType::isValidElementType);
}

/// The op of `nest` that takes the running value in, if it can be split into
/// several and put together again.
static std::optional<Reduction> matchReduction(const LoopNest &nest) {
  linalg::GenericOp op = nest.op;
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  BlockArgument running = nest.argument(op.getNumDpsInputs());
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  if (!running.hasOneUse())
    return std::nullopt;
  Operation *post = yielded.getDefiningOp<arith::TruncFOp>();
  Value combined = post ? post->getOperand(0) : yielded;
  Operation *combiner = combined.getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBody() ||
      combiner->getNumOperands() != 2 || !combined.hasOneUse() ||
      !arith::getNeutralElement(combiner))
    return std::nullopt;
  Value wide = running;
  if (post) {
    auto extended = dyn_cast<arith::ExtFOp>(*running.user_begin());
    if (!extended || !extended->hasOneUse())
      return std::nullopt;
    wide = extended.getResult();
  }
  Value left = combiner->getOperand(0), right = combiner->getOperand(1);
  if ((left == wide) == (right == wide))
    return std::nullopt;
  return Reduction{combiner, left == wide ? right : left, post,
                   combined.getType()};
}

/// How well lanes along the loop `dim` suit the accesses.
int LoopNest::contiguity(unsigned dim) const {
  int score = 0;
  for (const Access &access : accesses)
    if (access.uses(dim))
      score += access.isContiguous(dim) ? 1 : -8;
  return score;
}

void LoopNest::chooseKind() {
  kind = NestKind::Scalar;
  bool vector = hasVectorBody();
  if (!vector ||
      (parallel.empty() && llvm::is_contained(op.getIteratorTypesArray(),
                                              utils::IteratorType::parallel)))
    return;
  if (reduced.empty()) {
    kind = NestKind::Elementwise;
    lane = parallel.empty() ? 0 : parallel.back();
    return;
  }
  std::optional<Reduction> matched = matchReduction(*this);
  unsigned best = reduced.back();
  for (unsigned dim : reduced)
    if (contiguity(dim) > contiguity(best))
      best = dim;
  int columns = parallel.empty() ? std::numeric_limits<int>::min()
                                 : contiguity(parallel.back());
  if (matched && contiguity(best) > columns) {
    kind = NestKind::RowReduction;
    lane = best;
    reduction = matched;
    // Lanes are the innermost loop.
    llvm::erase(reduced, best);
    reduced.push_back(best);
  } else if (!parallel.empty()) {
    kind = NestKind::ColumnReduction;
    lane = parallel.back();
    reduction = matched;
  }
}

unsigned LoopNest::fewestOuter() const {
  bool lanesInside = !parallel.empty() && (kind == NestKind::Elementwise ||
                                           kind == NestKind::ColumnReduction);
  return parallel.size() - lanesInside;
}

unsigned LoopNest::mostOuter() const {
  return kind == NestKind::ColumnReduction ? fewestOuter() : parallel.size();
}

SmallVector<Value> LoopNest::captures() const {
  SmallVector<Value> found;
  op.getBody()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<BaseMemRefType>(operand.getType()))
        found.push_back(operand);
  });
  return found;
}

/// Follows a size to what it is computed from.
static SizeKey resolve(Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return {nullptr, type.getDimSize(dim)};
  Operation *op = buffer.getDefiningOp();
  Value size;
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op)) {
    size = alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  } else if (auto cast = dyn_cast_or_null<memref::CastOp>(op)) {
    if (isa<MemRefType>(cast.getSource().getType()))
      return resolve(cast.getSource(), dim);
  } else if (auto view = dyn_cast_or_null<memref::SubViewOp>(op)) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [i, value] : llvm::enumerate(view.getMixedSizes()))
      if (!dropped.test(i) && dim-- == 0)
        size = dyn_cast<Value>(value);
  }
  if (!size)
    return {buffer.getAsOpaquePointer(), dim};
  if (auto of = size.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> index = of.getConstantIndex();
        index && isa<MemRefType>(of.getSource().getType()))
      return resolve(of.getSource(), *index);
  return {size.getAsOpaquePointer(), -1};
}

SmallVector<SizeKey> attn::cpu::sizeKeys(const LoopNest &nest, unsigned loop) {
  SmallVector<SizeKey> keys;
  AffineExpr dim = getAffineDimExpr(loop, nest.op.getContext());
  for (const Access &access : nest.accesses)
    if (access.buffer)
      for (auto [i, result] : llvm::enumerate(access.map.getResults()))
        if (result == dim)
          keys.push_back(resolve(access.buffer, i));
  return keys;
}

Value attn::cpu::rootOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op))
      return buffer;
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return {};
    buffer = view.getViewSource();
  }
  Operation *owner = cast<BlockArgument>(buffer).getOwner()->getParentOp();
  return isa<FunctionOpInterface>(owner) ? buffer : Value();
}

Value attn::cpu::loopSize(OpBuilder &b, const LoopNest &nest, unsigned loop) {
  AffineExpr dim = getAffineDimExpr(loop, nest.op.getContext());
  Location loc = nest.op.getLoc();
  Value found;
  for (const Access &access : nest.accesses)
    if (access.buffer)
      for (auto [i, result] : llvm::enumerate(access.map.getResults()))
        if (result == dim) {
          auto type = cast<MemRefType>(access.buffer.getType());
          if (!type.isDynamicDim(i))
            return arith::ConstantIndexOp::create(b, loc, type.getDimSize(i));
          if (!found)
            found = b.createOrFold<memref::DimOp>(loc, access.buffer, i);
        }
  // Views without dimensions of size 1 have none for it.
  return found ? found : arith::ConstantIndexOp::create(b, loc, 1).getResult();
}
