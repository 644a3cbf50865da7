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
//
// More than four rows take several passes over the rows of the weight, in steps
// that stay in the level-1 cache for all of them. Between steps the vectors of
// products wait in the scratch. Two passes fetch half of the next rows each.
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
        sums(operands.scratch[sizes.dotScratch]),
        parts(operands.scratch[sizes.dotScratch + 1]), panel(sizes.panel),
        mostRows(sizes.dotRows),
        block(k, operands, sizes, /*waiting=*/Value()) {}

  void emit();

private:
  int64_t columnsOf(int64_t count) const;
  void multiply(Value row, int64_t count, Value column, Value first);
  void allRows(Value column, Value first);
  void panelAtOnce(Value column);

  void addStep(Value row, int64_t count, Value column, Value begin, Value end);
  void finishSums(Value column, Value first);
  void panelInSteps(Value column);

  void byRows(function_ref<void(Value row, int64_t count)> body);
  void write(Value column);
  Value addLanes(Value vector);

  KernelBuilder &k;
  Value input, weight, sums, parts;
  int64_t panel, mostRows;
  BlockBuilder block;
};
} // namespace

/// Rows of a register tile; more take several passes.
static constexpr int64_t tileRows = 4;
/// Bytes of a row of the weight that a step has.
static constexpr int64_t stepBytes = 2048;

/// Columns that a part of a panel has, whose rows of the weight stay in the
/// level-2 cache for all rows of the input.
static int64_t partOf(int64_t panel) { return panel > 24 ? panel / 2 : panel; }

/// Columns of a register tile with `count` rows of the input.
int64_t Dots::columnsOf(int64_t count) const {
  int64_t most = std::clamp<int64_t>(k.rows * k.vectors / count, 1,
                                     ProjectSizes::dotColumns);
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

/// By four, two and one rows of the input.
void Dots::byRows(function_ref<void(Value, int64_t)> body) {
  Value row = k.index(0);
  for (int64_t count = tileRows; count; count /= 2) {
    Value rows = block.rows;
    Value last = count == 1
                     ? rows
                     : k.add(row, k.mul(k.div(k.sub(rows, row), count), count));
    k.loop(row, last, count, [&](Value r) { body(r, count); });
    row = last;
  }
}

/// A part of a panel.
void Dots::allRows(Value column, Value first) {
  Value end = k.add(first, partOf(panel));
  byRows([&](Value row, int64_t count) {
    k.loop(first, end, columnsOf(count),
           [&](Value part) { multiply(row, count, column, part); });
  });
}

void Dots::panelAtOnce(Value column) {
  k.loop(k.index(0), k.min(k.index(panel), k.sub(block.width, column)),
         partOf(panel), [&](Value first) { allRows(column, first); });
}

// --- in steps ---

/// Vectors [begin, end) of the rows of the weight from `column` on, times
/// `count` rows, are added to the parts.
void Dots::addStep(Value row, int64_t count, Value column, Value begin,
                   Value end) {
  int64_t columns = columnsOf(tileRows), share = (columns + 1) / 2;
  Value last = k.add(block.width, -1), first = k.mul(row, columns);
  Value place =
      k.min(k.mul(k.div(row, tileRows), share), k.index(columns - share));
  Values from, next;
  for (int64_t i = 0; i < columns; ++i)
    from.push_back(k.min(k.add(column, i), last));
  for (int64_t i = 0; i < share; ++i)
    next.push_back(k.min(k.add(k.add(column, place), columns + i), last));
  auto partAt = [&](int64_t i, int64_t r) {
    return k.add(first, r * columns + i);
  };
  RegisterTile acc(columns, Values(count));
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t r = 0; r < count; ++r)
      acc[i][r] = k.load(parts, partAt(i, r), k.index(0));
  acc = k.multiply(
      begin, end, acc,
      [&](int64_t i, Value chunk) {
        Value at = k.mul(chunk, k.lanes);
        if (i < share)
          memref::PrefetchOp::create(k.builder, k.loc, weight,
                                     ValueRange{next[i], at}, /*isWrite=*/false,
                                     /*localityHint=*/2, /*isDataCache=*/true);
        return k.load(weight, from[i], at);
      },
      [&](Value chunk, int64_t r) {
        return k.load(input, k.add(row, r), k.mul(chunk, k.lanes));
      });
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t r = 0; r < count; ++r)
      k.store(acc[i][r], parts, partAt(i, r), k.index(0));
}

/// The sums of the columns from `first` on, with the numbers behind the last
/// whole vector.
void Dots::finishSums(Value column, Value first) {
  int64_t columns = columnsOf(tileRows);
  Value whole = k.mul(k.div(block.depth, k.lanes), k.lanes);
  std::optional<int64_t> known = getConstantIntValue(block.depth);
  bool isWhole = known && *known % k.lanes == 0;
  Value mask = isWhole ? Value() : maskBehind(k, whole, block.depth);
  Value last = k.add(block.width, -1);
  k.loop(k.index(0), block.rows, 1, [&](Value row) {
    for (int64_t i = 0; i < columns; ++i) {
      Value sum = k.load(parts, k.add(k.mul(row, columns), i), k.index(0));
      Value from = k.min(k.add(k.add(column, first), i), last);
      if (mask)
        sum = k.fma(k.loadRow(weight, from, whole, mask),
                    k.loadRow(input, row, whole, mask), sum);
      Value all = vector::ExtractOp::create(k.builder, k.loc, addLanes(sum), 0);
      memref::StoreOp::create(k.builder, k.loc, all, sums,
                              ValueRange{row, k.add(first, i)});
    }
  });
}

void Dots::panelInSteps(Value column) {
  int64_t columns = columnsOf(tileRows);
  int64_t bytes = k.element.getIntOrFloatBitWidth() / 8;
  int64_t size = stepBytes / bytes / k.lanes;
  Value chunks = k.div(block.depth, k.lanes), zero = k.splat(0.0);
  Value end = k.min(k.index(panel), k.sub(block.width, column));
  k.loop(k.index(0), end, columns, [&](Value first) {
    k.loop(k.index(0), block.rows, 1, [&](Value row) {
      for (int64_t i = 0; i < columns; ++i)
        k.store(zero, parts, k.add(k.mul(row, columns), i), k.index(0));
    });
    k.loop(k.index(0), chunks, size, [&](Value begin) {
      Value behind = k.min(chunks, k.add(begin, size));
      byRows([&](Value row, int64_t count) {
        addStep(row, count, k.add(column, first), begin, behind);
      });
    });
    finishSums(column, first);
  });
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
  auto each = [&](void (Dots::*sumsOf)(Value)) {
    k.loop(k.index(0), block.width, panel, [&](Value column) {
      (this->*sumsOf)(column);
      write(column);
    });
  };
  if (mostRows <= tileRows)
    return each(&Dots::panelAtOnce);
  k.choose(
      k.less(block.rows, k.index(tileRows + 1)),
      [&] { each(&Dots::panelAtOnce); }, [&] { each(&Dots::panelInSteps); });
}

void cpu::emitDots(KernelBuilder &k, const ProjectOperands &operands,
                   const ProjectSizes &sizes) {
  Dots(k, operands, sizes).emit();
}
