// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a transposed weight and rows of the input have their numbers side by
// side, so a sum is a dot product: lanes are products, which are added up at
// the end. The weight is read once, from end to end, and nothing is transposed.
// With more rows than these the weight is packed (PackPanels.h), because then
// additions of lanes and loads of the input cost more.
//
// A register tile holds some rows of the weight times up to four rows of the
// input, of which half as many, or one, remain at the end. While it is computed
// the next rows of the weight are prefetched. The sums of a panel go to the
// scratch, from which whole vectors of columns are written.
#include "ProjectDots.h"
#include "PackPanels.h"
#include "ProjectBlock.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
class Dots {
public:
  Dots(KernelBuilder &k, const ProjectOperands &operands,
       const ProjectSizes &sizes)
      : k(k), input(operands.input), weight(operands.weight),
        sums(operands.scratch[sizes.dotScratch]), panel(sizes.panel),
        block(k, operands, sizes, /*waiting=*/Value()) {}

  void emit();

private:
  int64_t columnsOf(int64_t count) const;
  void multiply(Value row, int64_t count, Value column, Value first);
  void allRows(Value column, Value first);
  void write(Value column);
  Value addLanes(Value vector);

  KernelBuilder &k;
  Value input, weight, sums;
  int64_t panel;
  BlockBuilder block;
};
} // namespace

/// Columns that a part of a panel has, whose rows of the weight stay in the
/// level-2 cache for all rows of the input.
static int64_t partOf(int64_t panel) { return panel > 24 ? panel / 2 : panel; }

/// Columns of a register tile with `count` rows of the input.
int64_t Dots::columnsOf(int64_t count) const {
  int64_t most = std::clamp<int64_t>(k.rows * k.vectors / count, 1, 8);
  while (partOf(panel) % most)
    --most;
  return most;
}

/// The sum of all lanes, in each of them.
Value Dots::addLanes(Value vector) {
  for (int64_t distance = k.lanes / 2; distance; distance /= 2) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < k.lanes; ++lane)
      mask.push_back(lane ^ distance);
    Value other =
        vector::ShuffleOp::create(k.builder, k.loc, vector, vector, mask);
    vector = k.addf(vector, other);
  }
  return vector;
}

/// Columns from `first` of the panel `column` on, times `count` rows.
void Dots::multiply(Value row, int64_t count, Value column, Value first) {
  int64_t columns = columnsOf(count);
  Value last = k.add(block.width, -1);
  Values from, next;
  for (int64_t i = 0; i < columns; ++i) {
    Value at = k.add(k.add(column, first), i);
    from.push_back(k.min(at, last));
    next.push_back(k.min(k.add(at, columns), last));
  }
  Value chunks = k.div(block.depth, k.lanes);
  RegisterTile acc(columns, Values(count, k.splat(0.0)));
  acc = k.multiply(
      k.index(0), chunks, acc,
      [&](int64_t i, Value chunk) {
        Value at = k.mul(chunk, k.lanes);
        memref::PrefetchOp::create(k.builder, k.loc, weight,
                                   ValueRange{next[i], at}, /*isWrite=*/false,
                                   /*localityHint=*/2, /*isDataCache=*/true);
        return k.load(weight, from[i], at);
      },
      [&](Value chunk, int64_t r) {
        return k.load(input, k.add(row, r), k.mul(chunk, k.lanes));
      });
  std::optional<int64_t> known = getConstantIntValue(block.depth);
  Value whole = k.mul(chunks, k.lanes);
  Value mask = known && *known % k.lanes == 0
                   ? Value()
                   : maskBehind(k, whole, block.depth);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t r = 0; r < count; ++r) {
      Value sum = acc[i][r];
      if (mask)
        sum = k.fma(k.loadRow(weight, from[i], whole, mask),
                    k.loadRow(input, k.add(row, r), whole, mask), sum);
      Value all = vector::ExtractOp::create(k.builder, k.loc, addLanes(sum), 0);
      memref::StoreOp::create(k.builder, k.loc, all, sums,
                              ValueRange{k.add(row, r), k.add(first, i)});
    }
}

/// A part of a panel, by four, two and one rows of the input.
void Dots::allRows(Value column, Value first) {
  Value row = k.index(0), end = k.add(first, partOf(panel));
  for (int64_t count = 4; count; count /= 2) {
    Value rows = block.rows;
    Value last = count == 1
                     ? rows
                     : k.add(row, k.mul(k.div(k.sub(rows, row), count), count));
    k.loop(row, last, count, [&](Value r) {
      k.loop(first, end, columnsOf(count),
             [&](Value part) { multiply(r, count, column, part); });
    });
    row = last;
  }
}

/// The sums of a panel with what follows them.
void Dots::write(Value column) {
  k.loop(k.index(0), block.rows, 1, [&](Value row) {
    Value columns = k.min(k.index(panel), k.sub(block.width, column));
    k.loop(k.index(0), columns, k.lanes, [&](Value at) {
      SumBlock part;
      part.rows = part.vectors = 1;
      part.outRows = {row};
      part.column = k.add(column, at);
      part.masked = true;
      RegisterTile bias = block.start(part);
      block.writeOut(part, {{k.addf(bias[0][0], k.load(sums, row, at))}});
    });
  });
}

void Dots::emit() {
  k.loop(k.index(0), block.width, panel, [&](Value column) {
    k.loop(k.index(0), k.min(k.index(panel), k.sub(block.width, column)),
           partOf(panel), [&](Value first) { allRows(column, first); });
    write(column);
  });
}

void cpu::emitDots(KernelBuilder &k, const ProjectOperands &operands,
                   const ProjectSizes &sizes) {
  Dots(k, operands, sizes).emit();
}
