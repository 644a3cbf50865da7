// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of queries against one tile of keys: five products.
//
//   product  lanes     scalars              vectors
//   S^T      queries   key[key][d]          query^T[d][q], packed
//   U^T      queries   value[key][d]        d_out^T[d][q], packed
//   dQ^T     queries   key[key][d]          dS^T[key][q]
//   dV       features  P^T[key][q]          d_out[q][d], the caller's rows
//   dK       features  dS^T[key][q]         query[q][d], the caller's rows
//
// The first two are scores (ScoreTile). Between them and the others,
// p = exp2(s - lse) and ds = p * (u - delta), which are 0 for excluded pairs.
// Nothing of keys and values is packed or transposed; dK and dV are summed in
// their own memory, in the order of the queries.
#include "GradKernels.h"
#include "Score/Normalization.h"
#include "Score/ScoreTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// The two states of a step.
struct Step {
  KernelBuilder &k;
  const GradLayout &layout;
  const GradStep &operands;
  Value queries, cotangents;

  Value weights(Value p) const { return layout.queries.weights(k, p); }
  Value slopes(Value p) const { return layout.cotangents.weights(k, p); }
};

/// Adds products of `weights`, rows of one number per query of a query block,
/// and rows of a matrix to rows of `into`.
struct KeySums {
  Value state, weights; ///< the buffer, and the row of key 0
  Value rows, first;    ///< matrix, and its row of the block's query 0
  Value into;
  int64_t columns; ///< of `rows` and `into`
  Value count;     ///< queries
};
} // namespace

/// Scores and cotangents of `keys` become p and ds.
static void weighPairs(const Step &step, Value p, Value begin, Value end) {
  KernelBuilder &k = step.k;
  const StateLayout &layout = step.layout.queries;
  Value weights = step.weights(p), slopes = step.slopes(p);
  Value zero = k.splat(0.0), excluded = k.infinity();
  auto isEqual = [&](Value a, Value b) -> Value {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ, a,
                                 b);
  };
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value column = k.index(v * k.lanes);
    auto statistic = [&](StateLayout::Statistic which) {
      return k.load(step.queries, layout.statistic(k, p, which), column);
    };
    Value lse = statistic(GradLayout::Lse),
          delta = statistic(GradLayout::Delta);
    auto weigh = [&](Value key, int64_t count) {
      Values scores, powers;
      for (int64_t i = 0; i < count; ++i) {
        Value row = k.add(weights, k.add(key, i));
        scores.push_back(k.load(step.queries, row, column));
        powers.push_back(k.subf(scores.back(), lse));
      }
      powers = k.exp2(powers);
      for (int64_t i = 0; i < count; ++i) {
        Value power = powers[i];
        if (step.operands.strict) // lse may be NaN
          power = k.select(isEqual(scores[i], excluded), zero, power);
        Value at = k.add(key, i), row = k.add(slopes, at);
        Value u = k.load(step.cotangents, row, column);
        Value slope = k.mulf(power, k.subf(u, delta));
        slope = k.select(isEqual(power, zero), zero, slope);
        k.store(power, step.queries, k.add(weights, at), column);
        k.store(slope, step.cotangents, row, column);
      }
    };
    constexpr int64_t inFlight = 4;
    Value count = k.sub(end, begin);
    Value middle = k.add(begin, k.mul(k.div(count, inFlight), inFlight));
    k.loop(begin, middle, inFlight, [&](Value key) { weigh(key, inFlight); });
    k.loop(middle, end, 1, [&](Value key) { weigh(key, 1); });
  }
}

/// dQ^T += K^T dS^T of query block p.
static void addToQueries(const Step &step, Value p, Value begin, Value end) {
  KernelBuilder &k = step.k;
  const StateLayout &layout = step.layout.queries;
  Value slopes = step.slopes(p), accumulator = layout.accumulator(k, p);
  for (RowBlocks blocks : balancedBlocks(layout.valueDim, k.rows))
    k.loop(k.index(blocks.begin), k.index(blocks.end), blocks.size,
           [&](Value d) {
             RegisterTile acc(blocks.size, Values(k.vectors, k.splat(0.0)));
             acc = k.multiply(
                 begin, end, acc,
                 [&](int64_t r, Value key) {
                   return k.loadBroadcast(step.operands.tile.key, key,
                                          k.add(d, r));
                 },
                 [&](Value key, int64_t v) {
                   return k.load(step.cotangents, k.add(slopes, key),
                                 k.index(v * k.lanes));
                 });
             for (int64_t r = 0; r < blocks.size; ++r)
               for (int64_t v = 0; v < k.vectors; ++v) {
                 Value row = k.add(accumulator, k.add(d, r));
                 Value column = k.index(v * k.lanes);
                 Value old = k.load(step.queries, row, column);
                 k.store(k.addf(old, acc[r][v]), step.queries, row, column);
               }
           });
}

