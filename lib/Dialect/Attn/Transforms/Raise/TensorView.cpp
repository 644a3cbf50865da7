// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

LoopIndex attn::wholeLoop(unsigned loop, int64_t size) {
  return size == 1 ? LoopIndex() : LoopIndex{{loop, 1, size}};
}

int64_t TensorView::dimOf(unsigned loop) const {
  for (auto [i, index] : llvm::enumerate(dims))
    if (index.size() == 1 && index.front().loop == loop)
      return i;
  return -1;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Takes digits of `size` together from the end of `digits`. None: `size` falls
/// inside of a digit and does not divide it, or there are no elements. It does
/// divide one of unknown size that has none in front, being the dimension.
static std::optional<LoopIndex> takeDigits(LoopIndex &digits, int64_t size) {
  LoopIndex taken;
  while (size != 1) {
    if (digits.empty())
      return std::nullopt;
    Digit &last = digits.back();
    if (ShapedType::isDynamic(last.size)) {
      if (digits.size() != 1 || size == 0)
        return std::nullopt;
      taken.insert(taken.begin(), {last.loop, last.div, size});
      last.div *= size;
      return taken;
    }
    if (size == 0 || last.size == 0)
      return std::nullopt;
    if (size % last.size == 0) {
      taken.insert(taken.begin(), last);
      size /= last.size;
      digits.pop_back();
      continue;
    }
    if (last.size % size)
      return std::nullopt;
    taken.insert(taken.begin(), {last.loop, last.div, size});
    last.div *= size;
    last.size /= size;
    size = 1;
  }
  return taken;
}

/// The number of digits from the first on that are as many as `sizes`, all of
/// them known. None: there is no such number.
static std::optional<size_t> digitsFor(const LoopIndex &digits,
                                       ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, ShapedType::kDynamic))
    return std::nullopt;
  int64_t left = llvm::product_of(sizes);
  size_t count = 0;
  while (left > 1 && count < digits.size()) {
    int64_t size = digits[count++].size;
    if (ShapedType::isDynamic(size) || size == 0 || left % size)
      return std::nullopt;
    left /= size;
  }
  return left == 1 ? std::optional(count) : std::nullopt;
}

/// The indices of dimensions of `sizes` that `digits` are together. A dimension
/// of unknown size is what those in front leave of the digits.
static std::optional<SmallVector<LoopIndex>> split(LoopIndex digits,
                                                   ArrayRef<int64_t> sizes) {
  SmallVector<LoopIndex> result(sizes.size());
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    if (ShapedType::isDynamic(sizes[i])) {
      std::optional<size_t> front = digitsFor(digits, sizes.take_front(i));
      if (!front)
        return std::nullopt;
      result[i].assign(digits.begin() + *front, digits.end());
      digits.truncate(*front);
      continue;
    }
    std::optional<LoopIndex> taken = takeDigits(digits, sizes[i]);
    if (!taken)
      return std::nullopt;
    result[i] = *taken;
  }
  if (!digits.empty())
    return std::nullopt;
  return result;
}

static void append(LoopIndex &digits, const LoopIndex &more) {
  for (const Digit &digit : more) {
    // Two parts of one loop, side by side, are one.
    if (!digits.empty() && digits.back().loop == digit.loop &&
        !ShapedType::isDynamic(digit.size) &&
        digits.back().div == digit.div * digit.size) {
      Digit &last = digits.back();
      last.div = digit.div;
      last.size =
          ShapedType::isDynamic(last.size) ? last.size : last.size * digit.size;
      continue;
    }
    digits.push_back(digit);
  }
}

/// A view of the tensor with fewer dimensions: those of each group together.
static TensorView joined(const TensorView &view, Value tensor,
                         ArrayRef<ReassociationIndices> groups) {
  TensorView result{tensor, {}};
  for (const ReassociationIndices &group : groups) {
    LoopIndex digits;
    for (int64_t dim : group)
      append(digits, view.dims[dim]);
    result.dims.push_back(digits);
  }
  return result;
}

