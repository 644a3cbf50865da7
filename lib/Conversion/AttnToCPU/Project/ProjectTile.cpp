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
//            The next panel is prefetched.
//   block    A few rows of the input. Their sums stay in registers. Between two
//            steps they wait in the scratch.
// The last rows are blocks of half as many rows, a quarter, and so on, and the
// last panel has only as many vectors as it needs, so nothing is computed that
// is not asked for.
//
// The weight comes in panels (attn.pack_panels, or a constant that was packed
// at compile time) or as it is. Then
//   more rows than a block has   each step packs a few panels in the scratch.
//   few rows                     a copy would cost as much as it saves. A few
//                                whole rows of the weight at a time are what
//                                the processor prefetches best; the sums of all
//                                columns wait in the scratch.
#include "ProjectTile.h"
#include "PackPanels.h"
#include "ProjectBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Rows of the weight that few rows of the input take per step, in place.
static constexpr int64_t streamedRows = 16;

namespace {
class Projection {
public:
  Projection(KernelBuilder &k, const ProjectOperands &operands,
             const ProjectSizes &sizes);

  void emit();

private:
  bool inPanels() const { return sizes.packed == 0; }
  void steps(int64_t size, function_ref<void(Value begin, Value count)> body);

  // Many rows.
  void copyInputs(Value begin, Value count);
  Source panelAt(Value number, Value row);
  void blocks(SumBlock part);
  void panels(Value begin, Value count);
  void panelsOf(Value begin, Value count, Value first, Value end,
                function_ref<Source(Value number)> source);
  void packAndMultiply(Value begin, Value count);
  void tall();

  // Few rows.
  void stream(int64_t count);
  void streamBy(int64_t count);

  KernelBuilder &k;
  Value input, weight;
  bool transposed;
  const ProjectSizes &sizes;
  Value inputs, packed;
  BlockBuilder block;
  Value rows, width, depth;
};
} // namespace

Projection::Projection(KernelBuilder &k, const ProjectOperands &operands,
                       const ProjectSizes &sizes)
    : k(k), input(operands.input), weight(operands.weight),
      transposed(operands.transposed), sizes(sizes),
      inputs(operands.scratch[0]),
      packed(sizes.panelsHere ? operands.scratch[2] : Value()),
      block(k, operands, sizes, sizes.sums ? operands.scratch[1] : Value()),
      rows(block.rows), width(block.width), depth(block.depth) {}

/// Visits the depth in steps of at most `size`, all equal if that is known to
/// be possible; once, with no products, where the depth is 0.
void Projection::steps(int64_t size, function_ref<void(Value, Value)> body) {
  std::optional<int64_t> known = getConstantIntValue(depth);
  if (known) {
    int64_t count = std::max<int64_t>(1, llvm::divideCeil(*known, size));
    size = std::max<int64_t>(1, llvm::divideCeil(*known, count));
  }
  if (known && *known == size)
    return body(k.index(0), depth);
  k.loop(k.index(0), k.max(depth, k.index(1)), size, [&](Value begin) {
    bool even = known && *known && *known % size == 0;
    body(begin,
         even ? k.index(size) : k.min(k.index(size), k.sub(depth, begin)));
  });
}

// --- many rows ---

/// The input's columns [begin, begin + count), in f32.
void Projection::copyInputs(Value begin, Value count) {
  Value whole = k.mul(k.div(count, k.lanes), k.lanes);
  k.loop(k.index(0), rows, 1, [&](Value row) {
    k.loop(k.index(0), whole, k.lanes, [&](Value d) {
      k.store(k.load(input, row, k.add(begin, d)), inputs, row, d);
    });
    k.when(k.less(whole, count), [&] {
      Value mask = maskBehind(k, whole, count);
      k.store(k.loadRow(input, row, k.add(begin, whole), mask), inputs, row,
              whole);
    });
  });
}

/// Panel `number` of a weight in panels from `row` on.
Source Projection::panelAt(Value number, Value row) {
  auto type = cast<MemRefType>(weight.getType());
  auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
  SmallVector<OpFoldResult> offsets{number, attr(0), attr(0)},
      sizesOf{attr(1), memref::getMixedSize(k.builder, k.loc, weight, 1),
              attr(sizes.panel)},
      strides(3, attr(1));
  auto panel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizesOf, strides));
  Value view = memref::SubViewOp::create(k.builder, k.loc, panel, weight,
                                         offsets, sizesOf, strides);
  return {view, row, k.index(0)};
}

