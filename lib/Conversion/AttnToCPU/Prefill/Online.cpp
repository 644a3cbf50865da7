// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax on a tile of keys:
//   1. scores of all query blocks, and softmax of each (ScoreTile, softmaxTile)
//   2. O^T[d][query] = a * O^T + V[key, d] * P^T[key][query] of all query
//   blocks
// Two passes over the query blocks keep K in the level-1 cache during the first
// and V during the second; V is converted or paired between them, in the place
// of the converted K. Two maps take the first pass one after the other, and
// then the second: they share V. By sigmoid, every score becomes a weight by
// itself: there is no maximum, no sum, and a is 1.
#include "Build/Pairs.h"
#include "Build/QueryBlocks.h"
#include "Build/TileProducts.h"
#include "Kernels.h"
#include "Score/Dropout.h"
#include "Score/Normalization.h"
#include "StageRows.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// The scores of query block p for the keys [begin, end); `factor` (may be
/// null) takes them to units of log2.
struct QueryBlockScores {
  Value state, p, begin, end, factor;
};

/// What the weights of some columns have; `safe` is `next` where it is a
/// number.
struct ColumnSums {
  Values sums, next, safe;
};
} // namespace

/// l, m and a of columns of query block p.
static void updateStatistics(KernelBuilder &k, const StateLayout &layout,
                             Value state, Value p, const Values &columns,
                             const ColumnSums &found) {
  const auto &[sums, next, safe] = found;
  auto statisticRow = [&](StateLayout::Statistic which) {
    return layout.statistic(k, p, which);
  };
  Values changes;
  for (auto [column, maximum] : llvm::zip_equal(columns, safe))
    changes.push_back(k.subf(
        k.load(state, statisticRow(StateLayout::Maximum), column), maximum));
  Values rescale = k.exp2(changes);
  for (auto [v, column] : llvm::enumerate(columns)) {
    Value old = k.load(state, statisticRow(StateLayout::Sum), column);
    k.store(k.fma(old, rescale[v], sums[v]), state,
            statisticRow(StateLayout::Sum), column);
    k.store(next[v], state, statisticRow(StateLayout::Maximum), column);
    k.store(rescale[v], state, statisticRow(StateLayout::Rescale), column);
  }
}

/// Products of larger maxima with `factor` leave more behind rounding, which an
/// FMA adds, than exp2 takes.
static constexpr double largestMaximum = 0x1p30;

/// What scores are still to be multiplied by: 1 where a maximum is so large
/// that all of these columns are multiplied by `factor` and rounded here.
static Value scaleLarge(KernelBuilder &k, Value weights,
                        const QueryBlockScores &scores, const Values &columns,
                        const Values &maxima) {
  Value isLarge;
  for (Value maximum : maxima) {
    Value size = math::AbsFOp::create(k.builder, k.loc, maximum);
    Value large =
        arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OGT, size,
                              k.splat(largestMaximum));
    isLarge = isLarge ? arith::OrIOp::create(k.builder, k.loc, isLarge, large)
                      : large;
  }
  Value any = vector::ReductionOp::create(k.builder, k.loc,
                                          vector::CombiningKind::OR, isLarge);
  k.when(any, [&] {
    k.loop(scores.begin, scores.end, 1, [&](Value key) {
      for (Value column : columns) {
        Value row = k.add(weights, key);
        k.store(k.mulf(k.load(scores.state, row, column), scores.factor),
                scores.state, row, column);
      }
    });
  });
  return k.select(any, k.splat(1.0), scores.factor);
}

