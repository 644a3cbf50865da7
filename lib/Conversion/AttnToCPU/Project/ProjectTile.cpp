// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of a projection: lanes are columns, the input's scalars are
// broadcast. A block of `rows` x panel sums stays in registers while it takes
// up to `depth` products; between two such steps it waits in the scratch.
//
// The weight is read in one of three ways:
//   packed here   More rows than a block has: a part of the weight, `depth`
//   rows x `panels`
//                 panels, is copied to the scratch, panel by panel. All rows of
//                 the tile then read it from the caches, whatever the distance
//                 of the weight's rows.
//   in place      Few rows: a copy would cost as much as it saves. A few whole
//                 rows of the weight at a time are what the processor
//                 prefetches best; the sums of all columns wait in the scratch.
//   panels        A constant weight comes packed (attn-tile-projections). Then
//                 a single row reads several panels side by side, because one
//                 has too few sums to hide the latency of an FMA.
#include "ProjectTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// How a tile is cut.
struct Blocking {
  int64_t depth;  // rows of the weight per step: half of a level-1 cache
  int64_t panels; // packed at a time: with the depth, 64 KiB of f32
  int64_t rows;   // of the input that share what was packed
  int64_t panel;

  explicit Blocking(CPUScheduleAttr schedule)
      : panel(schedule.getQueryBlock()) {
    depth = std::max<int64_t>(128, 4096 / panel);
    panels = std::max<int64_t>(1, 16384 / (depth * panel));
    rows = llvm::alignTo(2 * schedule.getQueryTile(), schedule.getRows());
  }
  int64_t packedRows() const { return panels * depth; }
  int64_t scratchRows() const { return packedRows() + panels * rows; }
};

/// Rows of the weight that few rows of the input take per step, in place.
constexpr int64_t streamedRows = 8;

/// Columns of a matrix from (row, column) on.
struct Source {
  Value matrix, row, column;
};

/// One block of sums.
struct Block {
  int64_t rows;                // at most the schedule's
  Value row, column;           // of out
  Value begin, steps;          // rows of the weight
  Value sums;                  // row of the scratch where the sums wait
  SmallVector<Source> sources; // one per panel
};

struct Projection {
  KernelBuilder &k;
  Value input, weight, bias, out, scratch;
  Value rows, width, depth;
  Blocking blocking;

  bool packed() { return cast<MemRefType>(weight.getType()).getRank() == 3; }

  /// Where row `r` of a block lies: past the end, the last row again.
  Value rowOf(const Block &block, int64_t r) {
    if (block.rows == 1)
      return block.row;
    return k.min(k.add(block.row, r), k.add(rows, -1));
  }

  /// The columns of vector `v` that exist.
  Value maskOf(Value column, int64_t v) {
    Value count = k.sub(width, k.add(column, v * k.lanes));
    return vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType,
                                        ValueRange{count});
  }
  /// An address inside the row where the mask of vector `v` is empty.
  Value inside(Value column, int64_t v) {
    return k.min(k.add(column, v * k.lanes), k.add(width, -1));
  }

  static int64_t vectorsOf(const KernelBuilder &k, const Block &block) {
    return block.sources.size() * k.vectors;
  }
  /// Whether all columns of a block exist.
  Value isWhole(const Block &block) {
    return k.less(k.add(block.column, vectorsOf(k, block) * k.lanes - 1),
                  width);
  }

  Values results(Value condition, size_t count, function_ref<Values()> then,
                 function_ref<Values()> otherwise);
  Values biases(const Block &block);
  RegisterTile start(const Block &block);
  void finish(const Block &block, const RegisterTile &acc);
  void multiply(const Block &block);
  void steps(int64_t size, function_ref<void(Value begin, Value count)> body);

  void pack(Value firstColumn, Value begin, Value count);
  Source panelAt(Value number, Value row);
  void tall(Value firstColumn, Value firstRow);
  void stream(int64_t count, Value firstColumn);
  int64_t streamedColumns() const;
  void sideBySide(int64_t count);
};
} // namespace

