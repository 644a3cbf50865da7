// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax for few queries. Both products have features in
// their lanes, so that keys and values are read as vectors where they lie, in
// any type, each one time for a block of 4 or 8 queries:
//   1. scores: dot products, whose lanes are added by a transpose
//   2. softmax of a block, [key][query] without gaps
//   3. accumulator[query][d] += weight * V[key][d]
// A single query takes `lanes` keys at a time instead of a block. Pairs of bf16
// are multiplied as they lie in keys; of values, two rows are interleaved.
//
// Memory sets the pace, and it is fast only if lines are asked for in the order
// of their addresses and evenly. A single query reads key after key and value
// after value, which the processor's own prefetchers follow. Blocks of queries
// read several rows at once: keys prefetch those of the next tile, and so do
// values, line after line.
#include "Build/Pairs.h"
#include "DecodeTile.h"
#include "Score/Normalization.h"
#include "Score/ScoreTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Which share of a tile's prefetches a block makes. More blocks than a single
/// query has repeat the last share.
Value DecodeTile::shareOf(Value block) {
  return layout.capacity / layout.block > shares
             ? k.min(block, k.index(shares - 1))
             : block;
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
  Value reference = k.repeat(safe);
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

/// Bias and mask, pair by pair, for tiles on the edge.
void DecodeTile::adjustScores(StateType type, CPUScheduleAttr schedule) {
  KernelBuilder one = k.withLanes(1);
  StateLayout unused(type, schedule);
  unused.pairs = false; // nothing is multiplied here
  ScoreTile pairs(one, unused, tile);
  Value perHead = k.sub(tile.queryEnd, tile.queryBegin);
  ScoreTile::Options options;
  options.function = false; // was applied before
  k.loop(k.index(0), rows, 1, [&](Value row) {
    Value query =
        arith::RemUIOp::create(k.builder, k.loc, row, perHead).getResult();
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

void DecodeTile::run(StateType type, CPUScheduleAttr schedule, bool strict) {
  scoreTile();
  if (tile.function)
    emitDecodeFunction(k, tile, scores, blocks, count,
                       k.sub(tile.queryEnd, tile.queryBegin), size);
  if (tile.mask || tile.bias)
    adjustScores(type, schedule);
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
  if (layout.pairs || layout.interleave > 1) // of blocks alone
    return run(/*single=*/false);
  if (type.getRows() == 1 || heads > 1)
    return run(/*single=*/type.getRows() == 1);
  Value isSingle = arith::CmpIOp::create(
      k.builder, k.loc, arith::CmpIPredicate::eq, rows, k.index(1));
  k.choose(isSingle, [&] { run(true); }, [&] { run(false); });
}
