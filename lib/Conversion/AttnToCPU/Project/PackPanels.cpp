// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of the weight gives a row of each panel: it is read once, from end to
// end. Rows of a transposed weight are columns of a panel, so squares of them
// are transposed in registers. What is left of the last panel becomes 0.
#include "PackPanels.h"

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

/// Vectors of one row of the weight, in panels from `first` on.
static void packRow(KernelBuilder &k, const WeightPart &part, Value d,
                    Value first, bool whole, StoreInPanel store) {
  Value panel = k.div(k.sub(first, part.column), k.queryBlock);
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value column = k.add(first, v * k.lanes), mask;
    if (!whole) {
      mask = maskBehind(k, column, part.columns);
      column = k.min(column, k.add(part.columns, -1));
    }
    store(k.loadRow(part.matrix, k.add(part.row, d), column, mask), panel, d,
          v);
  }
}

static void packRows(KernelBuilder &k, const WeightPart &part,
                     StoreInPanel store) {
  Value count = k.sub(part.columns, part.column);
  Value whole =
      k.add(part.column, k.mul(k.div(count, k.queryBlock), k.queryBlock));
  k.loop(k.index(0), part.depth, 1, [&](Value d) {
    k.loop(part.column, whole, k.queryBlock, [&](Value column) {
      packRow(k, part, d, column, /*whole=*/true, store);
    });
  });
  k.when(k.less(whole, part.columns), [&] {
    k.loop(k.index(0), part.depth, 1, [&](Value d) {
      packRow(k, part, d, whole, /*whole=*/false, store);
    });
  });
}

/// A square of a transposed weight, whose rows are columns of a panel. Rows
/// that the matrix lacks are the last one again, and not read.
static Values loadSquare(KernelBuilder &k, const WeightPart &part, Value column,
                         Value d, Value mask) {
  Values rows;
  for (int64_t i = 0; i < k.lanes; ++i) {
    Value row = k.min(k.add(column, i), k.add(part.columns, -1));
    rows.push_back(k.loadRow(part.matrix, row, k.add(part.row, d), mask));
  }
  return k.transpose(rows);
}

static void packTransposed(KernelBuilder &k, const WeightPart &part,
                           StoreInPanel store) {
  Value whole = k.mul(k.div(part.depth, k.lanes), k.lanes);
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
      k.when(k.less(whole, part.depth),
             [&] { square(whole, maskBehind(k, whole, part.depth)); });
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
                  k.index(0), sizeOf(k, weight, transposed),
                  k.index(0), sizeOf(k, weight, !transposed)};
  packPanels(k, part, [&](Value vector, Value panel, Value d, int64_t v) {
    vector::StoreOp::create(k.builder, k.loc, k.narrow(vector, panels), panels,
                            ValueRange{panel, d, k.index(v * k.lanes)});
  });
}