/// Both branches give `count` vectors.
Values Projection::results(Value condition, size_t count,
                           function_ref<Values()> then,
                           function_ref<Values()> otherwise) {
  SmallVector<Type> types(count, k.vectorType);
  auto op = scf::IfOp::create(k.builder, k.loc, types, condition,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.builder);
  k.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(k.builder, k.loc, then());
  k.builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(k.builder, k.loc, otherwise());
  return Values(op.getResults());
}

/// The bias of a block's columns, or zeros.
Values Projection::biases(const Block &block) {
  int64_t count = vectorsOf(k, block);
  if (!bias)
    return Values(count, k.splat(0.0));
  auto whole = [&] {
    Values row;
    for (int64_t v = 0; v < count; ++v)
      row.push_back(k.load(bias, k.index(0), k.add(block.column, v * k.lanes)));
    return row;
  };
  auto masked = [&] {
    Values row;
    for (int64_t v = 0; v < count; ++v)
      row.push_back(k.loadRow(bias, k.index(0), inside(block.column, v),
                              maskOf(block.column, v)));
    return row;
  };
  return results(isWhole(block), count, whole, masked);
}

/// The sums so far: the bias, or what waits in the scratch.
RegisterTile Projection::start(const Block &block) {
  int64_t count = vectorsOf(k, block);
  auto first = [&] {
    Values row = biases(block), all;
    for (int64_t r = 0; r < block.rows; ++r)
      llvm::append_range(all, row);
    return all;
  };
  auto later = [&] {
    Values all;
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < count; ++v)
        all.push_back(
            k.load(scratch, k.add(block.sums, r), k.index(v * k.lanes)));
    return all;
  };
  Values flat = block.sums ? results(k.less(block.begin, k.index(1)),
                                     block.rows * count, first, later)
                           : first();
  RegisterTile acc;
  for (int64_t r = 0; r < block.rows; ++r)
    acc.emplace_back(ArrayRef<Value>(flat).slice(r * count, count));
  return acc;
}

/// Sums that have all their products go to out, others to the scratch.
void Projection::finish(const Block &block, const RegisterTile &acc) {
  auto store = [&](bool masked) {
    for (size_t v = 0; v < acc.front().size(); ++v) {
      Value mask = masked ? maskOf(block.column, v) : Value();
      Value column =
          masked ? inside(block.column, v) : k.add(block.column, v * k.lanes);
      for (int64_t r = 0; r < block.rows; ++r)
        k.storeRow(acc[r][v], out, rowOf(block, r), column, mask);
    }
  };
  auto last = [&] {
    k.choose(isWhole(block), [&] { store(false); }, [&] { store(true); });
  };
  auto wait = [&] {
    for (int64_t r = 0; r < block.rows; ++r)
      for (size_t v = 0; v < acc[r].size(); ++v)
        k.store(acc[r][v], scratch, k.add(block.sums, r), k.index(v * k.lanes));
  };
  if (!block.sums)
    return last();
  k.choose(k.less(k.add(block.begin, block.steps), depth), wait, last);
}

void Projection::multiply(const Block &block) {
  Values inputRows;
  for (int64_t r = 0; r < block.rows; ++r)
    inputRows.push_back(rowOf(block, r));
  RegisterTile acc = k.multiply(
      k.index(0), block.steps, start(block),
      [&](int64_t r, Value d) {
        return k.loadBroadcast(input, inputRows[r], k.add(block.begin, d));
      },
      [&](Value d, int64_t v) {
        const Source &source = block.sources[v / k.vectors];
        return k.load(source.matrix, k.add(source.row, d),
                      k.add(source.column, v % k.vectors * k.lanes));
      });
  finish(block, acc);
}

