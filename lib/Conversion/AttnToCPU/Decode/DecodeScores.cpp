// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first product of kind decode: dot products of keys and queries, of which
// a key's features are in the lanes, and sums of lanes by a transpose. A vector
// may hold features of several queries. Then those of a key are read into it
// more than once, and fewer lanes are left to add up.
#include "Build/Pairs.h"
#include "DecodeTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Combines the halves of a vector until `size` lanes are left.
Value cpu::fold(KernelBuilder &k, Value vector, int64_t size,
                function_ref<Value(Value, Value)> combine) {
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
/// What belongs to different ones of `interleave` queries is not added: there
/// are as many times fewer vectors, and the sums lie [vector][query].
static Value sumLanes(KernelBuilder &k, Values xs, int64_t interleave = 1) {
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
  if (interleave == 1)
    return fold(k, xs[0], count,
                [&](Value a, Value b) { return k.addf(a, b); });
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    int64_t query = lane % interleave, vector = lane / interleave;
    mask.push_back((vector / 4 * interleave + query) * 4 + vector % 4);
  }
  return shuffle(k, xs[0], xs[0], mask);
}

/// Part number `part` of a key's features, or of their pairs, once for each
/// query of a vector. Pairs are repeated as numbers of bf16: repeated as pairs,
/// LLVM would shuffle what it has loaded.
Value DecodeTile::loadKey(Value key, Value part) {
  int64_t size = layout.part;
  if (!layout.pairs)
    return k.loadRepeated(tile.key, key, k.mul(part, size), size);
  KernelBuilder numbers = k.withLanes(2 * k.lanes), few = k.withLanes(2 * size);
  Value repeated = numbers.repeat(
      loadBF16(few, tile.key, key, k.mul(part, 2 * size), Value()));
  return vector::BitCastOp::create(k.builder, k.loc, k.vectorType, repeated);
}

/// The same part of a block's queries, vector number `vector`.
Value DecodeTile::loadQuery(Value block, Value part, int64_t vector) {
  int64_t first = vector * layout.interleave * layout.queryStride();
  return k.load(queries, block, k.add(k.mul(part, layout.partStride()), first));
}

static int64_t largestDivisor(int64_t number, int64_t most) {
  while (number % most)
    --most;
  return most;
}

/// acc plus the products of some keys from `first` with the queries of a block.
/// The last step repeats the last key. As many keys of the next tile are
/// prefetched, all before where few keys are read; many, of which few features
/// are read at a time, take long: there row after row in between.
RegisterTile DecodeTile::multiplyKeys(Value block, Value first,
                                      RegisterTile acc) {
  constexpr int64_t mostSteps = 4; // of a turn without a loop
  int64_t keys = k.rows, whole = layout.keyNumbers() / layout.part;
  int64_t turns = layout.interleave > 1 ? largestDivisor(whole, keys) : 1;
  int64_t parts = whole / turns;
  size_t vectors = acc.front().size();
  Value shared = k.mul(shareOf(block), turns), last = k.sub(count, k.index(1));
  Values rows;
  for (int64_t r = 0; r < keys; ++r)
    rows.push_back(k.min(k.add(first, r), last));
  auto query = [&](Value part, int64_t v) { return loadQuery(block, part, v); };
  auto multiplyTurn = [&](Value turn, RegisterTile sums) {
    Value begin = k.mul(turn, parts);
    auto keyAt = [&](int64_t r, Value i) {
      return loadKey(rows[r], k.add(begin, i));
    };
    auto queryAt = [&](Value i, int64_t v) {
      return query(k.add(begin, i), v);
    };
    if (turns == 1 || parts > mostSteps)
      return k.multiply(k.index(0), k.index(parts), sums, keyAt, queryAt);
    for (int64_t i = 0; i < parts; ++i)
      k.multiplyStep(k.index(i), sums, keyAt, queryAt);
    return sums;
  };
  Values sums = k.loop(
      k.index(0), k.index(turns), 1, flatten(acc),
      [&](Value turn, ValueRange carried) {
        k.prefetchTurn(tile.key, k.add(first, count), k.add(shared, turn), keys,
                       shares * turns);
        return flatten(multiplyTurn(turn, unflatten(Values(carried), vectors)));
      });
  acc = unflatten(sums, vectors);
  if (layout.splitKeyParts() == whole)
    return acc;
  KernelBuilder few = k.withLanes(layout.part);
  auto lastFeatures = [&](int64_t r, Value) {
    return k.repeat(loadFeatures(few, tile.key, rows[r], whole, layout.keyDim,
                                 /*once=*/true));
  };
  k.multiplyStep(k.index(whole), acc, lastFeatures, query);
  return acc;
}

/// Scores of some keys from `first` with the queries of a block. What is
/// written for keys behind the last is not read.
void DecodeTile::scoreKeys(Value block, Value first) {
  int64_t keys = k.rows;
  RegisterTile zeros(keys, Values(size / layout.interleave, k.splat(0.0)));
  RegisterTile acc = multiplyKeys(block, first, std::move(zeros));
  // As many sums as there are lanes are added up with fewer shuffles.
  int64_t perSum = std::max<int64_t>(k.lanes / size, 1);
  int64_t together = keys % perSum == 0 ? perSum : 1;
  KernelBuilder store = k.withLanes(together * size);
  Value zero = k.index(0), factor;
  if (layout.pairs)
    factor = store.load(layout.factor(k, tile.state), zero, zero);
  for (int64_t r = 0; r < keys; r += together) {
    Value sums = sumLanes(k, flatten(ArrayRef(acc).slice(r, together)),
                          layout.interleave);
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
    return k.fma(k.load(tile.key, key, k.mul(i, k.lanes)),
                 loadQuery(zero, i, 0), sum);
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
        k.fma(loadFeatures(k, tile.key, key, whole, dim, /*once=*/true),
              loadQuery(zero, k.index(whole), 0), sums.back());
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
