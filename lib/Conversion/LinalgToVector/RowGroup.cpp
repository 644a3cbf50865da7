// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowGroup.h"
#include "attn/Interface/KernelSignature.h"

using namespace mlir;
using namespace attn::cpu;

/// Longer groups take quadratic time.
static constexpr size_t mostNests = 64;
/// Maps have as many dimensions, unless they need more.
static constexpr unsigned mostLoops = 32;

bool attn::cpu::hasLanes(const LoopNest &nest, unsigned outer) {
  return nest.kind != NestKind::Scalar &&
         (nest.kind == NestKind::RowReduction || nest.parallel.size() > outer);
}

AffineMap attn::cpu::inGroup(const LoopNest &nest, const Access &access,
                             unsigned outer) {
  MLIRContext *context = access.map.getContext();
  SmallVector<AffineExpr> dims(access.map.getNumDims());
  unsigned next = outer + 1;
  for (auto [i, dim] : llvm::enumerate(nest.parallel))
    dims[dim] = getAffineDimExpr(i < outer ? i : next++, context);
  for (unsigned dim : nest.reduced)
    dims[dim] = getAffineDimExpr(next++, context);
  if (hasLanes(nest, outer))
    dims[nest.lane] = getAffineDimExpr(outer, context);
  // As many for every nest, so that equal maps are the same.
  return access.map.replaceDimsAndSymbols(dims, {}, std::max(next, mostLoops),
                                          0);
}

/// Of each dimension of the buffer the row's index that it is; -1 if it has
/// nothing to do with rows. None if it mixes the two.
static std::optional<SmallVector<int>>
rowsOf(const LoopNest &nest, const Access &access, unsigned outer) {
  SmallVector<int> rows;
  AffineMap map = inGroup(nest, access, outer);
  for (AffineExpr result : map.getResults()) {
    int row = -1;
    for (unsigned i = 0; i < outer; ++i)
      if (result.isFunctionOfDim(i)) {
        if (!isa<AffineDimExpr>(result))
          return std::nullopt;
        row = i;
      }
    rows.push_back(row);
  }
  return rows;
}

/// Two views of one buffer without a common element: parts that lie behind each
/// other, or every other element.
static bool areApart(Value a, Value b) {
  auto x = a.getDefiningOp<memref::SubViewOp>(),
       y = b.getDefiningOp<memref::SubViewOp>();
  if (!x || !y || x.getSource() != y.getSource())
    return false;
  for (int64_t i = 0; i < x.getSourceType().getRank(); ++i) {
    int64_t offsets[] = {x.getStaticOffsets()[i], y.getStaticOffsets()[i]},
            sizes[] = {x.getStaticSizes()[i], y.getStaticSizes()[i]},
            strides[] = {x.getStaticStrides()[i], y.getStaticStrides()[i]};
    if (llvm::any_of(llvm::concat<int64_t>(offsets, sizes, strides),
                     ShapedType::isDynamic) ||
        strides[0] < 1 || strides[1] < 1)
      continue;
    int64_t ends[] = {offsets[0] + (sizes[0] - 1) * strides[0],
                      offsets[1] + (sizes[1] - 1) * strides[1]};
    if (ends[0] < offsets[1] || ends[1] < offsets[0] ||
        (strides[0] == strides[1] && (offsets[0] - offsets[1]) % strides[0]))
      return true;
  }
  return false;
}

static bool mayOverlap(Value a, Value b) {
  if (areApart(a, b))
    return false;
  Value rootA = rootOf(a), rootB = rootOf(b);
  return !rootA || !rootB || attn::mayBeOneMemory(rootA, rootB);
}

