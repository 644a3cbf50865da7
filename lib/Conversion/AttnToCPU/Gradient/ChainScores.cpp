// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From ds, the gradient by final scores, to what they were computed from: each
// read of a captured tensor and the bias get a sum, and the score behind the
// scale gets ds times the function's derivative.
//
// What of the function depends on the score has been kept when it was computed
// (KeptScores). Indices and derivatives that do not are cheaper computed again.
//
// A sum costs what its index does along the lanes, which are queries:
//   the same for all keys     a vector of sums, added up behind the keys
//   the same for all queries  one number per key
//   neighbours                a load and a store per vector
//   anything                  lane by lane
#include "GradKernels.h"
#include "Score/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Whether `value` depends on one of these arguments of its block.
static bool dependsOn(Value value, ArrayRef<unsigned> arguments) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (llvm::is_contained(arguments, argument.getArgNumber()))
        return true;
      continue;
    }
    llvm::append_range(open, next.getDefiningOp()->getOperands());
  }
  return false;
}

SmallVector<Value, 0> cpu::keptOf(const ScoreChain &chain, Region &function) {
  llvm::SetVector<Value, SmallVector<Value, 0>> kept;
  auto consider = [&](Value value, Value instead) {
    if (value && dependsOn(value, Score))
      kept.insert(instead);
  };
  consider(chain.derivative, chain.derivative);
  for (const ScoreSum &sum : chain.sums) {
    consider(sum.derivative, sum.derivative);
    // Indices are no floats, which a row could hold.
    if (sum.read)
      for (Value index : llvm::drop_begin(sum.read->getOperands()))
        consider(index, function.getArgument(Score));
  }
  return kept.takeVector();
}

static bool isOne(Value value) {
  return value && matchPattern(value, m_OneFloat());
}

namespace {
class Chain {
public:
  Chain(KernelBuilder &k, const TileOperands &tile, const ScoreChain &chain,
        const ChainRows &rows)
      : k(k), tile(tile), chain(chain), rows(rows), memory(k) {
    if (tile.function)
      function.emplace(k, *tile.function, tile.captures);
    for (const ScoreSum &sum : chain.sums) {
      perItem.push_back(sum.read && !indexDependsOn(sum, {Score, Query, Key}));
      perKey.push_back(sum.read ? !indexDependsOn(sum, {Score, Query})
                                : isRow(sum.into));
    }
  }

  void emit();

private:
  static bool indexDependsOn(const ScoreSum &sum, ArrayRef<unsigned> on) {
    return llvm::any_of(llvm::drop_begin(sum.read->getOperands()),
                        [&](Value index) { return dependsOn(index, on); });
  }
  static bool isRow(Value matrix) {
    return cast<MemRefType>(matrix.getType()).getDimSize(0) == 1;
  }
  /// What is needed of the function for key `key` and vector v of the queries.
  void evaluate(Value key, int64_t v);
  /// Where pairs of the sum belong; after `evaluate`.
  SmallVector<Lanes> placeOf(const ScoreSum &sum, Value key, Value query);
  /// 0 where the weight is, whatever `factor` holds.
  Value times(Value slope, Value factor, Value weight);
  Values addKey(Value key, ValueRange items);

  KernelBuilder &k;
  const TileOperands &tile;
  const ScoreChain &chain;
  const ChainRows &rows;
  LaneMemory memory;
  std::optional<cpu::ScoreFunction> function;
  SmallVector<bool> perItem, perKey; // of each sum
  llvm::DenseMap<Value, Lanes> known;
};
} // namespace

