// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of keys or values in the type that the register tiles read: a narrower
// type is converted once per tile of keys, for all panels of the query tile.
#include "Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// A view of the state's rows from `begin` as (count x dim).
static Value stagedView(KernelBuilder &k, const StateLayout &layout,
                        Value state, int64_t begin, Value count, int64_t dim) {
  OpBuilder &b = k.builder;
  int64_t offset = begin * layout.panel;
  auto type =
      MemRefType::get({ShapedType::kDynamic, dim}, k.element,
                      StridedLayoutAttr::get(b.getContext(), offset, {dim, 1}));
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(dim)},
      strides{b.getIndexAttr(dim), b.getIndexAttr(1)};
  return memref::ReinterpretCastOp::create(
      b, k.loc, type, state, b.getIndexAttr(offset), sizes, strides);
}

static void copyRows(KernelBuilder &k, Value from, Value to, Value count,
                     int64_t dim) {
  k.loop(k.index(0), count, 1, [&](Value row) {
    if (dim < k.lanes) {
      Value mask = vector::CreateMaskOp::create(
          k.builder, k.loc, k.boolVectorType, ValueRange{k.index(dim)});
      Value zero = k.index(0);
      return k.storeRow(k.loadRow(from, row, zero, mask), to, row, zero, mask);
    }
    for (int64_t c = 0; c < dim; c += k.lanes) {
      Value column = k.index(std::min(c, dim - k.lanes));
      k.store(k.load(from, row, column), to, row, column);
    }
  });
}

Value cpu::stageRows(KernelBuilder &k, const StateLayout &layout, Value state,
                     Value tile, int64_t begin) {
  OpBuilder &b = k.builder;
  auto type = cast<MemRefType>(tile.getType());
  if (type.getElementType() == k.element)
    return tile;
  int64_t dim = type.getDimSize(1);
  Value count = memref::DimOp::create(b, k.loc, tile, 0);
  Value staged = stagedView(k, layout, state, begin, count, dim);
  copyRows(k, tile, staged, count, dim);
  return staged;
}
