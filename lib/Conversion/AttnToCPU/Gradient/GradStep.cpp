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
// p = exp2(s - lse) and ds = p * (u - delta), which are 0 for excluded pairs,
// with all that the score function and the bias have to do with it, in one
// sweep (WeighPairs).
// Nothing of keys and values is packed or transposed; dK and dV are summed in
// their own memory, in the order of the queries.
#include "GradKernels.h"
#include "Prefill/StageRows.h"
#include "Score/Normalization.h"
#include "WeighPairs.h"

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
  ScoreTile &scores;

  Value weights(Value p) const { return layout.queries.weights(k, p); }
  Value slopes(Value p) const { return layout.cotangents.weights(k, p); }
};

/// The keys that each query block sees, where there is a mask: all products by
/// the keys come behind those of all query blocks.
class SeenKeys {
public:
  SeenKeys(KernelBuilder &k, const GradLayout &layout, bool masked) : k(k) {
    if (masked)
      bounds = memref::AllocaOp::create(
          k.builder, k.loc,
          MemRefType::get({layout.queries.queryBlocks, 2},
                          k.builder.getIndexType()));
  }
  void keep(Value p, const QueryBlockKeys &keys) {
    if (!bounds)
      return;
    store(keys.begin, p, 0);
    // None of them may stand within the last rows, where a tile is ragged.
    Value any = k.less(keys.begin, keys.end);
    store(k.select(any, keys.end, k.index(0)), p, 1);
  }
  /// `queries`, or none where query block p sees none of `count` keys.
  Value queriesOf(Value p, Value key, int64_t count, Value queries) const {
    if (!bounds)
      return queries;
    Value inFront = k.less(load(p, 0), k.add(key, count));
    Value behind = k.less(key, load(p, 1));
    Value seen = arith::AndIOp::create(k.builder, k.loc, inFront, behind);
    return k.select(seen, queries, k.index(0));
  }

private:
  void store(Value value, Value p, int64_t i) {
    memref::StoreOp::create(k.builder, k.loc, value, bounds,
                            ValueRange{p, k.index(i)});
  }
  Value load(Value p, int64_t i) const {
    return memref::LoadOp::create(k.builder, k.loc, bounds,
                                  ValueRange{p, k.index(i)});
  }

  KernelBuilder &k;
  Value bounds; // null: each sees all
};

/// into[key] += weights[key] * rows: `weights` has a row of numbers per query
/// block and key, `rows` one per query.
struct KeySums {
  Value state;
  llvm::function_ref<Value(Value p)> weights; ///< row of key 0
  Value rows, into;
  int64_t columns; ///< of `rows` and `into`
  const QueryBlocks &queryBlocks;
  const SeenKeys &seen;
};
} // namespace

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

/// `k.rows` rows of keys from `key` on, `width` vectors from `column` on. Where
/// only some of the rows exist (`count`, or null), the others are computed too,
/// from what the weights' room holds, and dropped.
static void addTile(KernelBuilder &k, const KeySums &sums, Value key,
                    Value count, Value column, int64_t width, Value mask) {
  RegisterTile acc(k.rows);
  auto at = [&](int64_t v) { return k.add(column, v * k.lanes); };
  auto row = [&](int64_t r) {
    if (!count)
      return k.add(key, r);
    return k.add(key, k.min(k.index(r), k.sub(count, k.index(1))));
  };
  for (int64_t r = 0; r < k.rows; ++r)
    for (int64_t v = 0; v < width; ++v)
      acc[r].push_back(k.loadRow(sums.into, row(r), at(v), mask));
  auto addQueries = [&](Value p, ValueRange carried) {
    Value first = sums.queryBlocks.first(p), weights = sums.weights(p);
    Value queries = sums.seen.queriesOf(p, key, k.rows,
                                        k.sub(sums.queryBlocks.end(p), first));
    return flatten(k.multiply(
        k.index(0), queries, unflatten(Values(carried), width),
        [&](int64_t r, Value query) {
          return k.loadBroadcast(sums.state, k.add(weights, k.add(key, r)),
                                 query);
        },
        [&](Value query, int64_t v) {
          return k.loadRow(sums.rows, k.add(first, query), at(v), mask);
        }));
  };
  acc = unflatten(
      k.loop(k.index(0), sums.queryBlocks.count, 1, flatten(acc), addQueries),
      width);
  for (int64_t r = 0; r < k.rows; ++r) {
    auto storeRow = [&] {
      for (int64_t v = 0; v < width; ++v)
        k.storeRow(acc[r][v], sums.into, k.add(key, r), at(v), mask);
    };
    if (count && r)
      k.when(k.less(k.index(r), count), storeRow);
    else
      storeRow();
  }
}

