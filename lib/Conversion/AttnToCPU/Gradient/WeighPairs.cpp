// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One sweep over the scores and the cotangents of weights of a query block,
// vector by vector: the score function and the bias, the weight, ds, every sum
// of the chain and the function's derivative, all while they are in registers.
// The function is computed once, and nothing of it goes through memory.
//
// Keys of one vector of the queries come in turn or, where a sum has one number
// per key, all vectors of a key. There are as many in flight as hide the
// latency of an exponential.
#include "WeighPairs.h"
#include "ChainScores.h"
#include "Score/Normalization.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
class Sweep {
public:
  Sweep(KernelBuilder &k, const GradLayout &layout, const GradStep &step,
        ScoreTile &scores, const PairRows &rows)
      : k(k), layout(layout.queries), step(step), scores(scores), rows(rows),
        chain(k, step.tile, step.chain, scores.firstQuery(rows.p)),
        statistics(k.vectors) {}

  void emit();

private:
  struct Pair {
    ChainScores::Pair function; // its key and its vector, in any case
    Value score;                // in units of log2
    Value excluded;             // null: never
  };
  /// Of a vector of the queries; `nobody` is on where a query sees no key.
  struct Statistics {
    Value lse, delta, nobody;
  };
  Statistics statisticsOf(int64_t v);
  Value column(int64_t v) { return k.index(v * k.lanes); }
  Value either(Value a, Value b) {
    return a ? arith::OrIOp::create(k.builder, k.loc, a, b).getResult() : b;
  }

  Pair load(Value key, int64_t v);
  void applyFunction(Pair &pair);
  /// The weight, and what ds is but for it.
  std::pair<Value, Value> weigh(const Pair &pair, Value power);
  void change(const Pair &pair, Value power, MutableArrayRef<Value> sums);
  Values sweepKeys(Value first, int64_t count, ArrayRef<int64_t> vectors,
                   ValueRange sums);
  void sweep(ArrayRef<int64_t> vectors);
  void sweepAll();

  KernelBuilder &k;
  const StateLayout &layout;
  const GradStep &step;
  ScoreTile &scores;
  const PairRows &rows;
  ChainScores chain;
  SmallVector<Statistics> statistics; // of each vector
};
} // namespace

Sweep::Statistics Sweep::statisticsOf(int64_t v) {
  auto load = [&](StateLayout::Statistic which) {
    return k.load(rows.queries, layout.statistic(k, rows.p, which), column(v));
  };
  Value lse = load(GradLayout::Lse);
  Value infinite = k.infinity(/*negative=*/false);
  return {lse, load(GradLayout::Delta), haveSameBits(k, lse, infinite)};
}

Sweep::Pair Sweep::load(Value key, int64_t v) {
  Value score = k.load(rows.queries, k.add(rows.weights, key), column(v));
  Pair pair;
  pair.function.key = key;
  pair.function.v = v;
  pair.score = score;
  if (step.tile.function)
    applyFunction(pair);
  else if (step.strict)
    pair.excluded = haveSameBits(k, score, k.infinity());
  return pair;
}

void Sweep::applyFunction(Pair &pair) {
  Value product = pair.score, key = pair.function.key;
  int64_t v = pair.function.v;
  pair.function = chain.apply(product, key, v);
  pair.score = scaledBy(k, pair.function.score, log2OfE);
  pair.excluded = haveSameBits(k, pair.score, k.infinity());
  if (step.tile.mask)
    pair.excluded = either(pair.excluded, scores.isHidden(product));
  if (!step.tile.bias)
    return;
  Value bias = scores.bias(rows.p, key, v);
  Value excludes = haveSameBits(k, bias, k.infinity());
  pair.excluded = either(pair.excluded, excludes);
  pair.score = k.addf(pair.score, bias);
}

std::pair<Value, Value> Sweep::weigh(const Pair &pair, Value power) {
  Value key = pair.function.key, zero = k.splat(0.0);
  int64_t v = pair.function.v;
  Value u = k.load(rows.cotangents, k.add(rows.slopes, key), column(v));
  if (step.tile.cotangents)
    u = k.fma(scores.cotangent(rows.p, key, v), k.splat(step.chain.scale), u);
  const Statistics &of = statistics[v];
  Value change;
  if (step.sigmoid) {
    Value rest;
    std::tie(power, rest) = sigmoidAndRest(k, pair.score);
    power = k.select(of.nobody, zero, power);
    change = k.mulf(rest, u);
  } else {
    change = k.subf(u, of.delta);
  }
  if (pair.excluded) // lse may be NaN
    power = k.select(pair.excluded, zero, power);
  // Sums of all lanes have those behind the last query, too.
  if (step.strict && !step.chain.sums.empty())
    power = k.select(of.nobody, zero, power);
  return {power, change};
}

