// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax for few queries. Both products have features in
// their lanes, so that keys and values are read as vectors where they lie, in
// any type, each one time for a block of 4 or 8 queries:
//   1. scores: dot products, whose lanes are added by a transpose
//   2. softmax of a block, [key][query] without gaps
//   3. context[query][d] += weight * V[key][d]
// A single query takes `lanes` keys at a time instead of a block. Pairs of bf16
// are multiplied as they lie in keys; of values, two rows are interleaved.
//
// Memory sets the pace, and it is fast only if lines are asked for in the order
// of their addresses and evenly. A single query reads key after key and value
// after value, which the processor's own prefetchers follow. Blocks of queries
// read several rows at once: keys prefetch those of the next tile, and so do
// values, line after line.
#include "DecodeKernels.h"
#include "Pairs.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// The elements `mask` of two vectors behind each other.
static Value shuffle(KernelBuilder &k, Value a, Value b,
                     ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(k.builder, k.loc, a, b, mask);
}

using Combine = function_ref<Value(Value, Value)>;

/// Combines the halves of a vector until `size` lanes are left.
static Value fold(KernelBuilder &k, Value vector, int64_t size,
                  Combine combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  for (; lanes > size; lanes /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    Value lower = shuffle(k, vector, vector, low);
    Value upper = shuffle(k, vector, vector, high);
    vector = combine(lower, upper);
  }
  return vector;
}

/// The sum of each vector's lanes, as one vector of as many lanes as there are
/// vectors (4, or `lanes`). Groups of 4 lanes are added first, in two levels,
/// then the groups: every shuffle is one x86 instruction. Where a register is
/// wider than 4 lanes, the halves of a group are added and not neighbours, for
/// which LLVM would take vhaddps: one instruction that takes as long as four.
static Value sumLanes(KernelBuilder &k, Values xs) {
  size_t count = xs.size();
  bool neighbours = k.lanes == 4; // faddp on NEON
  for (int64_t level = 0; xs.size() > 1; ++level) {
    SmallVector<int64_t> first, second;
    for (int64_t lane = 0; lane < k.lanes; ++lane) {
      int64_t low = lane % 2, high = lane / 2 % 2, group = lane / 4;
      int64_t half = k.lanes / 8, from = 0, distance = neighbours ? 1 : 2;
      if (level >= 2) {
        distance = 4;
        from = group % half * 8 + lane % 4 + (group < half ? 0 : k.lanes);
      } else if (neighbours) {
        from = 2 * low + high * k.lanes;
      } else {
        from = 4 * group +
               (level == 0 ? high + low * k.lanes : low + high * k.lanes);
      }
      first.push_back(from);
      second.push_back(from + distance);
    }
    Values next;
    for (size_t i = 0; i < xs.size(); i += 2) {
      Value a = shuffle(k, xs[i], xs[i + 1], first);
      Value b = shuffle(k, xs[i], xs[i + 1], second);
      next.push_back(k.addf(a, b));
    }
    xs = next;
  }
  return fold(k, xs[0], count, [&](Value a, Value b) { return k.addf(a, b); });
}

namespace {
class DecodeTile {
public:
  DecodeTile(KernelBuilder &k, const DecodeLayout &layout,
             const TileOperands &tile, Value value, Value rows, int64_t heads,
             bool single)
      : k(k), small(k.withLanes(single ? 1 : layout.block)), layout(layout),
        tile(tile), value(value), single(single),
        size(single ? 1 : layout.block),
        shares((heads + layout.block - 1) / layout.block),
        blocks(single ? k.index(1) : blocksOf(k, layout, rows)), rows(rows),
        queries(layout.queries(k, tile.state)),
        context(layout.context(k, tile.state)),
        scores(layout.scores(k, tile.state)),
        statistics(layout.statistics(k, tile.state)),
        count(memref::DimOp::create(k.builder, k.loc, tile.key, 0)) {}

