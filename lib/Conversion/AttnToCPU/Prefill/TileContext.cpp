// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context by products of tiles: O^T[d][query] += V[:, d] . P^T[:, query]. A
// is V, transposed once per tile of keys for all query blocks; B is the
// weights, which the state holds in pairs.
#include "Build/QueryBlocks.h"
#include "Build/TileProducts.h"
#include "StageRows.h"
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

void cpu::emitContextOfTiles(KernelBuilder &k, const StateLayout &layout,
                             Value state, Value transposed, Value p,
                             Value begin, Value end) {
  Value weights = layout.weights(k, p), accumulator = layout.accumulator(k, p);
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
          Value row = k.add(accumulator, k.add(d, r));
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
