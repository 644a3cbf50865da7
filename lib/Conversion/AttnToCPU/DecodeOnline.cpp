// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax for few queries. Both products have features in
// their lanes, so that keys and values are read as vectors where they lie, in
// any type, each one time for 4 queries:
//   1. scores: dot products, whose lanes are added by a transpose
//   2. softmax of a block of 4 queries, [key][query] without gaps
//   3. context[query][d] += weight * V[key][d]
// A single query takes `lanes` keys at a time instead of 4 queries. The values
// of a tile are prefetched while its scores are computed, the next keys while
// values are summed.
#include "DecodeKernels.h"

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
/// vectors (4, or `lanes`). Neighbours are added inside groups of 4 lanes
/// first, then groups: every shuffle is one x86 instruction.
static Value sumLanes(KernelBuilder &k, Values xs) {
  size_t count = xs.size();
  for (int64_t group = 1; xs.size() > 1;
       group = xs.size() * 4 > count ? 1 : 4) {
    Values next;
    for (size_t i = 0; i < xs.size(); i += 2) {
      SmallVector<int64_t> even, odd;
      for (int64_t lane = 0; lane < k.lanes; ++lane) {
        // Which of the 8 (or all) elements of both belongs here.
        int64_t base = group == 1 ? lane / 4 * 4 : 0;
        int64_t at = (lane - base) / group,
                half = (group == 1 ? 4 : k.lanes) / group / 2;
        int64_t from = (at % half) * 2 * group + lane % group + base +
                       (at < half ? 0 : k.lanes);
        even.push_back(from);
        odd.push_back(from + group);
      }
      Value first = shuffle(k, xs[i], xs[i + 1], even);
      Value second = shuffle(k, xs[i], xs[i + 1], odd);
      next.push_back(k.addf(first, second));
    }
    xs = next;
  }
  return fold(k, xs[0], count, [&](Value a, Value b) { return k.addf(a, b); });
}

namespace {
class DecodeTile {
public:
  DecodeTile(KernelBuilder &k, const DecodeLayout &layout,
             const TileOperands &tile, Value value, Value rows, bool single)
      : k(k), small(k.withLanes(single ? 1 : decodeBlock)), layout(layout),
        tile(tile), value(value), rows(rows), single(single),
        size(single ? 1 : decodeBlock), queries(layout.queries(k, tile.state)),
        context(layout.context(k, tile.state)),
        scores(layout.scores(k, tile.state)),
        statistics(layout.statistics(k, tile.state)),
        count(memref::DimOp::create(k.builder, k.loc, tile.key, 0)) {}

  void run(StateType type, ScheduleAttr schedule, bool strict);

private:
  Value firstRow(Value block) { return k.mul(block, size); }
  Value position(Value key) { return k.mul(key, size); }
  void scoreKeys(Value block, Value first, bool careful);
  void scoreBlock(Value block);
  void softmaxBlock(Value block);
  void contextBlock(Value block);
  void strictContextBlock(Value block);
  void prefetchRows(Value matrix, Value row, int64_t firstColumn,
                    int64_t columns);
  Value loadValue(Value key, Value vector);
  Value tiled(Value few);

  KernelBuilder &k;
  KernelBuilder small; ///< whose lanes are the queries of a block
  const DecodeLayout &layout;
  const TileOperands &tile;
  Value value, rows;
  bool single;
  int64_t size; ///< queries of a block
  Value queries, context, scores, statistics, count;
};
} // namespace

void DecodeTile::prefetchRows(Value matrix, Value row, int64_t firstColumn,
                              int64_t columns) {
  int64_t locality = k.schedule.getPrefetch();
  auto type = cast<MemRefType>(matrix.getType());
  int64_t step = 64 * 8 / type.getElementTypeBitWidth();
  int64_t end = std::min(firstColumn + columns, type.getDimSize(1));
  if (!locality)
    return;
  for (int64_t column = firstColumn; column < end; column += step)
    memref::PrefetchOp::create(k.builder, k.loc, matrix,
                               ValueRange{row, k.index(column)},
                               /*isWrite=*/false, locality,
                               /*isDataCache=*/true);
}

