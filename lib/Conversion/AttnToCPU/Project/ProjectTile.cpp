// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of a projection: lanes are columns, the input's scalars are
// broadcast. The loops, from outside in, are those of BLIS (F. G. Van Zee and
// R. A. van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS
// Functionality", 2015):
//   step     Up to `depth` rows of the weight. The input's rows for it are
//            copied, so that they take half of a level-2 cache, whatever their
//            distance in memory, and are f32.
//   panel    `depth` rows of a panel of columns, which lie one behind the
//   other.
//            The next panel is prefetched, all of a row in each turn, or line
//            by line, evenly, over all blocks of a tile of many rows. Few
//            blocks take about as much time as memory: their steps are so short
//            that they stay in the level-1 cache, and the first two fetch a
//            little ahead.
//   block    A few rows of the input. Their sums stay in registers. Between two
//            steps they wait in the scratch.
// The last rows are blocks of four rows (of eight), two and one, and the last
// panel has only as many vectors as it needs, so nothing is computed that is
// not asked for.
//
// The weight comes in panels (attn.pack_panels, or a constant that was packed
// at compile time), or in place:
//   a matrix   A step has few rows of it, which the blocks of all panels read
//              from end to end, while the next step is prefetched; the sums of
//              all columns wait in the scratch. A copy would cost as much as it
//              saves, unless a row of a panel is one cache line: then the first
//              block of rows writes one for the others.
//   transposed, with few rows
//              Sums are dot products (ProjectDots.h).
//   transposed, narrower than a panel, or to be multiplied in pairs
//              Each step packs a few panels in the scratch.
//
// With `products = dot` an element of the panels and of the copied input is a
// pair of bf16. With `amx` a block is two by two tiles of sums, which go
// through memory to out; its last rows are half a block, or a block in which
// rows are missing.
#include "ProjectTile.h"
#include "Build/TileProducts.h"
#include "CopyInputs.h"
#include "PackPanels.h"
#include "ProjectDots.h"
#include "Projection.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Bytes of panels that few rows of the input fetch in advance.
static constexpr int64_t bytesAhead = 96 * 192;
/// Rows of a panel per step of few blocks, which stay in the level-1 cache for
/// all of them.
static constexpr int64_t shallowInPanel = 64;

/// What the schedule says where the next panel is fetched evenly.
static constexpr int64_t evenPrefetch = 1;
/// Blocks of a tile that have turns for most lines of the next panel, of one
/// and of two turns for each line.
static constexpr int64_t blocksForTurn = 2, blocksForTwoTurns = 5;

/// Rows of the next panel that a product of tiles fetches: all of them take as
/// many blocks as a tile of rows has.
static constexpr int64_t aheadOfTiles = 2;

Projection::Projection(KernelBuilder &k, const ProjectOperands &operands,
                       const ProjectSizes &sizes)
    : k(k), input(operands.input), weight(operands.weight),
      transposed(operands.transposed), sizes(sizes),
      inputs(operands.scratch[0]),
      packed(sizes.panelsHere ? operands.scratch[2] : Value()),
      shallowSums(sizes.shallow ? operands.scratch[1] : Value()),
      block(k, operands, sizes, sizes.sums ? operands.scratch[1] : Value()),
      rows(block.rows), width(block.width), depth(block.depth),
      stepDepth(sizes.depth) {
  if (inPanels() && hasNarrowPanels() && getConstantIntValue(rows) == 1)
    useAllRoomForOneRow();
}

/// One row of the input has room for more numbers, so that a step takes panels
/// from end to end.
void Projection::useAllRoomForOneRow() {
  stepDepth = sizes.inputs.getNumElements();
  auto type = MemRefType::get({1, stepDepth}, sizes.inputs.getElementType());
  inputs = memref::ReinterpretCastOp::create(
      k.builder, k.loc, type, inputs, /*offset=*/0,
      /*sizes=*/ArrayRef<int64_t>{1, stepDepth},
      /*strides=*/ArrayRef<int64_t>{stepDepth, 1});
}

/// Visits `total` rows in steps of at most `size`, all equal if that is known
/// to be possible; once, with no products, where there are none.
void Projection::steps(int64_t size, Value total,
                       function_ref<void(Value, Value)> body) {
  std::optional<int64_t> known = getConstantIntValue(total);
  if (known)
    size = sizes.evenSteps(*known, size);
  if (known && *known == size)
    return body(k.index(0), total);
  k.loop(k.index(0), k.max(total, k.index(1)), size, [&](Value begin) {
    bool even = known && *known && *known % size == 0;
    body(begin,
         even ? k.index(size) : k.min(k.index(size), k.sub(total, begin)));
  });
}