/// A view of the tensor with more dimensions.
static std::optional<TensorView>
divided(const TensorView &view, Value tensor,
        ArrayRef<ReassociationIndices> groups) {
  TensorView result{tensor, {}};
  auto shape = result.type().getShape();
  for (auto [digits, group] : llvm::zip_equal(view.dims, groups)) {
    SmallVector<int64_t> sizes;
    for (int64_t dim : group)
      sizes.push_back(shape[dim]);
    auto parts = split(digits, sizes);
    if (!parts)
      return std::nullopt;
    llvm::append_range(result.dims, *parts);
  }
  return result;
}

std::optional<TensorView> attn::peel(const TensorView &view) {
  Operation *op = view.tensor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return TensorView{cast.getSource(), view.dims};
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return joined(view, expand.getSrc(), expand.getReassociationIndices());
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    return divided(view, collapse.getSrc(), collapse.getReassociationIndices());
  TensorView result;
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op)) {
    result.tensor = transpose.getInput();
    result.dims.resize(view.dims.size());
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
      result.dims[from] = view.dims[i];
    return result;
  }
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op)) {
    result.tensor = broadcast.getInput();
    for (auto [i, index] : llvm::enumerate(view.dims))
      if (!llvm::is_contained(broadcast.getDimensions(), (int64_t)i))
        result.dims.push_back(index);
    return result;
  }
  return std::nullopt;
}

std::optional<TensorView> attn::follow(const TensorView &view,
                                       Operation *user) {
  if (auto cast = dyn_cast<tensor::CastOp>(user))
    return TensorView{cast.getDest(), view.dims};
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user))
    return divided(view, expand.getResult(), expand.getReassociationIndices());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user))
    return joined(view, collapse.getResult(),
                  collapse.getReassociationIndices());
  auto transpose = dyn_cast<linalg::TransposeOp>(user);
  if (!transpose || transpose.getInput() != view.tensor)
    return std::nullopt;
  TensorView result{transpose->getResult(0), {}};
  for (int64_t from : transpose.getPermutation())
    result.dims.push_back(view.dims[from]);
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool beginsAtZero(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_AnyZeroFloat());
  return matchPattern(init, m_AnyZeroFloat());
}

std::optional<SumOfProducts> attn::productOf(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() ||
      !linalg::isaContractionOpInterface(op) ||
      !beginsAtZero(op.getDpsInits()[0]) ||
      !isa<FloatType>(getElementTypeOrSelf(value)))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->k.size() != 1)
    return std::nullopt;
  return SumOfProducts{op, dims->k[0],
                       SmallVector<unsigned>(ArrayRef<unsigned>(dims->m)),
                       SmallVector<unsigned>(ArrayRef<unsigned>(dims->n))};
}

TensorView attn::viewOf(OpOperand &operand, AffineMap map,
                        ArrayRef<LoopIndex> loops) {
  TensorView view{operand.get(), {}};
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    view.dims.push_back(dim ? loops[dim.getPosition()] : LoopIndex());
  }
  return view;
}

