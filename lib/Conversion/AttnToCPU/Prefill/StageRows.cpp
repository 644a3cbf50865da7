// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of keys or values in the form that the register tiles read: a narrower
// type is converted, the values of two keys are put side by side, or keys are
// padded and values transposed, once per tile of keys, for all query blocks of
// the query tile.
#include "StageRows.h"
#include "Build/Pairs.h"
#include "Build/TileProducts.h"
#include "Score/Normalization.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// The state's staged rows as (count x dim).
static Value stagedView(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value count, int64_t dim) {
  OpBuilder &b = k.builder;
  // A state that is a part of another does not begin where its memory does.
  int64_t begin =
      cast<MemRefType>(state.getType()).getStridesAndOffset().second;
  int64_t offset = begin + layout.stagedBegin() * layout.queryBlock;
  auto type =
      MemRefType::get({ShapedType::kDynamic, dim}, k.element,
                      StridedLayoutAttr::get(b.getContext(), offset, {dim, 1}));
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(dim)},
      strides{b.getIndexAttr(dim), b.getIndexAttr(1)};
  return memref::ReinterpretCastOp::create(
      b, k.loc, type, state, b.getIndexAttr(offset), sizes, strides);
}

void cpu::copyRows(KernelBuilder &k, Value from, Value to, Value count,
                   int64_t dim) {
  Value mask = k.columnMask(dim);
  k.loop(k.index(0), count, 1, [&](Value row) {
    k.columnVectors(dim, /*atOnce=*/8, [&](ArrayRef<Value> columns) {
      for (Value column : columns)
        k.storeRow(k.loadRow(from, row, column, mask), to, row, column, mask);
    });
  });
}

Value cpu::stageRows(KernelBuilder &k, const StateLayout &layout, Value state,
                     Value tile) {
  OpBuilder &b = k.builder;
  auto type = cast<MemRefType>(tile.getType());
  if (type.getElementType() == k.element)
    return tile;
  int64_t dim = type.getDimSize(1);
  Value count = memref::DimOp::create(b, k.loc, tile, 0);
  Value staged = stagedView(k, layout, state, count, dim);
  copyRows(k, tile, staged, count, dim);
  return staged;
}

void cpu::stageKeys(KernelBuilder &k, const StateLayout &layout,
                    TileOperands &tile) {
  if (layout.tiles)
    tile.paddedKey = stagePaddedKeys(k, layout, tile.state, tile.key);
  else if (!layout.pairs)
    tile.key = stageRows(k, layout, tile.state, tile.key);
}

/// The rows of `tile`, of bf16, as pairs: element [r][d] holds those of rows 2
/// r and 2 r + 1. A row that the last pair lacks is 0.
static Value stagePairs(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value tile) {
  OpBuilder &b = k.builder;
  int64_t dim = cast<MemRefType>(tile.getType()).getDimSize(1);
  Value count = memref::DimOp::create(b, k.loc, tile, 0);
  Value whole = k.div(count, 2), pairs = pairCount(k, count);
  Value staged = stagedView(k, layout, state, pairs, dim);
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

Value cpu::stageValues(KernelBuilder &k, const StateLayout &layout, Value state,
                       Value value) {
  if (layout.tiles)
    return stageTransposed(k, layout, state, value);
  return (layout.pairs ? stagePairs : stageRows)(k, layout, state, value);
}

// --- for products of tiles ---

Value cpu::stagePaddedKeys(KernelBuilder &k, const StateLayout &layout,
                           Value state, Value key) {
  OpBuilder &b = k.builder;
  int64_t dim = layout.keyDim;
  Value count = memref::DimOp::create(b, k.loc, key, 0);
  Value rows = k.index(k.rows);
  Value staged = stagedView(k, layout, state, k.index(layout.paddedKeys()),
                            layout.queryRows());
  auto eachGroup = [&](Value row, function_ref<Value(int64_t)> pairs) {
    for (int64_t column = 0; column < dim; column += tileNumbers)
      k.store(pairs(column), staged, row, k.index(column / 2));
  };
  auto copy = [&] {
    k.loop(k.index(0), count, 1, [&](Value row) {
      eachGroup(row, [&](int64_t column) {
        Value mask;
        if (column + tileNumbers > dim)
          mask = vector::CreateMaskOp::create(
              b, k.loc, VectorType::get(tileNumbers, b.getI1Type()),
              ValueRange{k.index(dim - column)});
        return loadPairs(k, key, row, k.index(column), mask);
      });
    });
    k.loop(count, rows, 1, [&](Value row) {
      eachGroup(row, [&](int64_t) { return k.splat(0.0); });
    });
  };
  if (dim % tileNumbers)
    copy();
  else
    k.when(k.less(count, rows), copy);
  return staged;
}

Value cpu::stageTransposed(KernelBuilder &k, const StateLayout &layout,
                           Value state, Value value) {
  OpBuilder &b = k.builder;
  int64_t dim = layout.valueDim, whole = dim / tileSize * tileSize;
  Value count = memref::DimOp::create(b, k.loc, value, 0);
  Value groups = k.div(count, tileNumbers), last = k.sub(count, k.index(1));
  Value staged =
      stagedView(k, layout, state, k.index(llvm::alignTo(dim, tileSize)),
                 layout.keyTile / 2);
  auto transpose = [&](Value group, Value d, Value mask, bool complete) {
    auto load = [&](int64_t i) -> Value {
      Value key = k.add(k.mul(group, tileNumbers), i);
      if (complete)
        return loadBF16(k, value, key, d, mask);
      Value numbers = loadBF16(k, value, k.min(key, last), d, mask);
      Value none =
          arith::ConstantOp::create(b, k.loc, b.getZeroAttr(numbers.getType()));
      return k.select(k.less(key, count), numbers, none);
    };
    Values lines;
    for (int64_t i = 0; i < tileNumbers; i += 2) {
      Value even = load(i), odd = load(i + 1);
      Value both = vector::InterleaveOp::create(b, k.loc, even, odd);
      lines.push_back(vector::BitCastOp::create(b, k.loc, k.vectorType, both));
    }
    Value column = k.mul(group, tileSize);
    for (auto [i, line] : llvm::enumerate(k.transpose(lines)))
      k.store(line, staged, k.add(d, i), column);
  };
  auto eachColumn = [&](Value group, bool complete) {
    k.loop(k.index(0), k.index(whole), tileSize,
           [&](Value d) { transpose(group, d, Value(), complete); });
    if (whole == dim)
      return;
    Value mask = vector::CreateMaskOp::create(b, k.loc, k.boolVectorType,
                                              ValueRange{k.index(dim - whole)});
    transpose(group, k.index(whole), mask, complete);
  };
  k.loop(k.index(0), groups, 1, [&](Value group) { eachColumn(group, true); });
  k.when(k.less(k.mul(groups, tileNumbers), count),
         [&] { eachColumn(groups, false); });
  return staged;
}

Value cpu::allFiniteTransposed(KernelBuilder &k, const StateLayout &layout,
                               Value transposed, Value count) {
  Value groups = k.div(k.add(count, tileNumbers - 1), tileNumbers);
  Value zero = k.splat(0.0);
  Values sum = k.loop(
      k.index(0), k.index(layout.valueDim), 1, zero,
      [&](Value d, ValueRange ofRows) {
        return k.loop(
            k.index(0), groups, 1, ofRows, [&](Value group, ValueRange acc) {
              Value pairs = k.load(transposed, d, k.mul(group, tileSize));
              return Values{k.product(pairs, zero, acc[0])};
            });
      });
  return allNumbers(k, sum[0]);
}
