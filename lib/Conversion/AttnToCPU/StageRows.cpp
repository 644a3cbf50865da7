// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of keys or values in the type that the register tiles read: a narrower
// type is converted, or the values of two keys are put side by side, once per
// tile of keys, for all panels of the query tile.
#include "Kernels.h"
#include "Pairs.h"

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

Value cpu::stagePairs(KernelBuilder &k, const StateLayout &layout, Value state,
                      Value tile, int64_t begin) {
  OpBuilder &b = k.builder;
  int64_t dim = cast<MemRefType>(tile.getType()).getDimSize(1);
  Value count = memref::DimOp::create(b, k.loc, tile, 0);
  Value whole = k.div(count, 2), pairs = pairCount(k, count);
  Value staged = stagedView(k, layout, state, begin, pairs, dim);
  KernelBuilder wide = k.withLanes(2 * k.lanes);
  auto write = [&](Value pair, bool complete) {
    Value row = k.mul(pair, 2);
    wide.columnGroups(k.index(dim), [&](Value column, Value mask) {
      Value even = loadBF16(wide, tile, row, column, mask);
      Value odd = complete ? loadBF16(wide, tile, k.add(row, 1), column, mask)
                           : arith::ConstantOp::create(
                                 b, k.loc, b.getZeroAttr(even.getType()));
      Value both = vector::InterleaveOp::create(b, k.loc, even, odd);
      both = vector::BitCastOp::create(b, k.loc, wide.vectorType, both);
      wide.storeRow(both, staged, pair, column, mask);
    });
  };
  k.loop(k.index(0), whole, 1, [&](Value pair) { write(pair, true); });
  k.when(k.less(whole, pairs), [&] { write(whole, false); });
  return staged;
}
