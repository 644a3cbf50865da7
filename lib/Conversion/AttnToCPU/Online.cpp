// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax on a tile of keys:
//   1. scores of all panels, and softmax of each (ScoreTile, softmaxTile)
//   2. O^T[d][query] = a * O^T + V[key, d] * P^T[key][query] of all panels
// Two passes over the panels keep K in the level-1 cache during the first and V
// during the second.
#include "Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::safeMaximum(KernelBuilder &k, Value maximum) {
  Value none = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, maximum, k.infinity());
  return k.select(none, k.splat(0.0), maximum);
}

/// Scores of the keys [begin, end) become weights; m, l and a are updated.
static void softmaxTile(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value p, Value begin, Value end) {
  constexpr int64_t rowsInFlight = 2;
  Value weights = layout.weights(k, p);
  auto statisticRow = [&](StateLayout::Statistic which) {
    return layout.statistic(k, p, which);
  };
  auto column = [&](int64_t v) { return k.index(v * k.lanes); };
  Values next, safe, sums;
  for (int64_t v = 0; v < k.vectors; ++v) {
    next.push_back(
        k.load(state, statisticRow(StateLayout::NextMaximum), column(v)));
    safe.push_back(safeMaximum(k, next.back()));
    sums.push_back(k.splat(0.0));
  }
  auto exponentials = [&](Value key, int64_t count, ValueRange carried) {
    Values differences, result(carried);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t v = 0; v < k.vectors; ++v)
        differences.push_back(k.subf(
            k.load(state, k.add(weights, k.add(key, i)), column(v)), safe[v]));
    for (auto [i, weight] : llvm::enumerate(k.exp2(differences))) {
      int64_t v = i % k.vectors;
      k.store(weight, state, k.add(weights, k.add(key, i / k.vectors)),
              column(v));
      result[v] = k.addf(result[v], weight);
    }
    return result;
  };
  Value count = k.sub(end, begin);
  Value middle = k.add(begin, k.mul(k.div(count, rowsInFlight), rowsInFlight));
  sums = k.loop(begin, middle, rowsInFlight, sums,
                [&](Value key, ValueRange carried) {
                  return exponentials(key, rowsInFlight, carried);
                });
  sums = k.loop(middle, end, 1, sums, [&](Value key, ValueRange carried) {
    return exponentials(key, 1, carried);
  });
  Values changes;
  for (int64_t v = 0; v < k.vectors; ++v)
    changes.push_back(k.subf(
        k.load(state, statisticRow(StateLayout::Maximum), column(v)), safe[v]));
  Values rescale = k.exp2(changes);
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value old = k.load(state, statisticRow(StateLayout::Sum), column(v));
    k.store(k.fma(old, rescale[v], sums[v]), state,
            statisticRow(StateLayout::Sum), column(v));
    k.store(next[v], state, statisticRow(StateLayout::Maximum), column(v));
    k.store(rescale[v], state, statisticRow(StateLayout::Rescale), column(v));
  }
}

/// context = a * context + weights * value for the keys [begin, end). The
/// tile's part is summed by itself: then the rounding errors of long sequences
/// grow with the number of tiles, not of keys.
static void contextTile(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value value, Value p, Value begin,
                        Value end) {
  Value weights = layout.weights(k, p), context = layout.context(k, p);
  Value rescaleRow = layout.statistic(k, p, StateLayout::Rescale);
  Values rescale;
  for (int64_t v = 0; v < k.vectors; ++v)
    rescale.push_back(k.load(state, rescaleRow, k.index(v * k.lanes)));
  for (RowBlocks blocks : balancedBlocks(layout.valueDim, k.rows)) {
    k.loop(
        k.index(blocks.begin), k.index(blocks.end), blocks.size, [&](Value d) {
          RegisterTile acc;
          Values rows;
          for (int64_t r = 0; r < blocks.size; ++r) {
            rows.push_back(k.add(context, k.add(d, r)));
            acc.emplace_back();
            acc.back().assign(k.vectors, k.splat(0.0));
          }
          acc = k.multiply(
              begin, end, acc,
              [&](int64_t r, Value key) {
                return k.loadBroadcast(value, key, k.add(d, r));
              },
              [&](Value key, int64_t v) {
                return k.load(state, k.add(weights, key), k.index(v * k.lanes));
              });
          for (int64_t r = 0; r < blocks.size; ++r)
            for (int64_t v = 0; v < k.vectors; ++v) {
              Value column = k.index(v * k.lanes);
              Value old = k.load(state, rows[r], column);
              k.store(k.fma(old, rescale[v], acc[r][v]), state, rows[r],
                      column);
            }
        });
  }
}

