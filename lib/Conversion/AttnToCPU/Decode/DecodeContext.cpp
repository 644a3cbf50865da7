// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second product of kind decode: accumulator[query][d] += weight *
// V[key][d].
#include "Build/Pairs.h"
#include "Build/QueryBlocks.h"
#include "DecodeTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Vector number `vector` of a value's features.
Value DecodeTile::loadValue(Value key, Value vector) {
  int64_t dim = layout.valueDim;
  if (dim < k.lanes)
    return loadFeatures(k, value, key, 0, dim, /*once=*/false);
  Value column = k.mul(vector, k.lanes);
  if (dim % k.lanes)
    column = k.min(column, k.index(dim - k.lanes));
  return k.load(value, key, column);
}

/// Vector number first + v, where `first` is even, of the features of two
/// values, those of a pair's first key and those of key `odd`. Groups of 128
/// bits are interleaved each on its own: one instruction, and no register that
/// says how. It leaves features in the order of DecodeLayout::pairedFeature.
Value DecodeTile::loadValuePairs(Value pair, Value odd, Value first,
                                 int64_t v) {
  OpBuilder &b = k.builder;
  KernelBuilder wide = k.withLanes(2 * k.lanes);
  Value column = k.mul(k.add(first, v / 2 * 2), k.lanes);
  Value ofEven = loadBF16(wide, value, k.mul(pair, 2), column, Value());
  Value ofOdd = loadBF16(wide, value, odd, column, Value());
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    int64_t feature = DecodeLayout::pairedFeature(v % 2, lane);
    mask.append({feature, feature + wide.lanes});
  }
  return vector::BitCastOp::create(b, k.loc, k.vectorType,
                                   shuffle(k, ofEven, ofOdd, mask));
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
          Value old = k.load(accumulator, row, column);
          k.store(k.fma(old, rescale, acc[q][v]), accumulator, row, column);
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
  auto add = [&](Value acc, Value weight, Value features) {
    Value none = arith::CmpFOp::create(k.builder, k.loc,
                                       arith::CmpFPredicate::OEQ, weight, zero);
    return k.select(none, acc, k.fma(weight, features, acc));
  };
  auto addPair = [&](Value pair, Value i, int64_t v, Value acc, Value weights) {
    Value last = k.sub(count, k.index(1));
    Value odd = k.min(k.add(k.mul(pair, 2), 1), last);
    Value features = loadValuePairs(pair, odd, i, v);
    for (bool second : {false, true})
      acc = add(acc, unpackPairs(k, weights, second),
                unpackPairs(k, features, second));
    return acc;
  };
  int64_t together = layout.pairs ? 2 : 1;
  auto addVector = [&](Value q, Value i, int64_t v) {
    Value rows = layout.pairs ? pairCount(k, count) : count;
    Value row = k.add(firstRow(block), q), column = k.mul(k.add(i, v), k.lanes);
    Value sum = k.loop(k.index(0), rows, 1, zero, [&](Value r, ValueRange acc) {
      Value weight = k.loadBroadcast(scores, block, k.add(position(r), q));
      return Values{layout.pairs ? addPair(r, i, v, acc[0], weight)
                                 : add(acc[0], weight, loadValue(r, i))};
    })[0];
    Value rescale =
        k.loadBroadcast(statistics, k.index(DecodeLayout::Rescale), row);
    Value old = k.load(accumulator, row, column);
    k.store(k.fma(old, rescale, sum), accumulator, row, column);
  };
  k.loop(k.index(0), k.index(size), 1, [&](Value q) {
    k.loop(k.index(0), k.index(vectors), together, [&](Value i) {
      for (int64_t v = 0; v < together; ++v)
        addVector(q, i, v);
    });
  });
}
