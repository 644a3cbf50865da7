// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores by products of tiles: S^T[key][query] = K[key, :] . Q^T[:, query]. A
// is rows of K as they lie; B is the queries, which the state holds in pairs.
// What a tile covers behind the end of a row or of the keys is 0 on both sides.
#include "Build/TileProducts.h"
#include "ScoreTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static void multiplyTiles(ScoreTile &scoreTile, Value p, Value first,
                          Value keys) {
  KernelBuilder &k = scoreTile.k;
  const StateLayout &layout = scoreTile.layout;
  Value state = scoreTile.tile.state;
  bool inPairs = cast<MemRefType>(keys.getType()).getElementType().isF32();
  int64_t columns = inPairs ? tileSize : tileNumbers;
  Value queries = layout.queries(k, p);
  RegisterTile scores(k.rows / tileSize, Values(k.vectors, zeroTile(k)));
  scores = k.multiply(
      k.index(0), k.index(layout.queryRows() / tileSize), scores,
      [&](int64_t r, Value step) {
        return loadTile(k, keys, k.add(first, r * tileSize),
                        k.mul(step, columns));
      },
      [&](Value step, int64_t v) {
        return loadTile(k, state, k.add(queries, k.mul(step, tileSize)),
                        k.index(v * tileSize));
      });
  Value row = k.add(layout.weights(k, p), first);
  for (auto [r, tiles] : llvm::enumerate(scores))
    for (auto [v, sums] : llvm::enumerate(tiles))
      storeTile(k, sums, state, k.add(row, r * tileSize),
                k.index(v * tileSize));
}

/// Scores of the keys [begin, end) in the query block's rows: scale, function,
/// bias and mask are applied there, and the maximum is taken.
static void adjustRows(ScoreTile &scoreTile, Value p, Value begin, Value end,
                       const ScoreTile::Options &options, bool careful) {
  KernelBuilder &k = scoreTile.k;
  const StateLayout &layout = scoreTile.layout;
  Value state = scoreTile.tile.state, factor = scoreTile.factor;
  Value weights = layout.weights(k, p);
  Value maximumRow = layout.statistic(k, p, StateLayout::NextMaximum);
  auto column = [&](int64_t v) { return k.index(v * k.lanes); };
  Values before, maxima;
  for (int64_t v = 0; v < k.vectors && options.updateMaximum; ++v) {
    before.push_back(k.load(state, maximumRow, column(v)));
    maxima.push_back(options.scaled ? before[v] : k.infinity());
  }
  bool same = !careful && !options.scaled;
  int64_t atOnce = same ? 4 : 1; // register tiles have a multiple of rows
  maxima = k.loop(begin, end, atOnce, maxima, [&](Value first, ValueRange old) {
    Values next(old);
    for (int64_t i = 0; i < atOnce; ++i)
      for (int64_t v = 0; v < k.vectors; ++v) {
        Value key = k.add(first, i), row = k.add(weights, key);
        Value score = k.load(state, row, column(v));
        if (options.scaled)
          score = k.mulf(score, factor);
        if (!same) {
          score = scoreTile.adjust(score, p, key, v, options, careful);
          k.store(score, state, row, column(v));
        }
        if (options.updateMaximum)
          next[v] = k.maxf(score, next[v]); // a NaN is left to the weights
      }
    return next;
  });
  for (auto [v, maximum] : llvm::enumerate(maxima)) {
    if (!options.scaled)
      maximum = k.maxf(k.mulf(maximum, factor), before[v]);
    k.store(maximum, state, maximumRow, column(v));
  }
}

void cpu::scoreBlockOfTiles(ScoreTile &scoreTile, Value p, Value block,
                            const ScoreTile::Options &options, bool careful) {
  KernelBuilder &k = scoreTile.k;
  const TileOperands &tile = scoreTile.tile;
  Value keyCount = scoreTile.keyCount;
  if (!careful && options.nextKey)
    scoreTile.prefetchNext(p, block, options);
  Value rows = k.index(k.rows), first = block;
  if (careful)
    first = k.max(k.min(block, k.sub(keyCount, rows)), k.index(0));
  auto multiply = [&](Value keys) { multiplyTiles(scoreTile, p, first, keys); };
  if (scoreTile.layout.keyDim % tileNumbers)
    multiply(tile.paddedKey);
  else if (careful)
    k.choose(
        k.less(keyCount, rows), [&] { multiply(tile.paddedKey); },
        [&] { multiply(tile.key); });
  else
    multiply(tile.key);
  Value end = k.add(first, rows);
  adjustRows(scoreTile, p, first, careful ? k.min(end, keyCount) : end, options,
             careful);
}