  void run(StateType type, ScheduleAttr schedule, bool strict);

private:
  void eachBlock(function_ref<void(Value)> body);
  Value firstRow(Value block) { return k.mul(block, size); }
  Value position(Value key) { return k.mul(key, size); }
  void scoreTile();
  void scoreKeys(Value block, Value first);
  void scoreKeysOfOne(Value first);
  Value dotProduct(Value key);
  void softmaxBlock(Value block);
  RegisterTile sumValues(Value block, Value i, RegisterTile acc, Value pass,
                         int64_t passes);
  void contextBlock(Value block);
  void strictContextBlock(Value block);
  Value shareOf(Value block);
  Value loadKey(Value key, Value vector);
  Value loadValue(Value key, Value vector);
  Value loadValuePairs(Value pair, Value odd, Value first, int64_t v);
  RegisterTile addLastPair(Value i, const RegisterTile &acc,
                           function_ref<Value(int64_t, Value)> weight);
  void storeWeights(Value weights, Value block, Value at);
  Value tiled(Value few);

  KernelBuilder &k;
  KernelBuilder small; ///< whose lanes are the queries of a block
  const DecodeLayout &layout;
  const TileOperands &tile;
  Value value;
  bool single;
  int64_t size;   ///< queries of a block
  int64_t shares; ///< blocks that share the prefetches of a tile
  Value blocks, rows;
  Value queries, context, scores, statistics, count;
};
} // namespace

/// Which share of a tile's prefetches a block makes. More blocks than a single
/// query has repeat the last share.
Value DecodeTile::shareOf(Value block) {
  return layout.capacity / layout.block > shares
             ? k.min(block, k.index(shares - 1))
             : block;
}

/// Vector number `vector` of a key's features, or of their pairs.
Value DecodeTile::loadKey(Value key, Value vector) {
  return layout.pairs
             ? loadPairs(k, tile.key, key, k.mul(vector, 2 * k.lanes), Value())
             : k.load(tile.key, key, k.mul(vector, k.lanes));
}

/// Scores of some keys from `first` with the queries of a block. The last step
/// repeats the last key; what it writes for keys behind it is not read.
void DecodeTile::scoreKeys(Value block, Value first) {
  int64_t keys = k.rows, dim = layout.keyDim;
  int64_t whole = layout.pairs ? layout.keyVectors() : dim / k.lanes;
  Values keyRows;
  Value last = k.sub(count, k.index(1));
  for (int64_t r = 0; r < keys; ++r)
    keyRows.push_back(k.min(k.add(first, r), last));
  RegisterTile acc(keys, Values(size, k.splat(0.0)));
  auto query = [&](int64_t q) { return k.add(firstRow(block), q); };
  k.prefetchTurn(tile.key, k.add(first, count), shareOf(block), keys, shares);
  if (whole > 0)
    acc = k.multiply(
        k.index(0), k.index(whole), acc,
        [&](int64_t r, Value i) { return loadKey(keyRows[r], i); },
        [&](Value i, int64_t q) {
          return k.load(queries, query(q), k.mul(i, k.lanes));
        });
  if (dim % k.lanes)
    for (int64_t r = 0; r < keys; ++r) {
      Value features = loadFeatures(k, layout, tile.key, keyRows[r], whole, dim,
                                    /*once=*/true);
      for (int64_t q = 0; q < size; ++q)
        acc[r][q] =
            k.fma(features, k.load(queries, query(q), k.index(whole * k.lanes)),
                  acc[r][q]);
    }
  // As many sums as there are lanes are added up with fewer shuffles.
  int64_t perSum = std::max<int64_t>(k.lanes / size, 1);
  int64_t together = keys % perSum == 0 ? perSum : 1;
  KernelBuilder store = k.withLanes(together * size);
  Value zero = k.index(0), factor;
  if (layout.pairs)
    factor = store.load(layout.factor(k, tile.state), zero, zero);
  for (int64_t r = 0; r < keys; r += together) {
    Value sums = sumLanes(k, flatten(ArrayRef(acc).slice(r, together)));
    store.store(factor ? k.mulf(sums, factor) : sums, scores, block,
                position(k.add(first, r)));
  }
}