/// Scores become weights; m, l and a are updated. Pairs of weights overwrite
/// scores of keys that have been read.
static void softmaxColumns(KernelBuilder &k, const StateLayout &layout,
                           const QueryBlockScores &scores,
                           const Values &columns, int64_t keysInFlight) {
  Value state = scores.state, p = scores.p, factor = scores.factor;
  Value begin = scores.begin, end = scores.end;
  int64_t vectors = columns.size();
  Value weights = layout.weights(k, p);
  Value maximumRow = layout.statistic(k, p, StateLayout::NextMaximum);
  Values next, safe, negated, sums;
  for (Value column : columns) {
    next.push_back(k.load(state, maximumRow, column));
    safe.push_back(safeMaximum(k, next.back()));
    sums.push_back(k.splat(0.0));
    negated.push_back(k.subf(k.splat(0.0), safe.back()));
  }
  if (factor)
    factor = scaleLarge(k, weights, scores, columns, safe);
  auto exponentials = [&](Value key, int64_t count, ValueRange carried) {
    Values differences, result(carried);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t v = 0; v < vectors; ++v) {
        Value score = k.load(state, k.add(weights, k.add(key, i)), columns[v]);
        differences.push_back(factor ? k.fma(score, factor, negated[v])
                                     : k.addf(score, negated[v]));
      }
    Values powers = k.exp2(differences, /*rough=*/layout.pairs);
    for (auto [i, weight] : llvm::enumerate(powers)) {
      int64_t v = i % vectors;
      if (!layout.pairs)
        k.store(weight, state, k.add(weights, k.add(key, i / vectors)),
                columns[v]);
      result[v] = k.addf(result[v], weight);
    }
    for (int64_t v = 0; layout.pairs && v < vectors; ++v) {
      Value second = count == 2 ? powers[vectors + v] : k.splat(0.0);
      k.store(packPairs(k, powers[v], second), state,
              k.add(weights, k.div(key, 2)), columns[v]);
    }
    return result;
  };
  Value count = k.sub(end, begin);
  Value middle = k.add(begin, k.mul(k.div(count, keysInFlight), keysInFlight));
  sums = k.loop(begin, middle, keysInFlight, sums,
                [&](Value key, ValueRange carried) {
                  return exponentials(key, keysInFlight, carried);
                });
  sums = k.loop(middle, end, 1, sums, [&](Value key, ValueRange carried) {
    return exponentials(key, 1, carried);
  });
  updateStatistics(k, layout, state, p, columns, {sums, next, safe});
}

/// The same for all columns: two keys at a time, or, of three vectors, which
/// only 16 registers have, vector by vector, since six exponentials would
/// spill.
static void softmaxTile(KernelBuilder &k, const StateLayout &layout,
                        const QueryBlockScores &scores) {
  auto softmax = [&](const Values &columns, int64_t keysInFlight) {
    softmaxColumns(k, layout, scores, columns, keysInFlight);
  };
  Values columns;
  for (int64_t v = 0; v < k.vectors; ++v)
    columns.push_back(k.index(v * k.lanes));
  if (layout.pairs || k.vectors != 3)
    softmax(columns, 2);
  else
    k.loop(k.index(0), k.index(k.queryBlock), k.lanes,
           [&](Value column) { softmax({column}, 4); });
  if (layout.tiles) { // a product takes 32 keys at once
    Value last =
        k.mul(k.div(k.add(scores.end, tileNumbers - 1), tileNumbers), tileSize);
    k.loop(pairCount(k, scores.end), last, 1, [&](Value pair) {
      for (Value column : columns)
        k.store(k.splat(0.0), scores.state,
                k.add(layout.weights(k, scores.p), pair), column);
    });
  }
}

/// Scores of the keys [begin, end) become weights, each by itself.
static void sigmoidTile(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value p, Value begin, Value end) {
  Value weights = layout.weights(k, p);
  k.loop(begin, end, 1, [&](Value key) {
    Value row = k.add(weights, key);
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes);
      k.store(sigmoid(k, k.load(state, row, column)), state, row, column);
    }
  });
}

