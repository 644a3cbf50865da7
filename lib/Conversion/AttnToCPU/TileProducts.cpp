// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both products of attention by tiles:
//   S^T[key][query] = K[key, :] . Q^T[:, query]
//   O^T[d][query]  += V[:, d] . P^T[:, query]
// A is rows of K as they lie, or V, transposed once per tile of keys for all
// panels; B is the queries and the weights, which the state holds in pairs.
// What a tile covers behind the end of a row or of the keys is 0 on both sides.
#include "TileProducts.h"
#include "Pairs.h"
#include "ScoreTile.h"
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

// --- tiles ---

static VectorType sumsType(OpBuilder &b) {
  return VectorType::get({tileSize, tileSize}, b.getF32Type());
}

Value cpu::zeroTile(KernelBuilder &k) {
  return arith::ConstantOp::create(k.builder, k.loc,
                                   k.builder.getZeroAttr(sumsType(k.builder)));
}

Value cpu::loadTile(KernelBuilder &k, Value matrix, Value row, Value column) {
  OpBuilder &b = k.builder;
  auto numbers =
      VectorType::get({tileSize, tileNumbers}, k.builder.getBF16Type());
  bool inPairs = cast<MemRefType>(matrix.getType()).getElementType().isF32();
  Value tile = vector::LoadOp::create(b, k.loc, inPairs ? sumsType(b) : numbers,
                                      matrix, ValueRange{row, column});
  if (inPairs)
    tile = vector::BitCastOp::create(b, k.loc, numbers, tile);
  return vector::ShapeCastOp::create(
      b, k.loc, VectorType::get({tileSize, tileSize, 2}, b.getBF16Type()),
      tile);
}

void cpu::storeTile(KernelBuilder &k, Value tile, Value matrix, Value row,
                    Value column) {
  vector::StoreOp::create(k.builder, k.loc, tile, matrix,
                          ValueRange{row, column});
}

/// The maps of a product over (row, column, pair, which of it).
static SmallVector<AffineMap, 3> productMaps(MLIRContext *context) {
  AffineExpr row, column, pair, which;
  bindDims(context, row, column, pair, which);
  return {AffineMap::get(4, 0, {row, pair, which}, context),
          AffineMap::get(4, 0, {pair, column, which}, context),
          AffineMap::get(4, 0, {row, column}, context)};
}

Value cpu::tileProduct(OpBuilder &b, Location loc, Value a, Value x, Value c) {
  constexpr auto parallel = vector::IteratorType::parallel,
                 reduction = vector::IteratorType::reduction;
  auto iterators = llvm::map_to_vector(
      ArrayRef{parallel, parallel, reduction, reduction},
      [&](vector::IteratorType type) -> Attribute {
        return vector::IteratorTypeAttr::get(b.getContext(), type);
      });
  return vector::ContractionOp::create(
      b, loc, a, x, c, b.getAffineMapArrayAttr(productMaps(b.getContext())),
      b.getArrayAttr(iterators));
}

bool cpu::isTileProduct(vector::ContractionOp op) {
  OpBuilder b(op.getContext());
  auto pairs = VectorType::get({tileSize, tileSize, 2}, b.getBF16Type());
  return op.getLhsType() == pairs && op.getRhsType() == pairs &&
         op.getAccType() == sumsType(b) &&
         op.getKind() == vector::CombiningKind::ADD &&
         op.getIndexingMapsArray() == productMaps(op.getContext());
}

// --- scores ---

void ScoreTile::multiplyTiles(Value p, Value first, Value keys) {
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
        return loadTile(k, tile.state, k.add(queries, k.mul(step, tileSize)),
                        k.index(v * tileSize));
      });
  Value row = k.add(layout.weights(k, p), first);
  for (auto [r, tiles] : llvm::enumerate(scores))
    for (auto [v, sums] : llvm::enumerate(tiles))
      storeTile(k, sums, tile.state, k.add(row, r * tileSize),
                k.index(v * tileSize));
}