/// Visits the depth in steps of at most `size`, all equal if that is known to
/// be possible; once, with no products, where the depth is 0.
void Projection::steps(int64_t size, function_ref<void(Value, Value)> body) {
  std::optional<int64_t> known = getConstantIntValue(depth);
  if (known) {
    int64_t count = std::max<int64_t>(1, llvm::divideCeil(*known, size));
    size = std::max<int64_t>(1, llvm::divideCeil(*known, count));
  }
  k.loop(k.index(0), k.max(depth, k.index(1)), size, [&](Value begin) {
    bool even = known && *known && *known % size == 0;
    body(begin,
         even ? k.index(size) : k.min(k.index(size), k.sub(depth, begin)));
  });
}

// --- many rows ---

/// Copies `count` rows of the weight from row `begin` and of the panels from
/// column `firstColumn`. Columns that do not exist are 0.
void Projection::pack(Value firstColumn, Value begin, Value count) {
  Value end =
      k.min(width, k.add(firstColumn, blocking.panels * blocking.panel));
  auto copy = [&](Value d, Value column, int64_t v, Value mask) {
    Value row = k.add(begin, d);
    Value panel = k.div(k.sub(column, firstColumn), blocking.panel);
    Value from = mask ? inside(column, v) : k.add(column, v * k.lanes);
    k.store(k.loadRow(weight, row, from, mask), scratch,
            k.add(k.mul(panel, blocking.depth), d), k.index(v * k.lanes));
  };
  Value whole = k.sub(end, k.index(blocking.panel - 1));
  k.loop(k.index(0), count, 1, [&](Value d) {
    k.loop(firstColumn, whole, blocking.panel, [&](Value column) {
      for (int64_t v = 0; v < k.vectors; ++v)
        copy(d, column, v, {});
    });
  });
  Value rest = k.sub(end, firstColumn);
  Value column =
      k.add(firstColumn, k.mul(k.div(rest, blocking.panel), blocking.panel));
  k.when(k.less(column, end), [&] {
    k.loop(k.index(0), count, 1, [&](Value d) {
      for (int64_t v = 0; v < k.vectors; ++v)
        copy(d, column, v, maskOf(column, v));
    });
  });
}

/// Panel `number` of a packed weight from `row` on.
Source Projection::panelAt(Value number, Value row) {
  auto type = cast<MemRefType>(weight.getType());
  auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
  SmallVector<OpFoldResult> offsets{number, attr(0), attr(0)},
      sizes{attr(1), attr(type.getDimSize(1)), attr(blocking.panel)},
      strides(3, attr(1));
  auto panel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides));
  Value view = memref::SubViewOp::create(k.builder, k.loc, panel, weight,
                                         offsets, sizes, strides);
  return {view, row, k.index(0)};
}

/// The panels from `firstColumn` and the rows from `firstRow` that share them.
void Projection::tall(Value firstColumn, Value firstRow) {
  Value endColumn =
      k.min(width, k.add(firstColumn, blocking.panels * blocking.panel));
  Value endRow = k.min(rows, k.add(firstRow, blocking.rows));
  steps(blocking.depth, [&](Value begin, Value count) {
    if (!packed())
      pack(firstColumn, begin, count);
    k.loop(firstColumn, endColumn, blocking.panel, [&](Value column) {
      Value number = k.div(k.sub(column, firstColumn), blocking.panel);
      Source source =
          packed() ? panelAt(k.div(column, blocking.panel), begin)
                   : Source{scratch, k.mul(number, blocking.depth), k.index(0)};
      Value sums = k.add(k.mul(number, blocking.rows), blocking.packedRows());
      k.loop(firstRow, endRow, k.rows, [&](Value row) {
        multiply({k.rows,
                  row,
                  column,
                  begin,
                  count,
                  k.add(sums, k.sub(row, firstRow)),
                  {source}});
      });
    });
  });
}

// --- few rows ---

/// Columns whose sums for few rows fit the scratch.
int64_t Projection::streamedColumns() const {
  return blocking.scratchRows() / k.rows * blocking.panel;
}