/// accumulator = a * accumulator + weights * value for the keys, or pairs of
/// keys, [begin, end). The tile's part is summed by itself: then the rounding
/// errors of long sequences grow with the number of tiles, not of keys.
static void contextTile(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value value, Value p, Value begin,
                        Value end) {
  Value weights = layout.weights(k, p), accumulator = layout.accumulator(k, p);
  Value rescaleRow = layout.statistic(k, p, StateLayout::Rescale);
  Values rescale;
  for (int64_t v = 0; v < k.vectors && !layout.sigmoid; ++v)
    rescale.push_back(k.load(state, rescaleRow, k.index(v * k.lanes)));
  for (RowBlocks blocks : balancedBlocks(layout.valueDim, k.rows)) {
    k.loop(
        k.index(blocks.begin), k.index(blocks.end), blocks.size, [&](Value d) {
          RegisterTile acc;
          Values rows;
          for (int64_t r = 0; r < blocks.size; ++r) {
            rows.push_back(k.add(accumulator, k.add(d, r)));
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
              Value sum = layout.sigmoid ? k.addf(old, acc[r][v])
                                         : k.fma(old, rescale[v], acc[r][v]);
              k.store(sum, state, rows[r], column);
            }
        });
  }
}

/// The same where a value may be infinite or NaN: a weight of 0 contributes
/// nothing. Rare, so small rather than fast; `value` is not in pairs. Finite
/// values are added in the same order, so that what an excluded value holds
/// changes no bit, but for pairs and tiles, whose instructions have an order of
/// their own.
static void strictContextTile(KernelBuilder &k, const StateLayout &layout,
                              Value state, Value value, Value p, Value begin,
                              Value end) {
  Value weights = layout.weights(k, p), accumulator = layout.accumulator(k, p);
  Value rescaleRow = layout.statistic(k, p, StateLayout::Rescale);
  Value count = memref::DimOp::create(k.builder, k.loc, value, 0);
  Value lastKey = k.sub(count, k.index(1)), zero = k.splat(0.0);
  auto add = [&](Value acc, Value weight, Value key, Value d) {
    Value next = k.fma(weight, k.loadBroadcast(value, key, d), acc);
    Value none = arith::CmpFOp::create(k.builder, k.loc,
                                       arith::CmpFPredicate::OEQ, weight, zero);
    return k.select(none, acc, next);
  };
  k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes), row = k.add(accumulator, d);
      Values sum = k.loop(begin, end, 1, zero, [&](Value i, ValueRange acc) {
        Value weight = k.load(state, k.add(weights, i), column);
        if (!layout.pairs)
          return Values{add(acc[0], weight, i, d)};
        Value first = k.mul(i, 2), second = k.min(k.add(first, 1), lastKey);
        Value next = add(acc[0], unpackPairs(k, weight, false), first, d);
        return Values{add(next, unpackPairs(k, weight, true), second, d)};
      });
      Value old = k.load(state, row, column);
      Value next = layout.sigmoid
                       ? k.addf(old, sum[0])
                       : k.fma(old, k.load(state, rescaleRow, column), sum[0]);
      k.store(next, state, row, column);
    }
  });
}

/// Calls `body` with the query blocks that see a key of the tile. There is code
/// for narrow query blocks where every key is seen; tiles on the edge are few,
/// and what they compute for queries that a query block lacks, nobody reads.
static void eachBlock(
    ScoreTile &tile,
    function_ref<void(ScoreTile &, Value p, const QueryBlockKeys &)> body) {
  KernelBuilder &k = tile.k;
  k.loop(k.index(0), tile.queryBlocks.count, 1, [&](Value p) {
    QueryBlockKeys keys = tile.visibleKeys(p);
    k.when(k.less(keys.begin, keys.end), [&] {
      Value whole = tile.queryBlocks.isWhole(p);
      if (!whole || tile.tile.mask)
        return body(tile, p, keys);
      k.choose(
          whole, [&] { body(tile, p, keys); },
          [&] {
            KernelBuilder narrower = k.narrower();
            ScoreTile narrowTile(narrower, tile);
            body(narrowTile, p, keys);
          });
    });
  });
}

/// Scores, then weights, of one map.
static void weightsOfMap(ScoreTile &scoreTile, ScoreTile::Options options) {
  const StateLayout &layout = scoreTile.layout;
  Value state = scoreTile.tile.state;
  Value factor = options.scaled ? Value() : scoreTile.factor;
  eachBlock(
      scoreTile, [&](ScoreTile &tile, Value p, const QueryBlockKeys &keys) {
        tile.computeScores(p, keys, options);
        if (layout.sigmoid)
          sigmoidTile(tile.k, layout, state, p, keys.begin, keys.end);
        else
          softmaxTile(tile.k, layout, {state, p, keys.begin, keys.end, factor});
        if (const auto &dropout = tile.tile.dropout)
          dropWeights(
              tile.k, *dropout,
              {tile.firstQuery(p), tile.tile.keyBegin, keys.begin, keys.end},
              state, layout.weights(tile.k, p));
      });
}