// --- many rows ---

/// Panel `number` of a weight in panels from `row` on.
Source Projection::panelAt(Value number, Value row) {
  auto type = cast<MemRefType>(weight.getType());
  auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
  SmallVector<OpFoldResult> offsets{number, attr(0), attr(0)},
      sizesOf{attr(1), memref::getMixedSize(k.builder, k.loc, weight, 1),
              attr(k.schedule.getPanelWidth())},
      strides(3, attr(1));
  auto panel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizesOf, strides));
  Value view = memref::SubViewOp::create(k.builder, k.loc, panel, weight,
                                         offsets, sizesOf, strides);
  return {view, row, k.index(0)};
}

/// Where row `row` of a step lies in its panel: behind the step's end, in the
/// next panel, which follows in memory.
Value Projection::rowAhead(const SumBlock &part, Value row) {
  Value nextPanel = k.sub(sizeOf(k, part.source.matrix, 0), part.steps);
  Value behind = k.select(k.less(row, part.steps), k.index(0), nextPanel);
  return k.add(k.add(part.source.row, row), behind);
}

/// Rows of a panel that few rows of the input fetch in advance.
int64_t Projection::rowsInAdvance() const {
  auto type = cast<MemRefType>(weight.getType());
  return bytesAhead /
         (k.schedule.getPanelWidth() * type.getElementTypeBitWidth() / 8);
}

/// A little ahead, also behind the panel's end: few rows are there soon.
std::function<void(Value)> Projection::rowsBehind(const SumBlock &part) {
  return [=](Value turn) {
    Value row = rowAhead(part, k.add(turn, rowsInAdvance()));
    prefetch({part.source.matrix, row, part.source.column});
  };
}

/// Rows of the copied inputs.
Value Projection::inputsFrom(Value row, int64_t count) {
  auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
  return memref::SubViewOp::create(
      k.builder, k.loc, inputs, ArrayRef<OpFoldResult>{row, attr(0)},
      ArrayRef<OpFoldResult>{
          attr(count), attr(cast<MemRefType>(inputs.getType()).getDimSize(1))},
      ArrayRef<OpFoldResult>{attr(1), attr(1)});
}

/// All rows of one panel by tiles. The last rows are half a block if that is
/// enough.
void Projection::tileBlocks(SumBlock part) {
  Value firstSums = part.sums;
  std::function<void(Value)> aheadOfRow = part.ahead;
  auto multiply = [&](Value row, int64_t size, Value count) {
    if (aheadOfRow)
      part.ahead = [=](Value turn) {
        Value first = k.add(turn, k.div(row, k.rows / aheadOfTiles));
        for (int64_t i = 0; i < aheadOfTiles; ++i)
          aheadOfRow(k.add(first, i));
      };
    part.rows = size;
    part.outRows = {row};
    part.count = count;
    if (firstSums)
      part.sums = k.add(firstSums, row);
    block.multiplyTiles(part, inputsFrom(row, size));
  };
  Value whole = k.mul(k.div(rows, k.rows), k.rows), left = k.sub(rows, whole);
  k.loop(k.index(0), whole, k.rows,
         [&](Value row) { multiply(row, k.rows, k.index(k.rows)); });
  int64_t half = k.rows / 2;
  k.when(k.less(k.index(0), left), [&] {
    k.choose(
        k.less(left, k.index(half + 1)), [&] { multiply(whole, half, left); },
        [&] { multiply(whole, k.rows, left); });
  });
}

/// All rows of one panel, while the next one is fetched.
void Projection::blocksOfPanel(SumBlock part, Source next) {
  if (part.masked) // the last one
    return blocks(block, part, k.index(0), nullptr);
  part.ahead = [=](Value turn) {
    prefetch({next.matrix, k.add(next.row, turn), next.column});
  };
  bool isF32 = cast<MemRefType>(next.matrix.getType()).getElementType().isF32();
  if (!isF32 || k.schedule.getPrefetch() != evenPrefetch)
    return blocks(block, part, k.index(0), nullptr);
  auto evenly = [&](int64_t turnsPerLine) {
    spread = Spread{next, turnsPerLine};
    blocks(block, part, k.index(0), nullptr);
    spread.reset();
  };
  k.choose(
      k.less(rows, k.index(blocksForTurn * k.rows)),
      [&] {
        part.ahead = rowsBehind(part);
        blocks(block, part, k.index(0), nullptr);
      },
      [&] {
        k.choose(
            k.less(rows, k.index(blocksForTwoTurns * k.rows)),
            [&] { evenly(1); }, [&] { evenly(2); });
      });
}