/// All columns of `k.rows` rows.
static void addStrip(KernelBuilder &k, const KeySums &sums, Value key,
                     Value count) {
  int64_t width = k.vectors * k.lanes, columns = sums.columns;
  int64_t looped = columns / width * width;
  k.loop(k.index(0), k.index(looped), width, [&](Value column) {
    addTile(k, sums, key, count, column, k.vectors, Value());
  });
  int64_t vectors = (columns - looped) / k.lanes;
  if (vectors)
    addTile(k, sums, key, count, k.index(looped), vectors, Value());
  int64_t behind = looped + vectors * k.lanes;
  if (behind == columns)
    return;
  Value left = k.index(columns - behind);
  Value mask =
      vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType, left);
  addTile(k, sums, key, count, k.index(behind), 1, mask);
}

/// The sums of `keys` keys.
static void addToKeys(KernelBuilder &k, const KeySums &sums, Value keys) {
  Value whole = k.mul(k.div(keys, k.rows), k.rows);
  k.loop(k.index(0), whole, k.rows,
         [&](Value key) { addStrip(k, sums, key, Value()); });
  k.when(k.less(whole, keys),
         [&] { addStrip(k, sums, whole, k.sub(keys, whole)); });
}

/// The same where an element of `rows` may be infinite or NaN.
static void addToKeysStrictly(KernelBuilder &k, const KeySums &sums,
                              Value keys) {
  Value zero = k.splat(0.0);
  auto addColumns = [&](Value key, Value column, Value mask) {
    Value sum = k.loadRow(sums.into, key, column, mask);
    sum = k.loop(
        k.index(0), sums.queryBlocks.count, 1, sum,
        [&](Value p, ValueRange carried) {
          Value first = sums.queryBlocks.first(p), weights = sums.weights(p);
          Value queries = sums.seen.queriesOf(
              p, key, 1, k.sub(sums.queryBlocks.end(p), first));
          return k.loop(
              k.index(0), queries, 1, carried,
              [&](Value query, ValueRange acc) {
                Value weight =
                    k.loadBroadcast(sums.state, k.add(weights, key), query);
                Value x =
                    k.loadRow(sums.rows, k.add(first, query), column, mask);
                Value next = k.fma(weight, x, acc[0]);
                Value none = arith::CmpFOp::create(
                    k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, zero);
                return Values{k.select(none, acc[0], next)};
              });
        })[0];
    k.storeRow(sum, sums.into, key, column, mask);
  };
  int64_t whole = sums.columns / k.lanes * k.lanes;
  k.loop(k.index(0), keys, 1, [&](Value key) {
    k.loop(k.index(0), k.index(whole), k.lanes,
           [&](Value column) { addColumns(key, column, Value()); });
    if (whole == sums.columns)
      return;
    Value left = k.index(sums.columns - whole);
    Value mask =
        vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType, left);
    addColumns(key, k.index(whole), mask);
  });
}

/// Whether keys, queries and cotangents of the tiles are finite.
static Value allRowsFinite(const Step &step, Value keyCount) {
  KernelBuilder &k = step.k;
  Value keys = allFinite(k, step.operands.tile.key, keyCount,
                         step.layout.queries.keyDim);
  Value flag =
      memref::LoadOp::create(k.builder, k.loc, step.cotangents,
                             ValueRange{step.layout.finiteRows(k), k.index(0)});
  Value one = arith::ConstantOp::create(k.builder, k.loc,
                                        k.builder.getFloatAttr(k.element, 1));
  Value rows = arith::CmpFOp::create(k.builder, k.loc,
                                     arith::CmpFPredicate::OEQ, flag, one);
  return arith::AndIOp::create(k.builder, k.loc, keys, rows);
}

