// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What leaves a state: the context, transposed back and divided by the sum, the
// logarithm of the sum, and, where a function returns them, weights and scores.
#include "Build/QueryBlocks.h"
#include "Kernels.h"
#include "Score/Normalization.h"
#include "StageRows.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

using llvm::numbers::ln2;

/// Leaves `value` of each vector of queries in a row that is free by now, and
/// returns the row.
static Value keepRow(KernelBuilder &k, const StateLayout &layout, Value state,
                     Value p, function_ref<Value(Value)> value,
                     StateLayout::Statistic which = StateLayout::Rescale) {
  Value scratch = layout.statistic(k, p, which);
  k.loop(k.index(0), k.index(k.queryBlock), k.lanes,
         [&](Value query) { k.store(value(query), state, scratch, query); });
  return scratch;
}

/// 1 / sum of a vector of queries; 0 where no key was seen, NaN where the sum
/// is.
static Value inverseSum(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value p, Value query) {
  Value sum = k.load(state, layout.statistic(k, p, StateLayout::Sum), query);
  Value none = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, sum, k.splat(0.0));
  Value quotient = arith::DivFOp::create(k.builder, k.loc, k.splat(1.0), sum);
  return k.select(none, k.splat(0.0), quotient);
}

/// All of them in a row of scratch. By sigmoid there is no sum.
static Value inverseSums(KernelBuilder &k, const StateLayout &layout,
                         Value state, Value p) {
  if (layout.sigmoid)
    return {};
  return keepRow(k, layout, state, p, [&](Value query) {
    return inverseSum(k, layout, state, p, query);
  });
}

/// The first lane of a row of one column. A masked store of it, rounded to f16
/// behind shuffles, is wrong code of LLVM 22 for AVX-512 without FP16.
static void storeFirst(KernelBuilder &k, Value line, Value out, Value row,
                       Value column) {
  Value first =
      vector::ExtractOp::create(k.builder, k.loc, line, /*position=*/0);
  Type element = getElementTypeOrSelf(out);
  if (element != first.getType())
    first = arith::TruncFOp::create(k.builder, k.loc, element, first);
  memref::StoreOp::create(k.builder, k.loc, first, out,
                          ValueRange{row, column});
}

/// Rows [from, from + width) of a state.
struct SomeRows {
  Value state, from, width;
};

/// Writes rows of the state's query block p, one value per query each, as
/// columns of `out`, after `map` of the values, the first of their queries and
/// their row. Rows of queries that the tile does not have are left out.
static void writeTransposed(KernelBuilder &k, const SomeRows &rows, Value out,
                            Value p, const QueryBlocks &queryBlocks,
                            function_ref<Value(Value, Value, Value)> map) {
  Value state = rows.state, from = rows.from, width = rows.width;
  Value first = queryBlocks.first(p), end = queryBlocks.end(p);
  int64_t columns = cast<MemRefType>(out.getType()).getDimSize(1);
  int64_t groups = (columns + k.lanes - 1) / k.lanes;
  auto square = [&](Value column, Value query, Value mask, bool complete) {
    Values lines;
    for (int64_t i = 0; i < k.lanes; ++i) {
      Value line = k.index(i);
      if (mask) // stay inside the state
        line = k.min(line, k.sub(width, k.index(1)));
      Value row = k.add(k.add(from, column), line);
      lines.push_back(map(k.load(state, row, query), query, row));
    }
    Value begin = k.add(first, query);
    for (auto [i, result] : llvm::enumerate(k.transpose(lines))) {
      Value line = result, row = k.add(begin, i);
      auto store = [&] {
        if (columns == 1)
          return storeFirst(k, line, out, row, column);
        k.storeRow(line, out, row, column, mask);
      };
      if (complete)
        store();
      else
        k.when(k.less(row, end), store);
    }
  };
  auto write = [&](bool complete) {
    k.columnGroups(width, [&](Value column, Value mask) {
      if (complete)
        k.prefetchTurn(out, k.add(first, k.queryBlock), k.div(column, k.lanes),
                       k.queryBlock, groups, /*isWrite=*/true);
      k.loop(k.index(0), k.index(k.queryBlock), k.lanes,
             [&](Value query) { square(column, query, mask, complete); });
    });
  };
  k.choose(
      k.less(k.add(first, k.queryBlock - 1), end), [&] { write(true); },
      [&] { write(false); });
}