/// All rows of one panel. Column `first` of the copied inputs is what the first
/// row of the panel is multiplied by; `aheadOf`, if any, says what the block of
/// a row fetches.
void Projection::blocks(BlockBuilder &block, SumBlock part, Value first,
                        const AheadOf &aheadOf) {
  blocksFrom(k.index(0), block, part, first, aheadOf);
}

/// Where blocks of `size` rows from `row` on end. Two or three rows behind
/// blocks of six would be few sums at a time: the last of these goes to blocks
/// of four.
Value Projection::endOfBlocks(Value row, int64_t size) {
  if (size == 1)
    return rows;
  Value left = k.sub(rows, row);
  Value whole = k.mul(k.div(left, size), size);
  int64_t smaller = CPUScheduleAttr::getSmallerBlock(size);
  if (size < 2 * smaller) {
    Value rest = k.sub(left, whole), none = k.index(0);
    Value spared = k.select(k.less(rest, k.index(2 * smaller - size)), none,
                            k.index(size));
    spared = k.select(k.less(rest, k.index(smaller)), spared, none);
    whole = k.max(k.sub(whole, spared), none);
  }
  return k.add(row, whole);
}

void Projection::blocksFrom(Value row, BlockBuilder &block, SumBlock part,
                            Value first, const AheadOf &aheadOf) {
  Value firstSums = part.sums;
  std::function<void(Value)> nextPanel = part.ahead;
  for (int64_t size = k.rows; size > 0;
       size = size == 1 ? 0 : CPUScheduleAttr::getSmallerBlock(size)) {
    Value end = endOfBlocks(row, size);
    k.loop(row, end, size, [&](Value i) {
      part.rows = size;
      part.outRows.clear();
      if (aheadOf)
        part.ahead = aheadOf(i);
      else if (inPanels() && size < k.rows)
        part.ahead = !hasNarrowPanels() ? rowsBehind(part)
                     : size > 1         ? nextPanel
                                        : nullptr;
      else if (spread)
        part.ahead = fetchEvenly(k, part, *spread, k.div(i, k.rows));
      if (firstSums)
        part.sums = k.add(firstSums, i);
      Value view = inputsFrom(i, size);
      Values rowsOf;
      for (int64_t r = 0; r < size; ++r) {
        rowsOf.push_back(k.index(r));
        part.outRows.push_back(k.add(i, r));
      }
      block.multiply(part, view, rowsOf, first);
    });
    row = end;
  }
}

/// Which half the block of a row fetches: the first one, or any other.
Value Projection::halfOf(Value row) {
  return k.min(k.div(row, k.rows), k.index(1));
}

/// All rows of one panel, few blocks, in short steps.
void Projection::shallowPanel(SumBlock part) {
  BlockBuilder inSteps = block;
  if (shallowSums) {
    inSteps.waiting = shallowSums;
    part.sums = k.index(0);
  }
  SumBlock whole = part;
  Value first = part.begin;
  Source source = part.source;
  steps(shallowInPanel, part.steps, [&](Value at, Value count) {
    part.begin = k.add(first, at);
    part.steps = count;
    part.source.row = k.add(source.row, at);
    Source ahead = part.source;
    ahead.row = rowAhead(whole, k.add(at, rowsInAdvance()));
    // Two blocks fetch half of as many numbers each, which lie side by side.
    int64_t half = k.schedule.getPanelWidth() / 2;
    blocks(inSteps, part, at, [=](Value row) {
      Value begin = times(halfOf(row), count);
      return [=](Value turn) {
        Value column = k.mul(k.add(begin, turn), half);
        prefetch({ahead.matrix, ahead.row, column}, half);
      };
    });
  });
}

/// The row of the scratch where the sums of a panel wait. Few rows in pairs
/// have more panels.
Value Projection::sumsOf(Value number) {
  Value many = k.mul(number, sizes.rows);
  if (inPanels() || !k.schedule.usesDot())
    return many;
  return k.select(k.less(rows, k.index(sizes.fewRows + 1)),
                  k.mul(number, sizes.fewRows), many);
}

