// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which dimensions of a function's tensors have the same size.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SIZECLASSES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SIZECLASSES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

using Dim = std::pair<mlir::Value, int64_t>;

/// Dimensions that have the same size.
class SizeClasses {
public:
  /// The class of a dimension.
  unsigned find(Dim dim) {
    auto [entry, isNew] = ids.try_emplace(dim, parents.size());
    if (isNew) {
      parents.push_back(parents.size());
      int64_t size = llvm::cast<mlir::RankedTensorType>(dim.first.getType())
                         .getDimSize(dim.second);
      sizes.push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
    }
    return root(entry->second);
  }
  /// The size of the class, or -1.
  int64_t sizeOf(Dim dim) { return sizes[find(dim)]; }

  /// States at `op` that two dimensions have the same size.
  void unify(mlir::Operation *op, Dim a, Dim b) {
    unsigned x = find(a), y = find(b);
    if (x == y)
      return;
    if (sizes[x] >= 0 && sizes[y] >= 0 && sizes[x] != sizes[y]) {
      if (!failed)
        op->emitOpError() << "expects two dimensions of the same size, but got "
                          << sizes[x] << " and " << sizes[y];
      failed = true;
      return;
    }
    parents[y] = x;
    sizes[x] = std::max(sizes[x], sizes[y]);
  }
  /// States at `op` that a dimension has a known size.
  void fix(mlir::Operation *op, Dim dim, int64_t size) {
    int64_t &known = sizes[find(dim)];
    if (known >= 0 && known != size) {
      if (!failed)
        op->emitOpError() << "expects a dimension of size " << size
                          << ", but got " << known;
      failed = true;
    }
    known = size;
  }
  bool failed = false;

private:
  unsigned root(unsigned id) {
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }
  llvm::DenseMap<Dim, unsigned> ids;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<int64_t> sizes;
};

} // namespace attn

#endif