/// Writes row `row` of the state's query block p as elements of `numbers`, one
/// per query that the tile has.
static void writeRow(KernelBuilder &k, Value state, Value row, Value numbers,
                     Value p, const QueryBlocks &queryBlocks) {
  Value first = queryBlocks.first(p), count = k.sub(queryBlocks.end(p), first);
  k.loop(k.index(0), count, 1, [&](Value i) {
    Value x =
        memref::LoadOp::create(k.builder, k.loc, state, ValueRange{row, i});
    memref::StoreOp::create(k.builder, k.loc, x, numbers,
                            ValueRange{k.add(first, i)});
  });
}

/// ln(sum of exponentials) = maximum * ln 2 + ln(sum); -inf for no key.
static void writeLse(KernelBuilder &k, const StateLayout &layout, Value state,
                     Value p, Value lse, const QueryBlocks &queryBlocks) {
  Value row = keepRow(k, layout, state, p, [&](Value query) {
    Value sum = k.load(state, layout.statistic(k, p, StateLayout::Sum), query);
    Value maximum =
        k.load(state, layout.statistic(k, p, StateLayout::Maximum), query);
    Value log = math::LogOp::create(k.builder, k.loc, sum);
    Value none = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::OEQ, sum, k.splat(0.0));
    Value result = k.fma(maximum, k.splat(ln2), log);
    return k.select(none, k.infinity(), result);
  });
  writeRow(k, state, row, lse, p, queryBlocks);
}

void cpu::emitFinalize(KernelBuilder &k, const StateLayout &layout, Value state,
                       Value out, Value lse) {
  Value queryCount = memref::DimOp::create(k.builder, k.loc, out, 0);
  QueryBlocks queryBlocks(k, queryCount);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    Value inverse = inverseSums(k, layout, state, p);
    writeTransposed(
        k, {state, layout.accumulator(k, p), k.index(layout.valueDim)}, out, p,
        queryBlocks, [&](Value x, Value query, Value) {
          return layout.sigmoid ? x : k.mulf(x, k.load(state, inverse, query));
        });
    if (lse)
      writeLse(k, layout, state, p, lse, queryBlocks);
  });
}

void cpu::emitFinalizeDifference(KernelBuilder &k, const StateLayout &layout,
                                 Value first, Value second, Value lambda,
                                 Value out) {
  Value queryCount = memref::DimOp::create(k.builder, k.loc, out, 0);
  QueryBlocks queryBlocks(k, queryCount);
  Value factor = k.broadcast(lambda), zero = k.splat(0.0);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    if (layout.sigmoid) {
      // As they are. A row that saw no key gives 0 here, too.
      writeTransposed(
          k, {first, layout.accumulator(k, p), k.index(layout.valueDim)}, out,
          p, queryBlocks, [&](Value x, Value query, Value row) {
            Value other = k.load(second, row, query);
            Value none = arith::CmpFOp::create(
                k.builder, k.loc, arith::CmpFPredicate::OEQ, other, zero);
            Value rest = k.fma(other, k.subf(zero, factor), x);
            return k.select(none, x, rest);
          });
      return;
    }
    Value inverse = inverseSums(k, layout, first, p);
    Value subtracted = keepRow(k, layout, second, p, [&](Value query) {
      // A row that saw no key gives 0, also if lambda is not finite.
      Value x = inverseSum(k, layout, second, p, query);
      Value none = arith::CmpFOp::create(k.builder, k.loc,
                                         arith::CmpFPredicate::OEQ, x, zero);
      return k.select(none, zero, k.mulf(x, k.subf(zero, factor)));
    });
    writeTransposed(k,
                    {first, layout.accumulator(k, p), k.index(layout.valueDim)},
                    out, p, queryBlocks, [&](Value x, Value query, Value row) {
                      Value own = k.mulf(x, k.load(first, inverse, query));
                      Value other = k.load(second, row, query);
                      Value share = k.load(second, subtracted, query);
                      return k.fma(other, share, own);
                    });
  });
}

/// One column of a matrix.
static Value columnOf(KernelBuilder &k, Value matrix, int64_t column) {
  auto type = cast<MemRefType>(matrix.getType());
  auto attr = [&](int64_t value) { return k.builder.getIndexAttr(value); };
  SmallVector<OpFoldResult> offsets{attr(0), attr(column)},
      sizes{memref::getMixedSize(k.builder, k.loc, matrix, 0), attr(1)},
      strides(2, attr(1));
  auto vector = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(0)}, type, offsets, sizes, strides));
  return memref::SubViewOp::create(k.builder, k.loc, vector, matrix, offsets,
                                   sizes, strides);
}