void attn::readLoops(const TensorView &view, AffineMap map,
                     MutableArrayRef<LoopIndex> loops) {
  for (auto [index, expr] : llvm::zip_equal(view.dims, map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
}

//===----------------------------------------------------------------------===//
// Putting in order
//===----------------------------------------------------------------------===//

/// Whether `digit` is all of its loop, or of heads what a group shares.
static bool isWhole(const Digit &digit, const Arrangement &wanted) {
  int64_t size = wanted.sizes[digit.loop];
  if (digit.div == 1)
    return digit.size == size || ShapedType::isDynamic(digit.size);
  return static_cast<int64_t>(digit.loop) == wanted.head &&
         !ShapedType::isDynamic(size) && digit.div * digit.size == size;
}

/// Neighbours that are parts of one loop, such as groups of heads, as one
/// dimension. Its groups are those of a tensor.collapse_shape.
static std::pair<SmallVector<LoopIndex>, SmallVector<ReassociationIndices>>
withJoinedParts(const TensorView &view) {
  SmallVector<LoopIndex> dims;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, index] : llvm::enumerate(view.dims)) {
    if (dims.empty() || dims.back().size() != 1 || index.size() != 1) {
      dims.push_back(index);
      groups.push_back({static_cast<int64_t>(i)});
      continue;
    }
    LoopIndex both = dims.back();
    append(both, index);
    if (both.size() == 1) {
      dims.back() = both;
      groups.back().push_back(i);
      continue;
    }
    dims.push_back(index);
    groups.push_back({static_cast<int64_t>(i)});
  }
  return {dims, groups};
}

bool attn::canArrange(const TensorView &view, const Arrangement &wanted) {
  auto [dims, groups] = withJoinedParts(view);
  for (auto [group, index] : llvm::zip_equal(groups, dims)) {
    int64_t size = view.type().getDimSize(group.front());
    if (index.empty() && size != 1)
      return false;
    for (const Digit &digit : index)
      if (index.size() != 1 || !isWhole(digit, wanted) ||
          !llvm::is_contained(wanted.loops, digit.loop))
        return false;
  }
  for (unsigned loop : wanted.loops) {
    auto uses = llvm::count_if(dims, [&](const LoopIndex &index) {
      return !index.empty() && index.front().loop == loop;
    });
    bool shared = static_cast<int64_t>(loop) == wanted.head;
    if (uses > 1 || (uses == 0 && wanted.sizes[loop] != 1 && !shared))
      return false;
  }
  return true;
}

/// The groups that make `size` dimensions of which `kept` are those of another
/// tensor, in order; the others have size 1. With none kept there is no group.
static SmallVector<ReassociationIndices> groupsAround(ArrayRef<bool> kept) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (auto [i, isKept] : llvm::enumerate(kept)) {
    pending.push_back(i);
    if (isKept)
      groups.push_back(std::exchange(pending, {}));
  }
  if (!groups.empty())
    groups.back().append(pending);
  return groups;
}

/// `from` with dimensions of size 1 dropped where `kept` is false.
static Value dropUnits(OpBuilder &b, Location loc, Value from,
                       ArrayRef<bool> kept) {
  if (llvm::all_of(kept, [](bool k) { return k; }))
    return from;
  return tensor::CollapseShapeOp::create(b, loc, from, groupsAround(kept));
}

/// The inverse.
static Value addUnits(OpBuilder &b, Location loc, Value from,
                      ArrayRef<bool> kept) {
  if (llvm::all_of(kept, [](bool k) { return k; }))
    return from;
  auto type = cast<RankedTensorType>(from.getType());
  SmallVector<OpFoldResult> old = tensor::getMixedSizes(b, loc, from), sizes;
  SmallVector<int64_t> shape;
  int64_t next = 0;
  for (bool isKept : kept) {
    sizes.push_back(isKept ? old[next] : b.getIndexAttr(1));
    shape.push_back(isKept ? type.getDimSize(next++) : 1);
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), from,
                                       groupsAround(kept), sizes);
}

static Value transposed(OpBuilder &b, Location loc, Value from,
                        ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return from;
  auto type = cast<RankedTensorType>(from.getType());
  SmallVector<OpFoldResult> old = tensor::getMixedSizes(b, loc, from), sizes;
  for (int64_t dim : permutation)
    sizes.push_back(old[dim]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, loc, from, empty, permutation)
      ->getResult(0);
}