/// The products of a key's features with those of the first query, not added.
Value DecodeTile::dotProduct(Value key) {
  constexpr int64_t chains = 4, turn = 4 * chains;
  int64_t dim = layout.keyDim, whole = dim / k.lanes;
  int64_t looped = whole / turn * turn;
  Value zero = k.index(0);
  auto multiply = [&](Value i, Value sum) {
    Value column = k.mul(i, k.lanes);
    return k.fma(k.load(tile.key, key, column), k.load(queries, zero, column),
                 sum);
  };
  Values sums(chains, k.splat(0.0));
  if (looped)
    sums = k.loop(
        zero, k.index(looped), turn, sums, [&](Value i, ValueRange carried) {
          Values next(carried);
          for (int64_t c = 0; c < turn; ++c)
            next[c % chains] = multiply(k.add(i, c), next[c % chains]);
          return next;
        });
  for (int64_t i = looped; i < whole; ++i)
    sums[i % chains] = multiply(k.index(i), sums[i % chains]);
  if (dim % k.lanes)
    sums.back() =
        k.fma(loadFeatures(k, layout, tile.key, key, whole, dim, /*once=*/true),
              k.load(queries, zero, k.index(whole * k.lanes)), sums.back());
  return k.addf(k.addf(sums[0], sums[1]), k.addf(sums[2], sums[3]));
}

/// Scores of as many keys as there are lanes with the only query. The products
/// of a key leave the registers before the next key's, which would otherwise be
/// read among them.
void DecodeTile::scoreKeysOfOne(Value first) {
  Value zero = k.index(0), last = k.sub(count, k.index(1));
  Value waiting = layout.products(k, tile.state);
  k.loop(zero, k.index(k.lanes), 1, [&](Value r) {
    k.store(dotProduct(k.min(k.add(first, r), last)), waiting, r, zero);
  });
  Values products;
  for (int64_t r = 0; r < k.lanes; ++r)
    products.push_back(k.load(waiting, k.index(r), zero));
  vector::StoreOp::create(k.builder, k.loc, sumLanes(k, std::move(products)),
                          scores, ValueRange{zero, first});
}

void DecodeTile::scoreTile() {
  if (single)
    return k.loop(k.index(0), count, k.lanes,
                  [&](Value first) { scoreKeysOfOne(first); });
  k.loop(k.index(0), count, k.rows, [&](Value first) {
    eachBlock([&](Value block) { scoreKeys(block, first); });
  });
}

/// One value per query of a block, in all lanes that belong to it.
Value DecodeTile::tiled(Value few) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < k.lanes; ++lane)
    mask.push_back(lane % size);
  return shuffle(k, few, few, mask);
}

/// Weights of some keys, [key][query], at `at` of a block's or, in pairs of
/// keys, at half of that, where the scores were read before.
void DecodeTile::storeWeights(Value weights, Value block, Value at) {
  if (!layout.pairs)
    return k.store(weights, scores, block, at);
  OpBuilder &b = k.builder;
  Value numbers = arith::TruncFOp::create(
      b, k.loc, VectorType::get(k.lanes, b.getBF16Type()), weights);
  SmallVector<int64_t> keysOfPair;
  for (int64_t lane = 0; lane < k.lanes; ++lane)
    keysOfPair.push_back(lane / (2 * size) * (2 * size) + lane % 2 * size +
                         lane % (2 * size) / 2);
  Value pairs = vector::BitCastOp::create(
      b, k.loc, VectorType::get(k.lanes / 2, k.element),
      shuffle(k, numbers, numbers, keysOfPair));
  vector::StoreOp::create(b, k.loc, pairs, scores,
                          ValueRange{block, k.div(at, 2)});
}