/// Whether rows of one would meet other rows of the other.
bool RowGroup::conflicts(const LoopNest &earlier, const LoopNest &later,
                         unsigned outer) const {
  for (const Access &a : earlier.accesses)
    for (const Access &b : later.accesses) {
      if (!a.buffer || !b.buffer || (!a.isWritten && !b.isWritten) ||
          !mayOverlap(a.buffer, b.buffer))
        continue;
      auto rows = rowsOf(earlier, a, outer);
      if (a.buffer != b.buffer || !rows || rows != rowsOf(later, b, outer))
        return true;
      for (unsigned i = 0; i < outer; ++i)
        if (!llvm::is_contained(*rows, int(i)))
          return true;
    }
  auto writes = [](const LoopNest &nest, ArrayRef<Value> buffers) {
    return llvm::any_of(nest.accesses, [&](const Access &access) {
      return access.isWritten && llvm::any_of(buffers, [&](Value buffer) {
               return mayOverlap(buffer, access.buffer);
             });
    });
  };
  return writes(earlier, later.captures()) || writes(later, earlier.captures());
}

static bool haveCommon(ArrayRef<SizeKey> a, ArrayRef<SizeKey> b) {
  return llvm::any_of(a,
                      [&](SizeKey key) { return llvm::is_contained(b, key); });
}

bool RowGroup::join(LoopNest &nest) {
  unsigned low = std::max(fewest, nest.fewestOuter()),
           high = std::min(most, nest.mostOuter());
  if (nests.empty()) {
    low = nest.fewestOuter();
    high = nest.mostOuter();
  } else {
    if (nests.size() == mostNests || low > high)
      return false;
    for (unsigned i = 0; i < high; ++i)
      if (llvm::none_of(nests, [&](const LoopNest *other) {
            return haveCommon(sizeKeys(*other, other->parallel[i]),
                              sizeKeys(nest, nest.parallel[i]));
          }))
        high = i;
    if (low > high)
      return false;
    for (const LoopNest *other : nests)
      for (unsigned outer = low; outer <= high; ++outer)
        if (conflicts(*other, nest, outer))
          return false;
  }
  fewest = low;
  most = high;
  nests.push_back(&nest);
  return true;
}

bool RowGroup::mayCutLanes() const {
  for (auto [i, nest] : llvm::enumerate(nests)) {
    // Lanes are then one more loop of rows.
    if (nest->parallel.size() != outer() + 1 ||
        nest->lane != nest->parallel.back())
      return false;
    for (const LoopNest *earlier : ArrayRef(nests).take_front(i))
      if (conflicts(*earlier, *nest, outer() + 1))
        return false;
    if (i > 0 && !haveCommon(sizeKeys(*nests.front(), nests.front()->lane),
                             sizeKeys(*nest, nest->lane)))
      return false;
  }
  return true;
}

/// What threads can add up together: a shuffle moves 32 bits.
static bool isSpread(const LoopNest &nest, unsigned outer) {
  if (nest.kind == NestKind::Elementwise)
    return nest.parallel.size() == outer ||
           (nest.parallel.size() == outer + 1 &&
            nest.lane == nest.parallel.back());
  return nest.kind == NestKind::RowReduction && nest.reduced.size() == 1 &&
         nest.parallel.size() == outer &&
         (isa<Float16Type, BFloat16Type>(nest.reduction->type) ||
          nest.reduction->type.isF32() || nest.reduction->type.isInteger(32));
}

bool RowGroup::maySpreadLanes() const {
  bool adds = false;
  for (auto [i, nest] : llvm::enumerate(nests)) {
    if (!isSpread(*nest, outer()))
      return false;
    adds |= nest->kind == NestKind::RowReduction;
    for (const LoopNest *other : ArrayRef(nests).take_front(i + 1))
      for (const Access &a : other->accesses)
        for (const Access &b : nest->accesses)
          if (a.buffer && a.buffer == b.buffer &&
              (a.isWritten || b.isWritten) &&
              inGroup(*other, a, outer()) != inGroup(*nest, b, outer()))
            return false;
  }
  return adds;
}

