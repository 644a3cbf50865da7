// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of the weight gives a row of each panel: it is read once, from end to
// end. Rows of a transposed weight are columns of a panel, so squares of them
// are transposed in registers. What is left of the last panel becomes 0. Pairs
// of two rows are put side by side; in a transposed weight they lie so.
#include "PackPanels.h"
#include "Build/Pairs.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::sizeOf(KernelBuilder &k, Value matrix, int64_t dim) {
  int64_t size = cast<MemRefType>(matrix.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size)
             ? memref::DimOp::create(k.builder, k.loc, matrix, dim).getResult()
             : k.index(size);
}

Value cpu::maskBehind(KernelBuilder &k, Value column, Value columns) {
  return vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType,
                                      ValueRange{k.sub(columns, column)});
}

Value cpu::panelRows(KernelBuilder &k, Value depth) {
  int64_t rows = k.schedule.getRowsPerProduct(),
          unit = rows * k.schedule.getNumbersPerElement();
  if (std::optional<int64_t> known = getConstantIntValue(depth))
    return k.index(k.schedule.getPanelRows(*known));
  return unit == 1 ? depth : k.mul(k.div(k.add(depth, unit - 1), unit), rows);
}

Value cpu::maskOfPairs(KernelBuilder &k, Value pair, Value numbers) {
  KernelBuilder wide = k.withLanes(2 * k.lanes);
  return maskBehind(wide, k.mul(pair, 2), numbers);
}

Value cpu::wholePairs(KernelBuilder &k, Value pair, Value rows, Value numbers) {
  Value complete = k.min(rows, k.sub(k.div(numbers, 2), pair));
  return k.mul(k.div(complete, k.lanes), k.lanes);
}

/// Rows of pairs that are fetched before they are packed.
static constexpr int64_t packAhead = 8;

/// Rows 2 d and 2 d + 1 of the weight side by side, of which `complete` ones
/// exist.
static Value loadTwoRows(KernelBuilder &k, const WeightPart &part, Value d,
                         Value column, Value mask, bool complete) {
  OpBuilder &b = k.builder;
  Value total = sizeOf(k, part.matrix, 0), first = k.mul(d, 2);
  // As integers: processors without bf16 would shuffle by way of f32.
  auto bits = VectorType::get(k.lanes, b.getI16Type());
  auto asBits = [&](Value numbers) -> Value {
    return arith::BitcastOp::create(b, k.loc, bits, numbers);
  };
  auto load = [&](Value row) -> Value {
    if (complete) {
      memref::PrefetchOp::create(b, k.loc, part.matrix,
                                 ValueRange{k.add(row, 2 * packAhead), column},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
      return asBits(loadBF16(k, part.matrix, row, column, mask));
    }
    Value some = asBits(
        loadBF16(k, part.matrix, k.min(row, k.add(total, -1)), column, mask));
    Value none = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(bits));
    return k.select(k.less(row, total), some, none);
  };
  Value even = load(first), odd = load(k.add(first, 1));
  Value both = vector::InterleaveOp::create(b, k.loc, even, odd);
  return vector::BitCastOp::create(b, k.loc, k.vectorType, both);
}

/// Vectors of one row of the weight, in panels from `first` on.
static void packRow(KernelBuilder &k, const WeightPart &part, Value d,
                    Value first, bool whole, bool complete,
                    StoreInPanel store) {
  Value panel = k.div(k.sub(first, part.column), k.queryBlock);
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value column = k.add(first, v * k.lanes), mask;
    if (!whole) {
      mask = maskBehind(k, column, part.columns);
      column = k.min(column, k.add(part.columns, -1));
    }
    Value row = k.add(part.row, d);
    store(k.schedule.usesDot()
              ? loadTwoRows(k, part, row, column, mask, complete)
              : k.loadRow(part.matrix, row, column, mask),
          panel, d, v);
  }
}