/// The same where a key may be infinite or NaN: a pair without a weight adds
/// nothing. Rare, so small rather than fast.
static void addToQueriesStrictly(const Step &step, Value p, Value begin,
                                 Value end) {
  KernelBuilder &k = step.k;
  const StateLayout &layout = step.layout.queries;
  Value slopes = step.slopes(p), accumulator = layout.accumulator(k, p);
  Value zero = k.splat(0.0);
  k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes), row = k.add(accumulator, d);
      Value sum = k.loop(begin, end, 1, zero, [&](Value key, ValueRange acc) {
        Value slope = k.load(step.cotangents, k.add(slopes, key), column);
        Value element = k.loadBroadcast(step.operands.tile.key, key, d);
        Value next = k.fma(element, slope, acc[0]);
        Value none = arith::CmpFOp::create(
            k.builder, k.loc, arith::CmpFPredicate::OEQ, slope, zero);
        return Values{k.select(none, acc[0], next)};
      })[0];
      Value old = k.load(step.queries, row, column);
      k.store(k.addf(old, sum), step.queries, row, column);
    }
  });
}

/// `height` rows of keys from `key` on, `width` vectors from `column` on.
static void addTile(KernelBuilder &k, const KeySums &sums, Value key,
                    int64_t height, Value column, int64_t width, Value mask) {
  RegisterTile acc(height);
  auto at = [&](int64_t v) { return k.add(column, v * k.lanes); };
  for (int64_t r = 0; r < height; ++r)
    for (int64_t v = 0; v < width; ++v)
      acc[r].push_back(k.loadRow(sums.into, k.add(key, r), at(v), mask));
  acc = k.multiply(
      k.index(0), sums.count, acc,
      [&](int64_t r, Value query) {
        Value row = k.add(sums.weights, k.add(key, r));
        return k.loadBroadcast(sums.state, row, query);
      },
      [&](Value query, int64_t v) {
        return k.loadRow(sums.rows, k.add(sums.first, query), at(v), mask);
      });
  for (int64_t r = 0; r < height; ++r)
    for (int64_t v = 0; v < width; ++v)
      k.storeRow(acc[r][v], sums.into, k.add(key, r), at(v), mask);
}

/// All columns of `height` rows.
static void addStrip(KernelBuilder &k, const KeySums &sums, Value key,
                     int64_t height) {
  int64_t width = k.vectors * k.lanes, columns = sums.columns;
  int64_t looped = columns / width * width;
  k.loop(k.index(0), k.index(looped), width, [&](Value column) {
    addTile(k, sums, key, height, column, k.vectors, Value());
  });
  int64_t vectors = (columns - looped) / k.lanes;
  if (vectors)
    addTile(k, sums, key, height, k.index(looped), vectors, Value());
  int64_t behind = looped + vectors * k.lanes;
  if (behind == columns)
    return;
  Value left = k.index(columns - behind);
  Value mask =
      vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType, left);
  addTile(k, sums, key, height, k.index(behind), 1, mask);
}

/// into[key] += weights[key] * rows for the keys [begin, end).
static void addToKeys(KernelBuilder &k, const KeySums &sums, Value begin,
                      Value end) {
  Value count = k.sub(end, begin);
  Value middle = k.add(begin, k.mul(k.div(count, k.rows), k.rows));
  k.loop(begin, middle, k.rows,
         [&](Value key) { addStrip(k, sums, key, k.rows); });
  k.loop(middle, end, 1, [&](Value key) { addStrip(k, sums, key, 1); });
}