/// Whether the same turn of a loop along lanes may do what `nest` does after
/// what the nests of `step` do.
bool RowGroup::mayShareLoop(const Step &step, const LoopNest &nest) const {
  auto isShared = [&](const LoopNest &candidate) {
    return candidate.kind == NestKind::Elementwise ||
           (candidate.kind == NestKind::RowReduction &&
            candidate.reduced.size() == 1);
  };
  const LoopNest &first = *step.nests.front();
  if (!isShared(first) || !isShared(nest) ||
      !haveCommon(sizeKeys(first, first.lane), sizeKeys(nest, nest.lane)))
    return false;
  for (const LoopNest *other : step.nests)
    for (const Access &a : other->accesses)
      for (const Access &b : nest.accesses) {
        if (!a.buffer || a.buffer != b.buffer || (!a.isWritten && !b.isWritten))
          continue;
        AffineMap map = inGroup(*other, a, outer());
        if (map != inGroup(nest, b, outer()) || !map.isFunctionOfDim(outer()))
          return false;
      }
  return true;
}

/// Whether `nest` must come after the nests of `step`.
static bool depends(const Step &step, const LoopNest &nest) {
  for (const LoopNest *other : step.nests)
    for (const Access &a : other->accesses)
      for (const Access &b : nest.accesses)
        if (a.buffer && a.buffer == b.buffer && (a.isWritten || b.isWritten))
          return true;
  return false;
}

void RowGroup::plan() {
  for (LoopNest *nest : nests) {
    bool lanes = hasLanes(*nest, outer());
    Step *last = steps.empty() ? nullptr : &steps.back();
    if (last && last->hasLanes && lanes && mayShareLoop(*last, *nest)) {
      last->nests.push_back(nest);
      continue;
    }
    Step step;
    step.nests.push_back(nest);
    step.hasLanes = lanes;
    // A number per row that does not wait for the loop in front of it.
    bool early = !lanes && nest->kind != NestKind::Scalar && last &&
                 last->hasLanes && !depends(*last, *nest);
    steps.insert(early ? steps.end() - 1 : steps.end(), step);
  }
  findLocals();
}

/// What only elementwise ops and sums of rows of the group touch, each after
/// it was written.
void RowGroup::findLocals() {
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (LoopNest *nest : nests)
    inside.insert(nest->op);
  struct Uses {
    llvm::SmallPtrSet<const Step *, 4> steps;
    AffineMap map;
    bool fits = true, written = false, usesLanes = false, isOne = true;
  };
  llvm::MapVector<Value, Uses> all;
  for (const Step &step : steps)
    for (const LoopNest *nest : step.nests)
      for (const Access &access : nest->accesses) {
        auto alloc = access.buffer
                         ? access.buffer.getDefiningOp<memref::AllocOp>()
                         : memref::AllocOp();
        if (!alloc)
          continue;
        Uses &uses = all[access.buffer];
        AffineMap map = inGroup(*nest, access, outer());
        auto rows = rowsOf(*nest, access, outer());
        uses.fits &= nest->kind != NestKind::Scalar &&
                     nest->kind != NestKind::ColumnReduction && rows &&
                     (uses.written || (access.isWritten && !access.isRead));
        for (unsigned i = 0; rows && i < outer(); ++i)
          uses.fits &= llvm::is_contained(*rows, int(i));
        for (AffineExpr result : map.getResults())
          uses.fits &= isa<AffineDimExpr, AffineConstantExpr>(result);
        // Written in a loop along lanes of which its view has no dimension.
        uses.fits &= !access.isWritten || map.isFunctionOfDim(outer()) ||
                     nest->kind != NestKind::Elementwise ||
                     !hasLanes(*nest, outer());
        uses.usesLanes |= map.isFunctionOfDim(outer());
        uses.written |= access.isWritten;
        uses.isOne &= !uses.map || uses.map == map;
        uses.map = map;
        uses.steps.insert(&step);
      }
  for (auto &[buffer, uses] : all) {
    // Views with other dimensions of size 1 were looked through.
    SmallVector<Operation *> users(buffer.getUsers());
    bool onlyHere = true;
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(user))
        users.append(user->user_begin(), user->user_end());
      else
        onlyHere &= inside.contains(user) || isa<memref::DimOp>(user);
    }
    if (uses.fits && onlyHere)
      locals[buffer] = !uses.isOne || (uses.usesLanes && uses.steps.size() > 1);
  }
}