static void packRows(KernelBuilder &k, const WeightPart &part, Value begin,
                     Value end, bool complete, StoreInPanel store) {
  Value count = k.sub(part.columns, part.column);
  Value whole =
      k.add(part.column, k.mul(k.div(count, k.queryBlock), k.queryBlock));
  k.loop(begin, end, 1, [&](Value d) {
    k.loop(part.column, whole, k.queryBlock, [&](Value column) {
      packRow(k, part, d, column, /*whole=*/true, complete, store);
    });
  });
  k.when(k.less(whole, part.columns), [&] {
    k.loop(begin, end, 1, [&](Value d) {
      packRow(k, part, d, whole, /*whole=*/false, complete, store);
    });
  });
}

static void packRows(KernelBuilder &k, const WeightPart &part,
                     StoreInPanel store) {
  Value none = k.index(0);
  if (!k.schedule.usesDot())
    return packRows(k, part, none, part.depth, /*complete=*/true, store);
  Value pairs = k.sub(k.div(sizeOf(k, part.matrix, 0), 2), part.row);
  Value complete = k.min(part.depth, pairs);
  packRows(k, part, none, complete, /*complete=*/true, store);
  k.when(k.less(complete, part.depth), [&] {
    packRows(k, part, complete, part.depth, /*complete=*/false, store);
  });
}

/// A square of a transposed weight, whose rows are columns of a panel. Rows
/// that the matrix lacks are the last one again, and not read.
static Values loadSquare(KernelBuilder &k, const WeightPart &part, Value column,
                         Value d, Value mask) {
  Values rows;
  for (int64_t i = 0; i < k.lanes; ++i) {
    Value row = k.min(k.add(column, i), k.add(part.columns, -1));
    Value at = k.add(part.row, d);
    rows.push_back(k.schedule.usesDot()
                       ? loadPairs(k, part.matrix, row, k.mul(at, 2), mask)
                       : k.loadRow(part.matrix, row, at, mask));
  }
  return k.transpose(rows);
}

static void packTransposed(KernelBuilder &k, const WeightPart &part,
                           StoreInPanel store) {
  bool pairs = k.schedule.usesDot();
  Value numbers = sizeOf(k, part.matrix, 1);
  Value whole = pairs ? wholePairs(k, part.row, part.depth, numbers)
                      : k.mul(k.div(part.depth, k.lanes), k.lanes);
  k.loop(part.column, part.columns, k.queryBlock, [&](Value first) {
    Value panel = k.div(k.sub(first, part.column), k.queryBlock);
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.add(first, v * k.lanes);
      Value exists = maskBehind(k, column, part.columns);
      auto square = [&](Value d, Value mask) {
        Values rows = loadSquare(k, part, column, d, mask);
        for (int64_t i = 0; i < k.lanes; ++i) {
          Value at = k.add(d, i);
          auto storeRow = [&] {
            store(k.select(exists, rows[i], k.splat(0.0)), panel, at, v);
          };
          if (mask)
            k.when(k.less(at, part.depth), storeRow);
          else
            storeRow();
        }
      };
      k.loop(k.index(0), whole, k.lanes, [&](Value d) { square(d, {}); });
      k.when(k.less(whole, part.depth), [&] {
        square(whole, pairs ? maskOfPairs(k, k.add(part.row, whole), numbers)
                            : maskBehind(k, whole, part.depth));
      });
    }
  });
}

void cpu::packPanels(KernelBuilder &k, const WeightPart &part,
                     StoreInPanel store) {
  if (part.transposed)
    return packTransposed(k, part, store);
  packRows(k, part, store);
}

void cpu::emitPackPanels(KernelBuilder &k, Value weight, bool transposed,
                         Value panels) {
  WeightPart part{weight,     transposed,
                  k.index(0), panelRows(k, sizeOf(k, weight, transposed)),
                  k.index(0), sizeOf(k, weight, !transposed)};
  packPanels(k, part, [&](Value vector, Value panel, Value d, int64_t v) {
    bool pairs = k.schedule.usesDot();
    Value stored = pairs ? asNumbers(k, vector) : k.narrow(vector, panels);
    Value column = k.index((pairs ? 2 : 1) * v * k.lanes);
    vector::StoreOp::create(k.builder, k.loc, stored, panels,
                            ValueRange{panel, d, column});
  });
}