void Chain::evaluate(Value key, int64_t v) {
  known.clear();
  if (!function)
    return;
  llvm::DenseMap<Value, Value> kept;
  for (auto [i, value] : llvm::enumerate(tile.kept.values))
    kept[value] =
        k.load(tile.kept.rows, tile.kept.row(k, i, key), k.index(v * k.lanes));
  llvm::SetVector<Value> wanted;
  auto want = [&](Value value) {
    if (value)
      wanted.insert(value);
  };
  want(chain.derivative);
  for (const ScoreSum &sum : chain.sums) {
    want(sum.derivative);
    if (sum.read)
      for (Value index : llvm::drop_begin(sum.read->getOperands()))
        want(index);
  }
  Value query = k.add(rows.firstQuery, v * k.lanes);
  auto lanes = function->evaluate(wanted.getArrayRef(), kept, query,
                                  k.add(tile.keyBegin, key));
  for (auto [value, of] : llvm::zip_equal(wanted, lanes))
    known[value] = of;
}

SmallVector<Lanes> Chain::placeOf(const ScoreSum &sum, Value key, Value query) {
  if (!sum.read)
    return {Lanes{k.sub(query, tile.queryBegin), 1}, Lanes{key}};
  SmallVector<Lanes> place;
  for (Value index : llvm::drop_begin(sum.read->getOperands()))
    place.push_back(known.lookup(index));
  return place;
}

Value Chain::times(Value slope, Value factor, Value weight) {
  if (!factor || isOne(factor))
    return slope;
  Value product = k.mulf(slope, memory.vectorOf(known.lookup(factor)));
  if (matchPattern(factor, m_Constant()))
    return product;
  Value zero = k.splat(0.0);
  Value none = arith::CmpFOp::create(k.builder, k.loc,
                                     arith::CmpFPredicate::OEQ, weight, zero);
  return k.select(none, zero, product);
}

/// Returns the vectors of sums with those of a key.
Values Chain::addKey(Value key, ValueRange items) {
  Values next(items.begin(), items.end()), ofKey(chain.sums.size());
  auto add = [&](Value sum, Value x) { return sum ? k.addf(sum, x) : x; };
  for (int64_t v = 0; v < k.vectors; ++v) {
    evaluate(key, v);
    Value column = k.index(v * k.lanes);
    Value row = k.add(rows.slopes, key);
    Value slope = k.load(rows.state, row, column);
    Value weight = k.load(rows.weightState, k.add(rows.weights, key), column);
    Value ds = k.mulf(slope, k.splat(1 / chain.scale));
    unsigned item = 0;
    for (auto [i, sum] : llvm::enumerate(chain.sums)) {
      Value x = times(ds, sum.derivative, weight);
      Value query = k.add(rows.firstQuery, v * k.lanes);
      if (perItem[i]) {
        next[item] = add(next[item], x);
        ++item;
      } else if (perKey[i]) {
        ofKey[i] = add(ofKey[i], x);
        if (v + 1 == k.vectors)
          memory.add(ofKey[i], sum.into, placeOf(sum, key, query));
      } else {
        memory.add(x, sum.into, placeOf(sum, key, query));
      }
    }
    if (chain.derivative)
      k.store(times(slope, chain.derivative, weight), rows.state, row, column);
  }
  return next;
}

void Chain::emit() {
  Values zeros(llvm::count(perItem, true), k.splat(0.0));
  Values items =
      k.loop(rows.begin, rows.end, 1, zeros,
             [&](Value key, ValueRange sums) { return addKey(key, sums); });
  if (items.empty())
    return;
  unsigned item = 0;
  for (auto [sum, isItem] : llvm::zip(chain.sums, perItem)) {
    if (!isItem)
      continue;
    // Any query and key will do: no index depends on them.
    SmallVector<Value> wanted(llvm::drop_begin(sum.read->getOperands()));
    llvm::DenseMap<Value, Value> nothingKept;
    SmallVector<Lanes> place =
        function->evaluate(wanted, nothingKept, rows.firstQuery, tile.keyBegin);
    memory.add(items[item++], sum.into, place);
  }
}

void cpu::emitChainScores(KernelBuilder &k, const TileOperands &tile,
                          const ScoreChain &chain, const ChainRows &rows) {
  if (!chain.sums.empty() || chain.derivative)
    Chain(k, tile, chain, rows).emit();
}