/// All rows, at most `count`; the last panel moves back.
void Projection::stream(int64_t count, Value firstColumn) {
  Value end = k.min(width, k.add(firstColumn, streamedColumns()));
  Value last = k.sub(end, k.index(blocking.panel));
  steps(streamedRows, [&](Value begin, Value steps) {
    k.loop(firstColumn, end, blocking.panel, [&](Value next) {
      Value number = k.div(k.sub(next, firstColumn), blocking.panel);
      Value column = k.min(next, last);
      multiply({count,
                k.index(0),
                column,
                begin,
                steps,
                k.mul(number, k.rows),
                {{weight, begin, column}}});
    });
  });
}

/// One row and `count` panels at a time; the last ones move back.
void Projection::sideBySide(int64_t count) {
  Value panels = k.div(k.add(width, blocking.panel - 1), blocking.panel);
  Value last = k.sub(panels, k.index(count));
  k.loop(k.index(0), panels, count, [&](Value next) {
    Value first = k.min(next, last);
    Block block{1,  k.index(0), k.mul(first, blocking.panel), k.index(0), depth,
                {}, {}};
    for (int64_t p = 0; p < count; ++p)
      block.sources.push_back(panelAt(k.add(first, p), k.index(0)));
    multiply(block);
  });
}

// --- all ---

int64_t cpu::projectScratchRows(CPUScheduleAttr schedule) {
  return Blocking(schedule).scratchRows();
}

/// A vector as a matrix of one row.
static Value asRow(KernelBuilder &k, Value vector) {
  auto type = cast<MemRefType>(vector.getType());
  SmallVector<ReassociationIndices> all{{0, 1}};
  OpFoldResult size = memref::getMixedSize(k.builder, k.loc, vector, 0);
  return memref::ExpandShapeOp::create(
      k.builder, k.loc, ArrayRef<int64_t>{1, type.getDimSize(0)}, vector, all,
      ArrayRef<OpFoldResult>{k.builder.getIndexAttr(1), size});
}

void cpu::emitProjectTile(KernelBuilder &k, Value input, Value weight,
                          Value bias, Value out, Value scratch) {
  auto dim = [&](Value matrix, int64_t i) -> Value {
    int64_t size = cast<MemRefType>(matrix.getType()).getDimSize(i);
    return ShapedType::isDynamic(size)
               ? memref::DimOp::create(k.builder, k.loc, matrix, i).getResult()
               : k.index(size);
  };
  Projection p{k,
               input,
               weight,
               bias ? asRow(k, bias) : Value(),
               out,
               scratch,
               dim(out, 0),
               dim(out, 1),
               dim(input, 1),
               Blocking(k.schedule)};
  Value single = k.less(p.rows, k.index(2));
  auto tall = [&] {
    k.loop(k.index(0), p.rows, p.blocking.rows, [&](Value row) {
      k.loop(k.index(0), p.width, p.blocking.panels * p.blocking.panel,
             [&](Value column) { p.tall(column, row); });
    });
  };
  Value some = k.less(k.index(0), p.rows);
  auto stream = [&] {
    k.loop(k.index(0), p.width, p.streamedColumns(), [&](Value column) {
      k.choose(
          single, [&] { p.stream(1, column); },
          [&] { p.stream(k.rows, column); });
    });
  };
  auto both = [&](Value a, Value b) {
    return arith::AndIOp::create(k.builder, k.loc, a, b).getResult();
  };
  if (!p.packed()) {
    Value few = k.less(p.rows, k.index(k.rows + 1));
    Value wide = k.less(k.index(p.blocking.panel - 1), p.width);
    return k.choose(both(few, wide), [&] { k.when(some, stream); }, tall);
  }
  int64_t count = std::max<int64_t>(1, 8 / k.vectors);
  Value wide = k.less(k.index((count - 1) * p.blocking.panel), p.width);
  k.choose(
      both(single, wide), [&] { k.when(some, [&] { p.sideBySide(count); }); },
      tall);
}