void cpu::emitOnline(KernelBuilder &k, const StateLayout &layout,
                     ArrayRef<TileOperands> maps, Value value, bool strict) {
  SmallVector<TileOperands, 2> tiles(maps); // of which scores keep a reference
  for (TileOperands &tile : tiles)
    stageKeys(k, layout, tile);
  SmallVector<ScoreTile, 0> scoreTiles;
  for (auto [map, tile] : llvm::zip(maps, tiles)) {
    ScoreTile::Options options;
    options.nextKey = map.key;
    options.value = scoreTiles.empty() ? value : Value();
    options.prefetch = scoreTiles.empty() ? map.prefetch : ValueRange();
    options.scaled = tile.function || tile.bias;
    options.updateMaximum = !layout.sigmoid;
    scoreTiles.emplace_back(k, layout, tile);
    weightsOfMap(scoreTiles.back(), options);
  }
  Value staged = stageValues(k, layout, maps.front().state, value);
  // Blocks of an even number of keys begin with a pair.
  auto rowsOf = [&](Value keys) {
    return layout.pairs ? pairCount(k, keys) : keys;
  };
  auto eachContext = [&](auto contextOfBlock) {
    for (ScoreTile &scoreTile : scoreTiles)
      eachBlock(scoreTile,
                [&](ScoreTile &tile, Value p, const QueryBlockKeys &keys) {
                  contextOfBlock(tile.k, tile.tile.state, p, keys);
                });
  };
  auto accumulate = [&] {
    eachContext([&](KernelBuilder &queryBlock, Value state, Value p,
                    const QueryBlockKeys &keys) {
      if (layout.tiles)
        emitContextOfTiles(queryBlock, layout, state, staged, p, keys.begin,
                           keys.end);
      else
        contextTile(queryBlock, layout, state, staged, p, rowsOf(keys.begin),
                    rowsOf(keys.end));
    });
  };
  if (!strict)
    return accumulate();
  Value count = scoreTiles.front().keyCount;
  Value finite = layout.tiles
                     ? allFiniteTransposed(k, layout, staged, count)
                     : allFinite(k, staged, rowsOf(count), layout.valueDim);
  k.choose(finite, accumulate, [&] {
    eachContext([&](KernelBuilder &queryBlock, Value state, Value p,
                    const QueryBlockKeys &keys) {
      strictContextTile(queryBlock, layout, state,
                        layout.pairs ? value : staged, p, rowsOf(keys.begin),
                        rowsOf(keys.end));
    });
  });
}

/// Without maximum and sum, contexts are added.
static void addContexts(KernelBuilder &k, const StateLayout &layout, Value into,
                        Value from) {
  k.loop(k.index(0), k.index(layout.queryBlocks * layout.valueDim), 1,
         [&](Value r) {
           Value row = k.add(r, layout.contextBegin());
           for (int64_t v = 0; v < k.vectors; ++v) {
             Value column = k.index(v * k.lanes);
             k.store(
                 k.addf(k.load(into, row, column), k.load(from, row, column)),
                 into, row, column);
           }
         });
}

void cpu::emitMerge(KernelBuilder &k, const StateLayout &layout, Value into,
                    Value from) {
  if (layout.sigmoid)
    return addContexts(k, layout, into, from);
  k.loop(k.index(0), k.index(layout.queryBlocks), 1, [&](Value p) {
    Value maximumRow = layout.statistic(k, p, StateLayout::Maximum);
    Value sumRow = layout.statistic(k, p, StateLayout::Sum);
    Value accumulator = layout.accumulator(k, p);
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
             [&](Value d) { combine(k.add(accumulator, d)); });
    }
  });
}