Value attn::arrange(OpBuilder &b, Location loc, const TensorView &view,
                    const Arrangement &wanted) {
  auto [dims, groups] = withJoinedParts(view);
  Value whole = view.tensor;
  if (groups.size() != view.dims.size())
    whole = tensor::CollapseShapeOp::create(b, loc, whole, groups);
  SmallVector<bool> kept;
  SmallVector<unsigned> order; // loops in the order of the tensor
  for (const LoopIndex &index : dims) {
    kept.push_back(!index.empty());
    if (!index.empty())
      order.push_back(index.front().loop);
  }
  SmallVector<int64_t> permutation;
  SmallVector<bool> has;
  for (unsigned loop : wanted.loops) {
    const unsigned *found = llvm::find(order, loop);
    has.push_back(found != order.end());
    if (found != order.end())
      permutation.push_back(found - order.begin());
  }
  // What has its place already stays as it is.
  if (kept == has && llvm::is_sorted(permutation))
    return whole;
  Value dense = dropUnits(b, loc, whole, kept);
  return addUnits(b, loc, transposed(b, loc, dense, permutation), has);
}

bool attn::canRestore(const TensorView &view, const Arrangement &given) {
  SmallVector<unsigned> seen;
  auto [dims, parts] = withJoinedParts(view);
  for (const ReassociationIndices &group : parts)
    if (group.size() > 1 && llvm::any_of(group, [&](int64_t dim) {
          return view.type().isDynamicDim(dim);
        }))
      return false;
  for (const LoopIndex &index : dims)
    for (const Digit &digit : index) {
      if (digit.div != 1 || !isWhole(digit, given) ||
          !llvm::is_contained(given.loops, digit.loop))
        return false;
      seen.push_back(digit.loop);
    }
  for (unsigned loop : given.loops)
    if (llvm::count(seen, loop) != (given.sizes[loop] == 1 ? 0 : 1))
      return false;
  return true;
}

/// The dimensions of each group, which are known where there are several.
static Value apart(OpBuilder &b, Location loc, Value from,
                   RankedTensorType type,
                   ArrayRef<ReassociationIndices> groups) {
  SmallVector<OpFoldResult> old = tensor::getMixedSizes(b, loc, from), sizes;
  SmallVector<int64_t> shape;
  auto given = cast<RankedTensorType>(from.getType()).getShape();
  for (auto [group, size, known] : llvm::zip_equal(groups, old, given))
    for (int64_t dim : group) {
      bool isPart = group.size() > 1;
      shape.push_back(isPart ? type.getDimSize(dim) : known);
      sizes.push_back(isPart ? b.getIndexAttr(shape.back()) : size);
    }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), from, groups,
                                       sizes);
}

Value attn::restore(OpBuilder &b, Location loc, Value from,
                    const TensorView &view, const Arrangement &given) {
  SmallVector<unsigned> large; // loops of the dense tensor
  SmallVector<bool> kept;
  for (unsigned loop : given.loops) {
    kept.push_back(given.sizes[loop] != 1);
    if (kept.back())
      large.push_back(loop);
  }
  SmallVector<int64_t> permutation;
  SmallVector<ReassociationIndices> groups;
  SmallVector<bool> has;
  auto [dims, parts] = withJoinedParts(view);
  for (const LoopIndex &index : dims) {
    has.push_back(!index.empty());
    ReassociationIndices group;
    for (const Digit &digit : index) {
      group.push_back(permutation.size());
      permutation.push_back(llvm::find(large, digit.loop) - large.begin());
    }
    if (!group.empty())
      groups.push_back(group);
  }
  bool joins = groups.size() != permutation.size();
  Value result = from;
  if (joins || kept != has || !llvm::is_sorted(permutation)) {
    result = dropUnits(b, loc, from, kept);
    result = transposed(b, loc, result, permutation);
    if (joins)
      result = tensor::CollapseShapeOp::create(b, loc, result, groups);
    result = addUnits(b, loc, result, has);
  }
  if (parts.size() != view.dims.size())
    result = apart(b, loc, result, view.type(), parts);
  if (result.getType() != view.type())
    result = tensor::CastOp::create(b, loc, view.type(), result);
  return result;
}