/// The panels of columns [first, end), of which the last may lack some.
void Projection::panelsOf(Value begin, Value count, Value first, Value end,
                          bool isShallow, function_ref<Source(Value)> source) {
  auto panel = [&](Value column, int64_t vectors, bool masked) {
    Value number = k.div(column, sizes.panel);
    SumBlock part{0,  vectors,        {},     column, begin, count,
                  {}, source(number), masked, {}};
    if (sizes.sums)
      part.sums = sumsOf(number);
    if (!inPanels())
      return k.schedule.usesAmx() ? tileBlocks(part)
                                  : blocks(block, part, k.index(0), nullptr);
    if (isShallow)
      return shallowPanel(part);
    Value last = k.div(k.add(width, -1), sizes.panel);
    Source next = source(k.min(k.add(number, 1), last));
    if (!k.schedule.usesAmx())
      return blocksOfPanel(part, next);
    part.ahead = [=](Value turn) {
      prefetch({next.matrix, k.add(next.row, turn), next.column});
    };
    tileBlocks(part);
  };
  Value whole =
      k.add(first, k.mul(k.div(k.sub(end, first), sizes.panel), sizes.panel));
  k.loop(first, whole, sizes.panel,
         [&](Value column) { panel(column, k.vectors, /*masked=*/false); });
  if (std::optional<int64_t> known = getConstantIntValue(width)) {
    if (int64_t left = *known % sizes.panel)
      k.when(k.less(whole, end), [&] {
        panel(whole, llvm::divideCeil(left, k.lanes), /*masked=*/true);
      });
    return;
  }
  Value left = k.sub(end, whole);
  for (int64_t v = 1; v <= k.vectors; ++v) {
    Value enough = k.less(left, k.index(v * k.lanes + 1)),
          more = k.less(k.index((v - 1) * k.lanes), left);
    k.when(arith::AndIOp::create(k.builder, k.loc, enough, more),
           [&] { panel(whole, v, /*masked=*/true); });
  }
}

/// Packs a few panels at a time, and multiplies with them.
void Projection::packAndMultiply(Value begin, Value count) {
  k.loop(k.index(0), width, sizes.packed * sizes.panel, [&](Value column) {
    Value end = k.min(width, k.add(column, sizes.packed * sizes.panel));
    auto rowOf = [&](Value number) { return k.mul(number, sizes.depth); };
    packPanels(k, {weight, transposed, begin, count, column, end},
               [&](Value vector, Value panel, Value d, int64_t v) {
                 k.store(vector, packed, k.add(rowOf(panel), d),
                         k.index(v * k.lanes));
               });
    Value first = k.div(column, sizes.panel);
    panelsOf(begin, count, column, end, /*isShallow=*/false, [&](Value number) {
      return Source{packed, rowOf(k.sub(number, first)), k.index(0)};
    });
  });
}

/// Two forms where the rows may be those of few blocks.
void Projection::chooseShallow(function_ref<void(bool)> emit) {
  if (!sizes.shallowRows)
    return emit(/*isShallow=*/false);
  Value most = k.less(rows, k.index(sizes.shallowRows + 1)),
        least = k.less(k.index(k.rows), rows);
  k.choose(
      arith::AndIOp::create(k.builder, k.loc, least, most),
      [&] { emit(/*isShallow=*/true); }, [&] { emit(/*isShallow=*/false); });
}

void Projection::tall(bool isShallow) {
  steps(stepDepth, depth, [&](Value begin, Value count) {
    copyInputs(k, {input, inputs, begin, count, rows, rows});
    if (!inPanels())
      return packAndMultiply(begin, count);
    panelsOf(begin, count, k.index(0), width, isShallow,
             [&](Value number) { return panelAt(number, begin); });
  });
}

void Projection::tall() {
  if (!inPanels())
    return tall(/*isShallow=*/false);
  chooseShallow([&](bool isShallow) { tall(isShallow); });
}

void Projection::emit() {
  if (inPanels() || transposed || k.schedule.usesDot())
    return tall();
  k.choose(
      k.less(k.index(sizes.panel - 1), width),
      [&] {
        if (sizes.rows <= k.rows)
          return streamBy(1);
        k.choose(
            k.less(rows, k.index(k.rows + 1)), [&] { streamBy(1); },
            [&] { streamBlocks(); });
      },
      [&] { tall(); });
}

void cpu::emitProjectTile(KernelBuilder &k, const ProjectOperands &operands) {
  ProjectSizes sizes(k.schedule, operands.input, operands.weight,
                     operands.transposed, k.element, operands.epilogue,
                     operands.bounds);
  auto emit = [&] { Projection(k, operands, sizes).emit(); };
  if (!sizes.dots)
    return emit();
  if (sizes.rows <= sizes.dotRows)
    return emitDots(k, operands, sizes);
  Value rows = sizeOf(k, operands.out, 0);
  k.choose(
      k.less(rows, k.index(sizes.dotRows + 1)),
      [&] { emitDots(k, operands, sizes); }, emit);
}