/// The same where a value may be infinite or NaN: a weight of 0 contributes
/// nothing. Rare, so small rather than fast; finite values are added in the
/// same order, so that what an excluded value holds changes no bit.
static void strictContextTile(KernelBuilder &k, const StateLayout &layout,
                              Value state, Value value, Value p, Value begin,
                              Value end) {
  Value weights = layout.weights(k, p), context = layout.context(k, p);
  Value rescaleRow = layout.statistic(k, p, StateLayout::Rescale);
  Value zero = k.splat(0.0);
  k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes), row = k.add(context, d);
      Value rescale = k.load(state, rescaleRow, column);
      Values sum = k.loop(begin, end, 1, zero, [&](Value key, ValueRange acc) {
        Value weight = k.load(state, k.add(weights, key), column);
        Value next = k.fma(weight, k.loadBroadcast(value, key, d), acc[0]);
        Value none = arith::CmpFOp::create(
            k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, zero);
        return Values{k.select(none, acc[0], next)};
      });
      Value old = k.load(state, row, column);
      k.store(k.fma(old, rescale, sum[0]), state, row, column);
    }
  });
}

Value cpu::allFinite(KernelBuilder &k, Value value, Value count,
                     int64_t valueDim) {
  Value zero = k.splat(0.0);
  Values sum =
      k.loop(k.index(0), count, 1, zero, [&](Value key, ValueRange carried) {
        Value acc = carried[0];
        // Groups of columns, the last one moved back; narrow rows by a mask.
        int64_t width = valueDim;
        if (width < k.lanes) {
          Value mask = vector::CreateMaskOp::create(
              k.builder, k.loc, k.boolVectorType, ValueRange{k.index(width)});
          return Values{
              k.fma(k.loadRow(value, key, k.index(0), mask), zero, acc)};
        }
        for (int64_t c = 0; c < width; c += k.lanes)
          acc = k.fma(k.load(value, key, k.index(std::min(c, width - k.lanes))),
                      zero, acc);
        return Values{acc};
      });
  Value ordered = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::ORD, sum[0], sum[0]);
  return vector::ReductionOp::create(k.builder, k.loc,
                                     vector::CombiningKind::AND, ordered);
}

void cpu::emitOnline(KernelBuilder &k, const StateLayout &layout,
                     const TileOperands &operands, Value value, bool strict) {
  ScoreTile::Options options;
  options.nextKey = operands.key;
  options.nextValue = value;
  TileOperands tile = operands;
  tile.key = stageRows(k, layout, operands.state, operands.key,
                       layout.stagedKeyBegin());
  value =
      stageRows(k, layout, operands.state, value, layout.stagedValueBegin());
  ScoreTile scoreTile(k, layout, tile);
  auto eachPanel = [&](function_ref<void(Value, const PanelKeys &)> body) {
    k.loop(k.index(0), scoreTile.panelCount, 1, [&](Value p) {
      PanelKeys keys = scoreTile.visibleKeys(p);
      k.when(k.less(keys.begin, keys.end), [&] { body(p, keys); });
    });
  };
  eachPanel([&](Value p, const PanelKeys &keys) {
    scoreTile.computeScores(p, keys, options);
    softmaxTile(k, layout, operands.state, p, keys.begin, keys.end);
  });
  auto accumulate = [&] {
    eachPanel([&](Value p, const PanelKeys &keys) {
      contextTile(k, layout, operands.state, value, p, keys.begin, keys.end);
    });
  };
  if (!strict)
    return accumulate();
  k.choose(allFinite(k, value, scoreTile.keyCount, layout.valueDim), accumulate,
           [&] {
             eachPanel([&](Value p, const PanelKeys &keys) {
               strictContextTile(k, layout, operands.state, value, p,
                                 keys.begin, keys.end);
             });
           });
}

void cpu::emitMerge(KernelBuilder &k, const StateLayout &layout, Value into,
                    Value from) {
  k.loop(k.index(0), k.index(layout.panels), 1, [&](Value p) {
    Value maximumRow = layout.statistic(k, p, StateLayout::Maximum);
    Value sumRow = layout.statistic(k, p, StateLayout::Sum);
    Value context = layout.context(k, p);
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes);
      Value a = k.load(into, maximumRow, column),
            b = k.load(from, maximumRow, column);
      Value maximum = k.maxf(a, b), safe = safeMaximum(k, maximum);
      Values factors = k.exp2({k.subf(a, safe), k.subf(b, safe)});
      auto combine = [&](Value row) {
        Value first = k.mulf(k.load(into, row, column), factors[0]);
        k.store(k.fma(k.load(from, row, column), factors[1], first), into, row,
                column);
      };
      combine(sumRow);
      k.store(maximum, into, maximumRow, column);
      k.store(maximum, into, layout.statistic(k, p, StateLayout::NextMaximum),
              column);
      k.loop(k.index(0), k.index(layout.valueDim), 1,
             [&](Value d) { combine(k.add(context, d)); });
    }
  });
}