/// Scores become weights; m, l and a are updated.
void DecodeTile::softmaxBlock(Value block) {
  Value zero = k.index(0), end = position(count), row = firstRow(block);
  auto statistic = [&](DecodeLayout::Statistic which) {
    return k.index(which);
  };
  k.store(k.infinity(), scores, block, end); // lanes behind the last key
  Value old = small.load(statistics, statistic(DecodeLayout::Maximum), row);
  Value most = k.loop(
      zero, end, k.lanes, k.infinity(), [&](Value at, ValueRange carried) {
        return Values{k.maxf(k.load(scores, block, at), carried[0])};
      })[0];
  most =
      fold(k, most, size, [&](Value a, Value b) { return small.maxf(a, b); });
  Value next = small.maxf(most, old), safe = safeMaximum(small, next);
  Value reference = tiled(safe);
  Value sum = k.loop(
      zero, end, k.lanes, k.splat(0.0), [&](Value at, ValueRange carried) {
        Value difference = k.subf(k.load(scores, block, at), reference);
        Value weight = k.exp2({difference}, /*rough=*/layout.pairs)[0];
        storeWeights(weight, block, at);
        return Values{k.addf(carried[0], weight)};
      })[0];
  sum = fold(k, sum, size, [&](Value a, Value b) { return k.addf(a, b); });
  Value rescale = small.exp2({small.subf(old, safe)})[0];
  Value before = small.load(statistics, statistic(DecodeLayout::Sum), row);
  small.store(small.fma(before, rescale, sum), statistics,
              statistic(DecodeLayout::Sum), row);
  small.store(next, statistics, statistic(DecodeLayout::Maximum), row);
  small.store(rescale, statistics, statistic(DecodeLayout::Rescale), row);
}

/// Vector number `vector` of a value's features.
Value DecodeTile::loadValue(Value key, Value vector) {
  int64_t dim = layout.valueDim;
  if (dim < k.lanes)
    return loadFeatures(k, layout, value, key, 0, dim, /*once=*/false);
  Value column = k.mul(vector, k.lanes);
  if (dim % k.lanes)
    column = k.min(column, k.index(dim - k.lanes));
  return k.load(value, key, column);
}

/// Vector number first + v, where `first` is even, of the features of two
/// values, those of a pair's first key and those of key `odd`.
Value DecodeTile::loadValuePairs(Value pair, Value odd, Value first,
                                 int64_t v) {
  OpBuilder &b = k.builder;
  KernelBuilder wide = k.withLanes(2 * k.lanes);
  Value column = k.mul(k.add(first, v / 2 * 2), k.lanes);
  Value ofEven = loadBF16(wide, value, k.mul(pair, 2), column, Value());
  Value ofOdd = loadBF16(wide, value, odd, column, Value());
  Value both = vector::InterleaveOp::create(b, k.loc, ofEven, ofOdd);
  Value half = vector::ExtractStridedSliceOp::create(
      b, k.loc, both, ArrayRef<int64_t>{v % 2 * 2 * k.lanes},
      ArrayRef<int64_t>{2 * k.lanes}, ArrayRef<int64_t>{1});
  return vector::BitCastOp::create(b, k.loc, k.vectorType, half);
}

/// Adds the last of an odd number of keys; the other of its pair has no weight.
RegisterTile
DecodeTile::addLastPair(Value i, const RegisterTile &acc,
                        function_ref<Value(int64_t, Value)> weight) {
  Values sums =
      k.loop(k.div(count, 2), pairCount(k, count), 1, flatten(acc),
             [&](Value pair, ValueRange carried) {
               RegisterTile next =
                   unflatten(Values(carried), acc.front().size());
               k.multiplyStep(pair, next, weight, [&](Value, int64_t v) {
                 return loadValuePairs(pair, k.mul(pair, 2), i, v);
               });
               return flatten(next);
             });
  return unflatten(sums, acc.front().size());
}

/// Keys of a turn that fetches whole rows of the next values, or 1/2, 1/4, ..
/// of one, in `passes` passes. About 8 of 32 bits; of narrower ones 16, because
/// there is more to compute per byte.
static int64_t keysOfTurn(Value value, int64_t passes) {
  int64_t bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  int64_t most = bits < 32 ? 16 : 8, keys = passes;
  while (keys > most)
    keys = (keys + 1) / 2;
  return (keys * (most / keys) + 1) / 2 * 2;
}