void Sweep::change(const Pair &pair, Value power, MutableArrayRef<Value> sums) {
  Value key = pair.function.key, at = column(pair.function.v);
  Value factor, zero = k.splat(0.0);
  std::tie(power, factor) = weigh(pair, power);
  Value slope = k.mulf(power, factor), none = haveSameBits(k, power, zero);
  slope = k.select(none, zero, slope);
  k.store(power, rows.queries, k.add(rows.weights, key), at);
  if (step.slopes)
    k.store(slope, step.slopes, key, at);
  slope = chain.add(pair.function, slope, none, sums);
  k.store(slope, rows.cotangents, k.add(rows.slopes, key), at);
}

/// `count` keys from `first` on.
Values Sweep::sweepKeys(Value first, int64_t count, ArrayRef<int64_t> vectors,
                        ValueRange sums) {
  SmallVector<Pair> pairs;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t v : vectors)
      pairs.push_back(load(k.add(first, i * chain.keyStep()), v));
  Values powers(pairs.size()), next(sums);
  if (!step.sigmoid) {
    for (auto [power, pair] : llvm::zip_equal(powers, pairs))
      power = k.subf(pair.score, statistics[pair.function.v].lse);
    powers = k.exp2(powers);
  }
  MutableArrayRef<Value> left(next);
  size_t ofVector = next.size() / vectors.size();
  for (auto [i, pair] : llvm::enumerate(pairs))
    change(pair, powers[i],
           left.slice(i % vectors.size() * ofVector, ofVector));
  return next;
}

/// All keys.
void Sweep::sweep(ArrayRef<int64_t> vectors) {
  constexpr int64_t inFlight = 4;
  int64_t step = chain.keyStep(), ofVectors = vectors.size(),
          count = std::max<int64_t>(1, inFlight / ofVectors);
  for (int64_t v : vectors)
    statistics[v] = statisticsOf(v);
  auto loop = [&](Value begin, Value end, int64_t count, ValueRange sums) {
    return k.loop(begin, end, count * step, sums,
                  [&](Value key, ValueRange carried) {
                    return sweepKeys(key, count, vectors, carried);
                  });
  };
  auto keysFrom = [&](Value begin, ValueRange sums) {
    if (count == 1)
      return loop(begin, rows.end, 1, sums);
    Value left = k.add(k.sub(rows.end, begin), step - 1);
    Value turns = k.mul(k.div(left, count * step), count * step);
    Value middle = k.add(begin, turns);
    Values items = loop(begin, middle, count, sums);
    return loop(middle, rows.end, 1, items);
  };
  Values sums;
  for (int64_t i = 0; i < ofVectors; ++i)
    llvm::append_range(sums, chain.zeros());
  if (step == 1) {
    sums = keysFrom(rows.begin, sums);
  } else {
    Value first = k.min(k.index(step), k.sub(rows.end, rows.begin));
    sums = k.loop(k.index(0), first, 1, sums, [&](Value i, ValueRange carried) {
      return keysFrom(k.add(rows.begin, i), carried);
    });
  }
  size_t ofVector = sums.size() / ofVectors;
  for (auto [i, v] : llvm::enumerate(vectors))
    chain.finish(v, ArrayRef<Value>(sums).slice(i * ofVector, ofVector));
}

void Sweep::sweepAll() {
  auto vectors = llvm::to_vector(llvm::seq(k.vectors));
  if (chain.addsByKey())
    return sweep(vectors);
  for (int64_t v : vectors)
    sweep(v);
}

void Sweep::emit() {
  auto sweepWhere = [&](bool inside) {
    chain.assumeInside(inside);
    sweepAll();
  };
  if (Value inside = chain.allInside(rows.begin, rows.end))
    k.choose(inside, [&] { sweepWhere(true); }, [&] { sweepWhere(false); });
  else
    sweepWhere(false);
  bool kept = static_cast<bool>(step.slopes);
  chain.addSquares({kept ? step.slopes : rows.cotangents,
                    kept ? k.index(0) : rows.slopes, rows.begin, rows.end});
}

void cpu::weighPairs(KernelBuilder &k, const GradLayout &layout,
                     const GradStep &step, ScoreTile &scores,
                     const PairRows &rows) {
  Sweep(k, layout, step, scores, rows).emit();
}
