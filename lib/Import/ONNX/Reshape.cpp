// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reshape as one tensor.expand_shape and one tensor.collapse_shape.
//
// Both shapes are groupings of one finer shape: [s, b, 64] and [s, b*4, 16] of
// [s, b, 4, 16]. Expanding to that and collapsing from it moves no element.
#include "TensorBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// Sizes of the finer shape, and how many of them each dimension has.
struct Refinement {
  Shape sizes;
  SmallVector<ReassociationIndices> old, next;

  void add(const Size &size, size_t oldDim, size_t nextDim) {
    int64_t place = sizes.size();
    sizes.push_back(size);
    old[oldDim].push_back(place);
    next[nextDim].push_back(place);
  }
};
} // namespace

/// A size of 1 more, in the group of a dimension that one shape has and the
/// other lacks.
static void addOne(SmallVector<ReassociationIndices> &groups, Refinement &all,
                   size_t dim) {
  groups[dim].push_back(all.sizes.size());
  all.sizes.push_back(1);
}

/// Puts places that only one shape knows into the other's neighbouring group,
/// so that both cover all of them.
static void complete(SmallVector<ReassociationIndices> &groups,
                     const Refinement &all) {
  std::vector<bool> seen(all.sizes.size());
  for (const ReassociationIndices &group : groups)
    for (int64_t place : group)
      seen[place] = true;
  for (size_t place = 0; place < seen.size(); ++place) {
    if (seen[place])
      continue;
    auto later = llvm::find_if(groups, [&](const ReassociationIndices &group) {
      return !group.empty() && group.back() > static_cast<int64_t>(place);
    });
    auto &group = later == groups.end() ? groups.back() : *later;
    group.insert(llvm::lower_bound(group, static_cast<int64_t>(place)),
                 static_cast<int64_t>(place));
  }
}

/// None where some group of sizes has no common finer shape.
static std::optional<Refinement> refine(ArrayRef<Size> old,
                                        ArrayRef<Size> next) {
  Refinement all;
  all.old.resize(old.size());
  all.next.resize(next.size());
  size_t i = 0, j = 0;
  Size left = old.empty() ? Size(1) : old[0];
  Size right = next.empty() ? Size(1) : next[0];
  auto nextOld = [&] { left = ++i < old.size() ? old[i] : Size(1); };
  auto nextNew = [&] { right = ++j < next.size() ? next[j] : Size(1); };
  while (i < old.size() || j < next.size()) {
    if (i < old.size() && j < next.size() && left == right) {
      all.add(left, i, j);
      nextOld(), nextNew();
    } else if (i < old.size() && left.is(1)) {
      if (all.old[i].empty())
        addOne(all.old, all, i);
      nextOld();
    } else if (j < next.size() && right.is(1)) {
      if (all.next[j].empty())
        addOne(all.next, all, j);
      nextNew();
    } else if (i == old.size() || j == next.size()) {
      return std::nullopt;
    } else if (auto rest = right.dividedBy(left)) {
      all.add(left, i, j);
      right = *rest;
      nextOld();
    } else if (auto rest = left.dividedBy(right)) {
      all.add(right, i, j);
      left = *rest;
      nextNew();
    } else {
      return std::nullopt;
    }
  }
  return all;
}

/// Sizes of 0 divide nothing, so a group that has one is taken whole.
static bool hasZero(ArrayRef<Size> shape) {
  return llvm::any_of(shape, [](const Size &size) { return size.is(0); });
}

static Value expand(TensorBuilder &t, Value from, ArrayRef<Size> shape,
                    ArrayRef<ReassociationIndices> groups) {
  auto type = t.type(shape, getElementTypeOrSelf(from));
  return tensor::ExpandShapeOp::create(t.b, t.loc, type, from, groups,
                                       t.folded(shape));
}

static Value collapse(TensorBuilder &t, Value from, ArrayRef<Size> shape,
                      ArrayRef<ReassociationIndices> groups) {
  auto type = t.type(shape, getElementTypeOrSelf(from));
  return tensor::CollapseShapeOp::create(t.b, t.loc, type, from, groups);
}

/// All elements in one row in between: for shapes like [6, 4] and [8, 3].
static Value throughRow(TensorBuilder &t, Value from, ArrayRef<Size> old,
                        ArrayRef<Size> next) {
  auto all = [](size_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0) {
      auto dims = llvm::seq<int64_t>(0, rank);
      groups.emplace_back(dims.begin(), dims.end());
    }
    return groups;
  };
  Size count = product(old);
  if (count != product(next))
    return {};
  Value row = old.size() == 1
                  ? from
                  : collapse(t, from, ArrayRef<Size>(count), all(old.size()));
  return next.size() == 1 ? row : expand(t, row, next, all(next.size()));
}

/// By one expansion and one collapse. Null: the shapes have no common finer
/// one.
static Value byRefinement(TensorBuilder &t, Value from, ArrayRef<Size> old,
                          ArrayRef<Size> next) {
  if (old.equals(next))
    return from;
  if (hasZero(old) || hasZero(next))
    return {};
  std::optional<Refinement> all = refine(old, next);
  if (!all)
    return {};
  if (!old.empty())
    complete(all->old, *all);
  if (!next.empty())
    complete(all->next, *all);
  Value fine = from;
  if (all->sizes.size() > old.size())
    fine = expand(t, from, all->sizes, all->old);
  if (all->sizes.size() > next.size())
    fine = collapse(t, fine, next, all->next);
  return fine;
}

Value TensorBuilder::reshape(Value from, ArrayRef<Size> old,
                             ArrayRef<Size> next) {
  Value result;
  if (auto known = rows.find(from); known != rows.end())
    result =
        byRefinement(*this, known->second.value, known->second.shape, next);
  if (!result)
    result = byRefinement(*this, from, old, next);
  if (!result && !old.empty() && !next.empty())
    result = throughRow(*this, from, old, next);
  if (result && next.size() == 1 && old.size() > 1)
    rows[result] = {from, Shape(old)};
  return result;
}