/// acc[q][v] += weights * values of the vectors from number i on. Pass number
/// `pass` of `passes` over the tile's values, which together fetch those of
/// the next tile.
RegisterTile DecodeTile::sumValues(Value block, Value i, RegisterTile acc,
                                   Value pass, int64_t passes) {
  int64_t keysPerTurn = keysOfTurn(value, passes);
  size_t vectors = acc.front().size();
  auto weight = [&](int64_t q, Value row) {
    return k.loadBroadcast(scores, block, k.add(position(row), q));
  };
  auto multiply = [&](Value begin, Value end, const RegisterTile &sums) {
    if (layout.pairs)
      return k.multiply(k.div(begin, 2), k.div(end, 2), sums, weight,
                        [&](Value pair, int64_t v) {
                          Value odd = k.add(k.mul(pair, 2), 1);
                          return loadValuePairs(pair, odd, i, v);
                        });
    return k.multiply(begin, end, sums, weight, [&](Value key, int64_t v) {
      return loadValue(key, k.add(i, v));
    });
  };
  auto withLast = [&](const RegisterTile &sums) {
    return layout.pairs ? addLastPair(i, sums, weight) : sums;
  };
  if (single || !k.schedule.getPrefetch())
    return withLast(multiply(k.index(0), count, acc));
  Value turns = k.div(k.add(count, keysPerTurn - 1), keysPerTurn);
  Value earlier = arith::MulIOp::create(k.builder, k.loc, pass, turns);
  Values sums = k.loop(
      k.index(0), turns, 1, flatten(acc), [&](Value turn, ValueRange carried) {
        Value key = k.mul(turn, keysPerTurn);
        k.prefetchTurn(value, count, k.add(earlier, turn), keysPerTurn, passes);
        return flatten(multiply(key, k.min(k.add(key, keysPerTurn), count),
                                unflatten(Values(carried), vectors)));
      });
  return withLast(unflatten(sums, vectors));
}

void DecodeTile::contextBlock(Value block) {
  int64_t vectors = layout.vectorsOf(layout.valueDim);
  int64_t most = single ? k.vectors * layout.block : k.vectors;
  int64_t passes = (vectors + most - 1) / most;
  int64_t together = layout.pairs ? 2 : 1;
  Value earlier = k.mul(shareOf(block), passes);
  for (RowBlocks group : balancedBlocks(vectors / together, most / together)) {
    group = {group.begin * together, group.end * together,
             group.size * together};
    int64_t groups = (group.end - group.begin) / group.size;
    k.loop(k.index(0), k.index(groups), 1, [&](Value number) {
      Value i = k.add(k.mul(number, group.size), group.begin);
      RegisterTile acc(size, Values(group.size, k.splat(0.0)));
      acc = sumValues(block, i, acc, k.add(earlier, number), shares * passes);
      for (int64_t q = 0; q < size; ++q) {
        Value row = k.add(firstRow(block), q);
        Value rescale =
            k.loadBroadcast(statistics, k.index(DecodeLayout::Rescale), row);
        for (int64_t v = 0; v < group.size; ++v) {
          Value column = k.mul(k.add(i, v), k.lanes);
          Value old = k.load(context, row, column);
          k.store(k.fma(old, rescale, acc[q][v]), context, row, column);
        }
      }
    });
    earlier = k.add(earlier, groups);
  }
}

