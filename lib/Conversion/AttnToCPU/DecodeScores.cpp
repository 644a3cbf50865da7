// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first product of kind decode: dot products of keys and queries, of which
// a key's features are in the lanes, and sums of lanes by a transpose.
#include "DecodeTile.h"
#include "Pairs.h"

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