/// dV and dK of all query blocks.
static void addToAllKeys(const Step &step, const ScoreTile &scores,
                         const SeenKeys &seen, bool strictly) {
  KernelBuilder &k = step.k;
  const GradStep &operands = step.operands;
  auto weights = [&](Value p) { return step.weights(p); };
  auto slopes = [&](Value p) { return step.slopes(p); };
  KeySums ofValues{step.queries,
                   weights,
                   operands.dOut,
                   operands.dValue,
                   step.layout.cotangents.keyDim,
                   scores.queryBlocks,
                   seen};
  KeySums ofKeys{step.cotangents,
                 slopes,
                 operands.query,
                 operands.dKey,
                 step.layout.queries.keyDim,
                 scores.queryBlocks,
                 seen};
  for (const KeySums &sums : {ofValues, ofKeys})
    (strictly ? addToKeysStrictly : addToKeys)(k, sums, scores.keyCount);
}

/// Calls `body` with whether something of the tiles is infinite or NaN.
static void chooseBy(KernelBuilder &k, Value finite,
                     llvm::function_ref<void(bool strictly)> body) {
  if (!finite)
    return body(false);
  k.choose(finite, [&] { body(false); }, [&] { body(true); });
}

/// The operands as they are computed with: rows of a narrower type are copies
/// in the state, those of queries and cotangents since attn.init_grad.
static GradStep widened(KernelBuilder &k, const GradLayout &layout,
                        GradStep operands) {
  Value buffer = operands.tile.state;
  Value queries = k.sub(operands.tile.queryEnd, operands.tile.queryBegin);
  if (layout.narrowQueries)
    operands.query = layout.copiedQueries(k, buffer, queries);
  if (layout.narrowCotangents)
    operands.dOut = layout.copiedCotangents(k, buffer, queries);
  operands.tile.key = stageRows(k, layout.queries, layout.queriesOf(k, buffer),
                                operands.tile.key);
  operands.value = stageRows(k, layout.cotangents,
                             layout.cotangentsOf(k, buffer), operands.value);
  return operands;
}

void cpu::emitGradStep(KernelBuilder &k, const GradLayout &layout,
                       const GradStep &narrow) {
  GradStep operands = widened(k, layout, narrow);
  Value buffer = operands.tile.state;
  TileOperands ofKeys = operands.tile, ofValues = operands.tile;
  ofKeys.state = layout.queriesOf(k, buffer);
  ofValues.state = layout.cotangentsOf(k, buffer);
  ofValues.key = operands.value;
  ofValues.bias = ofValues.cotangents = Value();
  ofValues.mask = Attribute();
  ofValues.maskOperands.clear();
  ofValues.function = nullptr;
  ScoreTile scores(k, layout.queries, ofKeys);
  Step step{k, layout, operands, ofKeys.state, ofValues.state, scores};
  ScoreTile products(k, layout.cotangents, ofValues);
  Value finite;
  if (operands.strict)
    finite = allRowsFinite(step, scores.keyCount);
  // The sums of this tile come into the cache, and the rows of the next.
  ScoreTile::Options ofScores, ofProducts;
  ofScores.updateMaximum = ofProducts.updateMaximum = false;
  ofScores.later = operands.tile.function;
  ofScores.nextKey = narrow.value;
  ofScores.value = operands.dValue;
  ofProducts.nextKey = narrow.tile.key;
  ofProducts.value = operands.dKey;
  SeenKeys seen(k, layout, static_cast<bool>(operands.tile.mask));
  k.loop(k.index(0), scores.queryBlocks.count, 1, [&](Value p) {
    QueryBlockKeys keys = scores.visibleKeys(p);
    seen.keep(p, keys);
    k.when(k.less(keys.begin, keys.end), [&] {
      scores.computeScores(p, keys, ofScores);
      Value count = k.sub(keys.end, keys.begin);
      Value whole = k.mul(k.div(count, k.rows), k.rows);
      products.computeScores(
          p, {keys.begin, keys.begin, k.add(keys.begin, whole), keys.end},
          ofProducts);
      if (ofKeys.dropout)
        dropCotangents(
            k, operands,
            {scores.firstQuery(p), ofKeys.keyBegin, keys.begin, keys.end},
            step.cotangents, step.slopes(p));
      weighPairs(k, layout, operands, scores,
                 {p, keys.begin, keys.end, step.queries, step.weights(p),
                  step.cotangents, step.slopes(p)});
      if (ofKeys.dropout)
        multiplyByFactors(k, operands, keys, step.queries, step.weights(p));
      chooseBy(k, finite, [&](bool strictly) {
        (strictly ? addToQueriesStrictly : addToQueries)(step, p, keys.begin,
                                                         keys.end);
      });
    });
  });
  chooseBy(k, finite,
           [&](bool strictly) { addToAllKeys(step, scores, seen, strictly); });
}