/// The same where a value may be infinite or NaN: a weight of 0 contributes
/// nothing. Rare, so small rather than fast; finite values are added in the
/// same order, so that what an excluded value holds changes no bit.
void DecodeTile::strictContextBlock(Value block) {
  Value zero = k.splat(0.0);
  int64_t vectors = layout.vectorsOf(layout.valueDim);
  k.loop(k.index(0), k.index(size), 1, [&](Value q) {
    Value row = k.add(firstRow(block), q);
    Value rescale =
        k.loadBroadcast(statistics, k.index(DecodeLayout::Rescale), row);
    k.loop(k.index(0), k.index(vectors), 1, [&](Value i) {
      auto add = [&](Value acc, Value weight, Value key) {
        Value next = k.fma(weight, loadValue(key, i), acc);
        Value none = arith::CmpFOp::create(
            k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, zero);
        return k.select(none, acc, next);
      };
      Value rows = layout.pairs ? pairCount(k, count) : count;
      Value sum =
          k.loop(k.index(0), rows, 1, zero, [&](Value r, ValueRange acc) {
            Value weight =
                k.loadBroadcast(scores, block, k.add(position(r), q));
            if (!layout.pairs)
              return Values{add(acc[0], weight, r)};
            Value even = k.mul(r, 2);
            Value odd = k.min(k.add(even, 1), k.sub(count, k.index(1)));
            Value next = add(acc[0], unpackPairs(k, weight, false), even);
            return Values{add(next, unpackPairs(k, weight, true), odd)};
          })[0];
      Value column = k.mul(i, k.lanes);
      Value old = k.load(context, row, column);
      k.store(k.fma(old, rescale, sum), context, row, column);
    });
  });
}

/// Bias and mask, pair by pair, for tiles on the edge.
static void adjustScores(KernelBuilder &k, StateType type,
                         ScheduleAttr schedule, const TileOperands &tile,
                         Value scores, Value rows, Value count, int64_t size) {
  KernelBuilder one = k.withLanes(1);
  StateLayout unused(type, schedule);
  ScoreTile pairs(one, unused, tile);
  Value queries = k.sub(tile.queryEnd, tile.queryBegin);
  ScoreTile::Options options;
  options.function = false; // was applied before
  k.loop(k.index(0), rows, 1, [&](Value row) {
    Value query =
        arith::RemUIOp::create(k.builder, k.loc, row, queries).getResult();
    Value block = k.div(row, size);
    Value within = k.sub(row, k.mul(block, size));
    k.loop(k.index(0), count, 1, [&](Value key) {
      Value at = k.add(k.mul(key, size), within);
      Value score = one.load(scores, block, at);
      score = pairs.adjust(score, query, key, 0, options,
                           /*careful=*/static_cast<bool>(tile.mask));
      one.store(score, scores, block, at);
    });
  });
}

void DecodeTile::eachBlock(function_ref<void(Value)> body) {
  k.loop(k.index(0), blocks, 1, body);
}

void DecodeTile::run(StateType type, ScheduleAttr schedule, bool strict) {
  scoreTile();
  if (tile.function)
    emitDecodeFunction(k, tile, scores, blocks, count,
                       k.sub(tile.queryEnd, tile.queryBegin), size);
  if (tile.mask || tile.bias)
    adjustScores(k, type, schedule, tile, scores, rows, count, size);
  eachBlock([&](Value block) { softmaxBlock(block); });
  auto accumulate = [&] {
    eachBlock([&](Value block) { contextBlock(block); });
  };
  if (!strict)
    return accumulate();
  k.choose(allFinite(k, value, count, layout.valueDim), accumulate,
           [&] { eachBlock([&](Value block) { strictContextBlock(block); }); });
}

void cpu::emitDecodeOnline(KernelBuilder &k, const DecodeLayout &layout,
                           const TileOperands &tile, Value value,
                           StateType type, int64_t heads, bool strict) {
  Value queries = k.sub(tile.queryEnd, tile.queryBegin);
  Value rows = k.mul(queries, heads);
  auto run = [&](bool single) {
    DecodeTile(k, layout, tile, value, rows, heads, single)
        .run(type, k.schedule, strict);
  };
  if (layout.pairs) // of blocks alone
    return run(/*single=*/false);
  if (type.getRows() == 1 || heads > 1)
    return run(/*single=*/type.getRows() == 1);
  Value isSingle = arith::CmpIOp::create(
      k.builder, k.loc, arith::CmpIPredicate::eq, rows, k.index(1));
  k.choose(isSingle, [&] { run(true); }, [&] { run(false); });
}