void cpu::emitSaveState(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value part) {
  Value queryCount = memref::DimOp::create(k.builder, k.loc, part, 0);
  QueryBlocks queryBlocks(k, queryCount);
  Value maxima = columnOf(k, part, layout.valueDim),
        sums = columnOf(k, part, layout.valueDim + 1);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    writeTransposed(
        k, {state, layout.accumulator(k, p), k.index(layout.valueDim)}, part, p,
        queryBlocks, [](Value x, Value, Value) { return x; });
    writeRow(k, state, layout.statistic(k, p, StateLayout::Maximum), maxima, p,
             queryBlocks);
    writeRow(k, state, layout.statistic(k, p, StateLayout::Sum), sums, p,
             queryBlocks);
  });
}

void cpu::emitReturnState(KernelBuilder &k, const StateLayout &layout,
                          Value state, const StateRows &rows) {
  Value queryCount = memref::DimOp::create(k.builder, k.loc, rows.acc, 0);
  QueryBlocks queryBlocks(k, queryCount);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    auto statistic = [&](StateLayout::Statistic which, Value query) {
      return k.load(state, layout.statistic(k, p, which), query);
    };
    Value maxima = layout.statistic(k, p, StateLayout::NextMaximum);
    Value factors = keepRow(k, layout, state, p, [&](Value query) {
      Value maximum = statistic(StateLayout::Maximum, query);
      Value sum = statistic(StateLayout::Sum, query);
      NaturalMaximum natural = naturalMaximum(k, maximum, sum);
      k.store(natural.maximum, state, maxima, query);
      return natural.factor;
    });
    writeRow(k, state, maxima, rows.maximum, p, queryBlocks);
    auto scaledSum = [&](Value query) {
      Value sum = statistic(StateLayout::Sum, query);
      return k.mulf(sum, k.load(state, factors, query));
    };
    Value sums =
        keepRow(k, layout, state, p, scaledSum, StateLayout::NextMaximum);
    writeRow(k, state, sums, rows.sum, p, queryBlocks);
    writeTransposed(k,
                    {state, layout.accumulator(k, p), k.index(layout.valueDim)},
                    rows.acc, p, queryBlocks, [&](Value x, Value query, Value) {
                      return k.mulf(x, k.load(state, factors, query));
                    });
  });
}

void cpu::emitWeigh(KernelBuilder &k, const StateLayout &layout,
                    const TileOperands &operands, Value weights, Value scores,
                    std::optional<ScoresStage> stage, double scale) {
  TileOperands tile = operands;
  stageKeys(k, layout, tile);
  ScoreTile scoreTile(k, layout, tile);
  const QueryBlocks &queryBlocks = scoreTile.queryBlocks;
  ScoreTile::Options options;
  options.updateMaximum = false;
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    Value first = layout.weights(k, p);
    if (weights) {
      scoreTile.computeScores(p, scoreTile.allKeys(), options);
      Value inverse = inverseSums(k, layout, tile.state, p);
      Value maxima = layout.statistic(k, p, StateLayout::Maximum);
      Value lowest = k.infinity();
      writeTransposed(
          k, {tile.state, first, scoreTile.keyCount}, weights, p, queryBlocks,
          [&](Value x, Value query, Value) {
            // Also in a row that holds a NaN, an excluded pair has weight 0.
            Value excluded = arith::CmpFOp::create(
                k.builder, k.loc, arith::CmpFPredicate::OEQ, x, lowest);
            auto weigh = [&](Value maximum) {
              Value power = k.exp2(k.subf(x, maximum))[0];
              return k.mulf(power, k.load(tile.state, inverse, query));
            };
            Value weight = layout.sigmoid
                               ? sigmoid(k, x)
                               : weigh(k.load(tile.state, maxima, query));
            return k.select(excluded, k.splat(0.0), weight);
          });
    }
    if (scores) {
      ScoreTile::Options stageOptions = options;
      stageOptions.function = *stage >= ScoresStage::Modified;
      stageOptions.bias = *stage >= ScoresStage::Biased;
      stageOptions.mask = *stage >= ScoresStage::Masked;
      scoreTile.computeScores(p, scoreTile.allKeys(), stageOptions);
      double unit = *stage == ScoresStage::Raw ? ln2 / scale : ln2;
      writeTransposed(
          k, {tile.state, first, scoreTile.keyCount}, scores, p, queryBlocks,
          [&](Value x, Value, Value) { return k.mulf(x, k.splat(unit)); });
    }
  });
}