/// Scores of the keys [begin, end) in the panel's rows: scale, function, bias
/// and mask are applied there, and the maximum is taken.
void ScoreTile::adjustRows(Value p, Value begin, Value end,
                           const Options &options, bool careful) {
  Value weights = layout.weights(k, p);
  Value maximumRow = layout.statistic(k, p, StateLayout::NextMaximum);
  auto column = [&](int64_t v) { return k.index(v * k.lanes); };
  Values before, maxima;
  for (int64_t v = 0; v < k.vectors && options.updateMaximum; ++v) {
    before.push_back(k.load(tile.state, maximumRow, column(v)));
    maxima.push_back(options.scaled ? before[v] : k.infinity());
  }
  bool same = !careful && !options.scaled;
  int64_t atOnce = same ? 4 : 1; // register tiles have a multiple of rows
  maxima = k.loop(begin, end, atOnce, maxima, [&](Value first, ValueRange old) {
    Values next(old);
    for (int64_t i = 0; i < atOnce; ++i)
      for (int64_t v = 0; v < k.vectors; ++v) {
        Value key = k.add(first, i), row = k.add(weights, key);
        Value score = k.load(tile.state, row, column(v));
        if (options.scaled)
          score = k.mulf(score, factor);
        if (!same) {
          score = adjust(score, p, key, v, options, careful);
          k.store(score, tile.state, row, column(v));
        }
        if (options.updateMaximum)
          next[v] = k.maxf(score, next[v]); // a NaN is left to the weights
      }
    return next;
  });
  for (auto [v, maximum] : llvm::enumerate(maxima)) {
    if (!options.scaled)
      maximum = k.maxf(k.mulf(maximum, factor), before[v]);
    k.store(maximum, tile.state, maximumRow, column(v));
  }
}

void ScoreTile::scoreBlockOfTiles(Value p, Value block, const Options &options,
                                  bool careful) {
  if (!careful && options.nextKey)
    prefetchNext(p, block, options);
  Value rows = k.index(k.rows), first = block;
  if (careful)
    first = k.max(k.min(block, k.sub(keyCount, rows)), k.index(0));
  auto multiply = [&](Value keys) { multiplyTiles(p, first, keys); };
  if (layout.keyDim % tileNumbers)
    multiply(tile.paddedKey);
  else if (careful)
    k.choose(
        k.less(keyCount, rows), [&] { multiply(tile.paddedKey); },
        [&] { multiply(tile.key); });
  else
    multiply(tile.key);
  Value end = k.add(first, rows);
  adjustRows(p, first, careful ? k.min(end, keyCount) : end, options, careful);
}

// --- context ---

void cpu::emitContextOfTiles(KernelBuilder &k, const StateLayout &layout,
                             Value state, Value transposed, Value p,
                             Value begin, Value end) {
  Value weights = layout.weights(k, p), context = layout.context(k, p);
  Value rescaleRow = layout.statistic(k, p, StateLayout::Rescale);
  Values rescale;
  for (int64_t v = 0; v < k.vectors; ++v)
    rescale.push_back(k.load(state, rescaleRow, k.index(v * k.lanes)));
  Value firstStep = k.div(begin, tileNumbers),
        lastStep = k.div(k.add(end, tileNumbers - 1), tileNumbers);
  int64_t atOnce = std::gcd<int64_t>(layout.valueDim, 4);
  auto block = [&](Value tile, int64_t size) {
    RegisterTile sums(size, Values(k.vectors, zeroTile(k)));
    sums = k.multiply(
        firstStep, lastStep, sums,
        [&](int64_t r, Value step) {
          return loadTile(k, transposed, k.mul(k.add(tile, r), tileSize),
                          k.mul(step, tileSize));
        },
        [&](Value step, int64_t v) {
          return loadTile(k, state, k.add(weights, k.mul(step, tileSize)),
                          k.index(v * tileSize));
        });
    for (int64_t r = 0; r < size; ++r)
      for (int64_t v = 0; v < k.vectors; ++v)
        storeTile(k, sums[r][v], state,
                  k.index(layout.productsBegin() + r * tileSize),
                  k.index(v * tileSize));
    Value d = k.mul(tile, tileSize);
    Value count =
        k.min(k.index(size * tileSize), k.sub(k.index(layout.valueDim), d));
    k.loop(k.index(0), count, atOnce, [&](Value first) {
      for (int64_t i = 0; i < atOnce; ++i)
        for (int64_t v = 0; v < k.vectors; ++v) {
          Value r = k.add(first, i), column = k.index(v * k.lanes);
          Value row = k.add(context, k.add(d, r));
          Value sum = k.load(state, k.add(r, layout.productsBegin()), column);
          k.store(k.fma(k.load(state, row, column), rescale[v], sum), state,
                  row, column);
        }
    });
  };
  int64_t tiles = llvm::divideCeil(layout.valueDim, tileSize);
  for (RowBlocks blocks : balancedBlocks(tiles, k.rows / tileSize))
    k.loop(k.index(blocks.begin), k.index(blocks.end), blocks.size,
           [&](Value tile) { block(tile, blocks.size); });
}
