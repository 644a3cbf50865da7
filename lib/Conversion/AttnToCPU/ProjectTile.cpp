// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of a projection: lanes are columns, the weight is read as vectors
// where it lies, the input's scalars are broadcast.
#include "Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
struct Projection {
  KernelBuilder &k;
  Value input, weight, bias, out;
  Value depth;

  Value loadColumn(Value matrix, Value row, Value column, Value mask) {
    return k.loadRow(matrix, row, column, mask);
  }

  Value biasVector(Value column, Value mask) {
    if (!bias)
      return k.splat(0.0);
    if (mask)
      return vector::MaskedLoadOp::create(k.builder, k.loc, k.vectorType, bias,
                                          ValueRange{column}, mask,
                                          k.splat(0.0));
    return vector::LoadOp::create(k.builder, k.loc, k.vectorType, bias,
                                  ValueRange{column});
  }

  /// `count` rows from `row`, `vectors` vectors of columns from `column`.
  void block(Value row, int64_t count, Value column, int64_t vectors,
             Value mask) {
    auto columnOf = [&](int64_t v) { return k.add(column, v * k.lanes); };
    Values biases;
    for (int64_t v = 0; v < vectors; ++v)
      biases.push_back(biasVector(columnOf(v), mask));
    RegisterTile acc(count, biases);
    acc = k.multiply(
        k.index(0), depth, acc,
        [&](int64_t r, Value d) {
          return k.loadBroadcast(input, k.add(row, r), d);
        },
        [&](Value d, int64_t v) {
          return loadColumn(weight, d, columnOf(v), mask);
        });
    for (int64_t r = 0; r < count; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        k.storeRow(acc[r][v], out, k.add(row, r), columnOf(v), mask);
  }

  /// All columns of `count` rows. The last group of columns moves back.
  void columns(Value row, int64_t count, Value width) {
    auto single = [&] {
      k.columnGroups(width, [&](Value column, Value mask) {
        block(row, count, column, 1, mask);
      });
    };
    auto wide = [&] {
      Value last = k.sub(width, k.index(k.panel));
      k.loop(k.index(0), width, k.panel, [&](Value column) {
        block(row, count, k.min(column, last), k.vectors, {});
      });
    };
    k.choose(k.less(k.index(k.panel - 1), width), wide, single);
  }
};
} // namespace

void cpu::emitProjectTile(KernelBuilder &k, Value input, Value weight,
                          Value bias, Value out) {
  auto dim = [&](Value matrix, int64_t i) -> Value {
    int64_t size = cast<MemRefType>(matrix.getType()).getDimSize(i);
    return ShapedType::isDynamic(size)
               ? memref::DimOp::create(k.builder, k.loc, matrix, i).getResult()
               : k.index(size);
  };
  Projection projection{k, input, weight, bias, out, dim(weight, 0)};
  Value rows = dim(out, 0), width = dim(out, 1);
  k.choose(
      k.less(k.index(k.rows - 1), rows),
      [&] { // the last block of rows moves back
        Value last = k.sub(rows, k.index(k.rows));
        k.loop(k.index(0), rows, k.rows, [&](Value row) {
          projection.columns(k.min(row, last), k.rows, width);
        });
      },
      [&] {
        k.loop(k.index(0), rows, 1,
               [&](Value row) { projection.columns(row, 1, width); });
      });
}