/// The same where an element of `rows` may be infinite or NaN.
static void addToKeysStrictly(KernelBuilder &k, const KeySums &sums,
                              Value begin, Value end) {
  Value zero = k.splat(0.0);
  auto columns = [&](Value key, Value column, Value mask) {
    Value old = k.loadRow(sums.into, key, column, mask);
    Value sum = k.loop(
        k.index(0), sums.count, 1, old, [&](Value query, ValueRange acc) {
          Value weight =
              k.loadBroadcast(sums.state, k.add(sums.weights, key), query);
          Value row = k.add(sums.first, query);
          Value x = k.loadRow(sums.rows, row, column, mask);
          Value next = k.fma(weight, x, acc[0]);
          Value none = arith::CmpFOp::create(
              k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, zero);
          return Values{k.select(none, acc[0], next)};
        })[0];
    k.storeRow(sum, sums.into, key, column, mask);
  };
  int64_t whole = sums.columns / k.lanes * k.lanes;
  k.loop(begin, end, 1, [&](Value key) {
    k.loop(k.index(0), k.index(whole), k.lanes,
           [&](Value column) { columns(key, column, Value()); });
    if (whole == sums.columns)
      return;
    Value left = k.index(sums.columns - whole);
    Value mask =
        vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType, left);
    columns(key, k.index(whole), mask);
  });
}

/// Whether keys, queries and cotangents of the tiles are finite.
static Value allRowsFinite(const Step &step, Value keyCount) {
  KernelBuilder &k = step.k;
  const GradStep &operands = step.operands;
  int64_t keyDim = step.layout.queries.keyDim,
          valueDim = step.layout.cotangents.keyDim;
  Value queries = k.sub(operands.tile.queryEnd, operands.tile.queryBegin);
  Value keys = allFinite(k, operands.tile.key, keyCount, keyDim);
  Value rows = allFinite(k, operands.query, queries, keyDim);
  Value cotangents = allFinite(k, operands.dOut, queries, valueDim);
  Value both = arith::AndIOp::create(k.builder, k.loc, keys, rows);
  return arith::AndIOp::create(k.builder, k.loc, both, cotangents);
}

/// The last three products of query block p.
static void addAll(const Step &step, const ScoreTile &scores, Value p,
                   const QueryBlockKeys &keys, bool strictly) {
  KernelBuilder &k = step.k;
  const GradStep &operands = step.operands;
  Value first = scores.queryBlocks.first(p);
  Value count = k.sub(scores.queryBlocks.end(p), first);
  KeySums ofValues{step.queries, step.weights(p), operands.dOut,
                   first,        operands.dValue, step.layout.cotangents.keyDim,
                   count};
  KeySums ofKeys{step.cotangents,
                 step.slopes(p),
                 operands.query,
                 first,
                 operands.dKey,
                 step.layout.queries.keyDim,
                 count};
  if (strictly) {
    addToQueriesStrictly(step, p, keys.begin, keys.end);
    addToKeysStrictly(k, ofValues, keys.begin, keys.end);
    addToKeysStrictly(k, ofKeys, keys.begin, keys.end);
    return;
  }
  addToQueries(step, p, keys.begin, keys.end);
  addToKeys(k, ofValues, keys.begin, keys.end);
  addToKeys(k, ofKeys, keys.begin, keys.end);
}

void cpu::emitGradStep(KernelBuilder &k, const GradLayout &layout,
                       const GradStep &operands) {
  Value buffer = operands.tile.state;
  Step step{k, layout, operands, layout.queriesOf(k, buffer),
            layout.cotangentsOf(k, buffer)};
  TileOperands ofKeys = operands.tile, ofValues = operands.tile;
  ofKeys.state = step.queries;
  ofValues.state = step.cotangents;
  ofValues.key = operands.value;
  ofValues.bias = Value();
  ofValues.mask = Attribute();
  ofValues.maskOperands.clear();
  ScoreTile scores(k, layout.queries, ofKeys);
  ScoreTile products(k, layout.cotangents, ofValues);
  Value finite;
  if (operands.strict)
    finite = allRowsFinite(step, scores.keyCount);
  ScoreTile::Options options;
  options.updateMaximum = false;
  k.loop(k.index(0), scores.queryBlocks.count, 1, [&](Value p) {
    QueryBlockKeys keys = scores.visibleKeys(p);
    k.when(k.less(keys.begin, keys.end), [&] {
      scores.computeScores(p, keys, options);
      Value count = k.sub(keys.end, keys.begin);
      Value whole = k.mul(k.div(count, k.rows), k.rows);
      products.computeScores(
          p, {keys.begin, keys.begin, k.add(keys.begin, whole), keys.end},
          options);
      weighPairs(step, p, keys.begin, keys.end);
      if (!finite)
        return addAll(step, scores, p, keys, /*strictly=*/false);
      k.choose(
          finite, [&] { addAll(step, scores, p, keys, /*strictly=*/false); },
          [&] { addAll(step, scores, p, keys, /*strictly=*/true); });
    });
  });
}
