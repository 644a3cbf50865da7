// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few rows, or two tiles of them, with a weight that is read where it is: a
// step has few rows of it, from end to end, while the next step is prefetched.
// Two blocks of rows, which take less time than memory, share what they fetch,
// in steps that lie in few sets of the level-2 cache also where rows of the
// weight are a power of two apart. Where a row of a panel is one cache line,
// the level-1 cache would not hold them for a second block: the first one
// copies them to the scratch.
#include "CopyInputs.h"
#include "Projection.h"
#include <memory>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Rows of the weight per step, in place: few rows of the input wait for
/// memory, which likes whole rows of the weight; more rows have time between
/// two lines, and sums that seldom wait.
static constexpr int64_t fewSteps = 8, manySteps = 64;
/// The same for two blocks.
static constexpr int64_t shallowSteps = 16;

/// The lines of a row of a panel.
void Projection::prefetch(Source at) {
  prefetch(at, inPanels() ? k.schedule.getPanelWidth() : sizes.panel);
}

/// The lines of some numbers from a place on.
void Projection::prefetch(Source at, int64_t width) {
  auto type = cast<MemRefType>(at.matrix.getType());
  int64_t line = 64 * 8 / type.getElementTypeBitWidth();
  for (int64_t i = 0; i < width; i += line)
    memref::PrefetchOp::create(k.builder, k.loc, at.matrix,
                               ValueRange{at.row, k.add(at.column, i)},
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

/// All panels of `size` rows of the weight after another, whose blocks `blocks`
/// emits, with the column of the copied inputs that belongs to the first row;
/// the last panel moves back, so that it is whole.
void Projection::inPlace(int64_t size, Value copies,
                         function_ref<void(SumBlock, Value)> blocks) {
  Value last = k.sub(width, k.index(sizes.panel));
  steps(sizes.depth, depth, [&](Value first, Value count) {
    copyInputs(k, {input, inputs, first, count, copies, rows});
    steps(size, count, [&](Value at, Value steps) {
      Value begin = k.add(first, at);
      k.loop(k.index(0), width, sizes.panel, [&](Value next) {
        Value column = k.min(next, last);
        SumBlock part{0,     k.vectors, {}, column,
                      begin, steps,     {}, {weight, begin, column},
                      false, {}};
        part.sums = k.div(next, sizes.panel);
        blocks(part, at);
      });
    });
  });
}

/// What is fetched while a panel of a step is multiplied: of few rows the same
/// columns of the next rows; otherwise the next rows from end to end, in as
/// many turns as all panels have. The turns of two blocks fetch half of a
/// panel's columns each.
std::function<void(Value)>
Projection::nextRows(Value number, const SumBlock &part, bool few, Value half) {
  Value count = part.steps, column = part.column;
  Value next = k.min(k.add(part.begin, count), k.sub(depth, count));
  if (few)
    return [=](Value turn) { prefetch({weight, k.add(next, turn), column}); };
  // A division in every turn would cost more than the products: `place` is less
  // than 2^32 / panels, so a product with the reciprocal gives the same.
  constexpr int64_t one = int64_t(1) << 32;
  Value panels = k.div(k.add(width, sizes.panel - 1), sizes.panel);
  int64_t columns = sizes.panel;
  if (half) {
    panels = k.mul(panels, 2);
    number = k.add(k.mul(number, 2), half);
    columns /= 2;
  }
  Value quotient =
      arith::DivUIOp::create(k.builder, k.loc, k.index(one), panels);
  Value reciprocal = k.add(quotient, 1), first = times(number, count);
  return [=](Value turn) {
    Value place = k.add(first, turn);
    Value row = k.div(times(place, reciprocal), one);
    Value inRow = k.sub(place, times(row, panels));
    prefetch({weight, k.add(next, row), k.mul(inRow, columns)}, columns);
  };
}

/// All rows, at most `count`, of which the last may stand for several.
void Projection::stream(int64_t count) {
  Values rowsOf, outRows;
  for (int64_t r = 0; r < count; ++r) {
    rowsOf.push_back(k.index(r));
    outRows.push_back(k.min(k.index(r), k.add(rows, -1)));
  }
  bool few = count <= sizes.fewRows;
  auto emit = [&](SumBlock part, Value at) {
    part.ahead = nextRows(part.sums, part, few);
    part.rows = count;
    part.outRows = outRows;
    part.sums = k.mul(part.sums, count);
    block.multiply(part, inputs, rowsOf, at);
  };
  int64_t steps = few ? fewSteps : sizes.shallowRows ? shallowSteps : manySteps;
  inPlace(steps, k.index(count), emit);
}

/// By blocks of a quarter, half or all of a block's rows, or of one row.
void Projection::streamBy(int64_t count) {
  if (count >= std::min(k.rows, sizes.rows))
    return stream(count);
  k.choose(
      k.less(rows, k.index(count + 1)), [&] { stream(count); },
      [&] { streamBy(std::min(2 * count, k.rows)); });
}

/// Whether a row of a panel is a cache line.
bool Projection::hasNarrowPanels() const {
  return sizes.panel * sizes.inputs.getElementTypeBitWidth() <= 64 * 8;
}

/// Lines of the same columns of half of the next rows, one in two turns.
std::function<void(Value)> Projection::halfOfNextRows(const SumBlock &part,
                                                      Value half) {
  Value count = part.steps, column = part.column;
  Value next = k.min(k.add(part.begin, count), k.sub(depth, count));
  next = k.add(next, times(half, k.div(count, 2)));
  auto turns = std::make_shared<int64_t>(0);
  return [=](Value turn) {
    if ((*turns)++ % 2 == 0)
      prefetch({weight, k.add(next, k.div(turn, 2)), column});
  };
}

/// Several blocks of rows, for which the first one copies the panel while it
/// multiplies.
void Projection::packByFirstBlock(SumBlock part, Value first) {
  SumBlock packing = part;
  packing.copy = packed;
  packing.ahead = halfOfNextRows(part, k.index(0));
  packing.rows = k.rows;
  Values rowsOf;
  for (int64_t r = 0; r < k.rows; ++r) {
    rowsOf.push_back(k.index(r));
    packing.outRows.push_back(k.index(r));
  }
  block.multiply(packing, inputsFrom(k.index(0), k.rows), rowsOf, first);
  SumBlock others = part;
  others.source = {packed, k.index(0), k.index(0)};
  others.ahead = nullptr;
  blocksFrom(k.index(k.rows), block, others, first,
             [&](Value) { return halfOfNextRows(part, k.index(1)); });
}

/// Several blocks of rows.
void Projection::streamBlocks(bool isShallow) {
  auto emit = [&](SumBlock part, Value at) {
    Value number = part.sums;
    part.sums = k.mul(number, sizes.rows);
    if (hasNarrowPanels())
      return packByFirstBlock(part, at);
    if (!isShallow)
      part.ahead = nextRows(number, part, /*few=*/false);
    AheadOf half = [&](Value row) {
      return nextRows(number, part, /*few=*/false, halfOf(row));
    };
    blocks(block, part, at, isShallow ? half : nullptr);
  };
  inPlace(isShallow ? shallowSteps : manySteps, rows, emit);
}

void Projection::streamBlocks() {
  if (hasNarrowPanels())
    return streamBlocks(/*isShallow=*/false);
  chooseShallow([&](bool isShallow) { streamBlocks(isShallow); });
}