/// Scores of some keys from `first` with the queries of a block. A careful step
/// repeats the last key; what it writes for keys behind it is not read.
void DecodeTile::scoreKeys(Value block, Value first, bool careful) {
  int64_t keys = single ? k.lanes : k.rows, dim = layout.keyDim;
  int64_t whole = dim / k.lanes;
  Values keyRows;
  Value last = k.sub(count, k.index(1));
  for (int64_t r = 0; r < keys; ++r) {
    Value row = k.add(first, r);
    keyRows.push_back(careful ? k.min(row, last) : row);
    if (!careful)
      prefetchRows(value, row, 0, layout.valueDim);
  }
  RegisterTile acc(keys, Values(size, k.splat(0.0)));
  auto query = [&](int64_t q) { return k.add(firstRow(block), q); };
  if (whole > 0)
    acc = k.multiply(
        k.index(0), k.index(whole), acc,
        [&](int64_t r, Value i) {
          return k.load(tile.key, keyRows[r], k.mul(i, k.lanes));
        },
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
  auto store = [&](Values sums, Value key) {
    vector::StoreOp::create(k.builder, k.loc, sumLanes(k, std::move(sums)),
                            scores, ValueRange{block, position(key)});
  };
  if (!single)
    for (int64_t r = 0; r < keys; ++r)
      store(acc[r], k.add(first, r));
  else
    store(llvm::map_to_vector(acc, [](const Values &row) { return row[0]; }),
          first);
}

void DecodeTile::scoreBlock(Value block) {
  int64_t keys = single ? k.lanes : k.rows;
  Value whole = k.mul(k.div(count, keys), keys);
  k.loop(k.index(0), whole, keys,
         [&](Value first) { scoreKeys(block, first, /*careful=*/false); });
  k.when(k.less(whole, count),
         [&] { scoreKeys(block, whole, /*careful=*/true); });
}

/// One value per query of a block, in all lanes that belong to it.
Value DecodeTile::tiled(Value few) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < k.lanes; ++lane)
    mask.push_back(lane % size);
  return shuffle(k, few, few, mask);
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
        Value weight = k.exp2({difference})[0];
        k.store(weight, scores, block, at);
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

void DecodeTile::contextBlock(Value block) {
  int64_t vectors = layout.vectorsOf(layout.valueDim);
  int64_t most = single ? k.vectors * decodeBlock : k.vectors;
  int64_t blocks = (vectors + most - 1) / most;
  int64_t share = (layout.keyDim + blocks - 1) / blocks;
  for (RowBlocks group : balancedBlocks(vectors, most))
    k.loop(k.index(group.begin), k.index(group.end), group.size, [&](Value i) {
      RegisterTile acc(size, Values(group.size, k.splat(0.0)));
      acc = k.multiply(
          k.index(0), count, acc,
          [&](int64_t q, Value key) {
            if (q == 0)
              prefetchRows(tile.key, k.add(key, count), 0, share);
            return k.loadBroadcast(scores, block, k.add(position(key), q));
          },
          [&](Value key, int64_t v) { return loadValue(key, k.add(i, v)); });
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
      Value sum = k.loop(
          k.index(0), count, 1, zero, [&](Value key, ValueRange carried) {
            Value weight =
                k.loadBroadcast(scores, block, k.add(position(key), q));
            Value next = k.fma(weight, loadValue(key, i), carried[0]);
            Value none = arith::CmpFOp::create(
                k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, zero);
            return Values{k.select(none, carried[0], next)};
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

void DecodeTile::run(StateType type, ScheduleAttr schedule, bool strict) {
  Value blocks = single ? k.index(1) : k.div(blockRows(k, rows), decodeBlock);
  auto eachBlock = [&](function_ref<void(Value)> body) {
    k.loop(k.index(0), blocks, 1, body);
  };
  eachBlock([&](Value block) { scoreBlock(block); });
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
    DecodeTile(k, layout, tile, value, rows, single)
        .run(type, k.schedule, strict);
  };
  if (type.getRows() == 1 || heads > 1)
    return run(/*single=*/type.getRows() == 1);
  Value isSingle = arith::CmpIOp::create(
      k.builder, k.loc, arith::CmpIPredicate::eq, rows, k.index(1));
  k.choose(isSingle, [&] { run(true); }, [&] { run(false); });
}