/// All rows of one panel.
void Projection::blocks(SumBlock part) {
  Value firstSums = part.sums, row = k.index(0);
  for (int64_t size = k.rows; size > 0; size /= 2) {
    Value end = size == 1
                    ? rows
                    : k.add(row, k.mul(k.div(k.sub(rows, row), size), size));
    k.loop(row, end, size, [&](Value i) {
      part.rows = size;
      part.number = k.div(i, k.rows);
      part.outRows.clear();
      if (firstSums)
        part.sums = k.add(firstSums, i);
      auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
      Value view = memref::SubViewOp::create(
          k.builder, k.loc, inputs, ArrayRef<OpFoldResult>{i, attr(0)},
          ArrayRef<OpFoldResult>{attr(size), attr(sizes.inputs.getDimSize(1))},
          ArrayRef<OpFoldResult>{attr(1), attr(1)});
      Values rowsOf;
      for (int64_t r = 0; r < size; ++r) {
        rowsOf.push_back(k.index(r));
        part.outRows.push_back(k.add(i, r));
      }
      block.multiply(part, view, rowsOf, k.index(0));
    });
    row = end;
  }
}

/// The panels of columns [first, end), of which the last may lack some.
void Projection::panelsOf(Value begin, Value count, Value first, Value end,
                          function_ref<Source(Value)> source) {
  auto panel = [&](Value column, int64_t vectors, bool masked) {
    Value number = k.div(column, sizes.panel);
    SumBlock part{0,  vectors,        {}, {},    column, begin, count,
                  {}, source(number), {}, masked};
    if (inPanels()) {
      Value last = k.div(k.add(width, -1), sizes.panel);
      part.next = source(k.min(k.add(number, 1), last));
    }
    if (sizes.sums)
      part.sums = k.mul(number, sizes.rows);
    blocks(part);
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
    panelsOf(begin, count, column, end, [&](Value number) {
      return Source{packed, rowOf(k.sub(number, first)), k.index(0)};
    });
  });
}

void Projection::tall() {
  steps(sizes.depth, [&](Value begin, Value count) {
    copyInputs(begin, count);
    if (!inPanels())
      return packAndMultiply(begin, count);
    panelsOf(begin, count, k.index(0), width,
             [&](Value number) { return panelAt(number, begin); });
  });
}

// --- few rows ---

/// All rows, at most `count`, of which the last may stand for several; the last
/// panel moves back.
void Projection::stream(int64_t count) {
  Value last = k.sub(width, k.index(sizes.panel));
  Values rowsOf;
  for (int64_t r = 0; r < count; ++r)
    rowsOf.push_back(k.min(k.index(r), k.add(rows, -1)));
  steps(streamedRows, [&](Value begin, Value steps) {
    k.loop(k.index(0), width, sizes.panel, [&](Value next) {
      Value column = k.min(next, last);
      Value sums = k.mul(k.div(next, sizes.panel), sizes.rows);
      block.multiply({count,
                      k.vectors,
                      rowsOf,
                      {},
                      column,
                      begin,
                      steps,
                      sums,
                      {weight, begin, column},
                      {},
                      /*masked=*/false},
                     input, rowsOf, begin);
    });
  });
}

/// By blocks of a quarter, half or all of a block's rows, or of one row.
void Projection::streamBy(int64_t count) {
  if (count == k.rows)
    return stream(count);
  k.choose(
      k.less(rows, k.index(count + 1)), [&] { stream(count); },
      [&] { streamBy(std::min(2 * count, k.rows)); });
}

void Projection::emit() {
  if (inPanels() || transposed)
    return tall();
  Value few = k.less(rows, k.index(k.rows + 1));
  Value wide = k.less(k.index(sizes.panel - 1), width);
  Value both = arith::AndIOp::create(k.builder, k.loc, few, wide);
  k.choose(both, [&] { streamBy(1); }, [&] { tall(); });
}

void cpu::emitProjectTile(KernelBuilder &k, const ProjectOperands &operands) {
  ProjectSizes sizes(k.schedule, operands.input, operands.weight, k.element,
                     operands.epilogue);
  Projection(k, operands, sizes).emit();
}
