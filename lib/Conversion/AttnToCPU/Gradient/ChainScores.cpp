// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From ds, the gradient by final scores, to what they were computed from: each
// read of a captured tensor and the bias get a sum, and the score behind the
// scale gets ds times the function's derivative.
//
// What of the function depends on the score has been kept when it was computed
// (KeptScores). Indices and derivatives that do not are cheaper computed again.
//
// A sum costs what its index does along the keys and along the lanes, which are
// queries:
//   the same for all pairs     a vector of sums, added up behind the keys
//   the same for all keys      one per vector of queries
//   the same for all queries   one number per key
//   neighbours                 a load and a store per vector
//   one per pair of the bias   squares of pairs, transposed
//   anything                   lane by lane
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
    for (const ScoreSum &sum : chain.sums)
      ways.push_back(wayOf(sum));
  }

  void emit();

private:
  /// For what pairs a sum has an element: for all, for those of a query, for
  /// those of a key; the bias, for one; or for any.
  enum class Way { All, Query, Key, Square, Any };
  Way wayOf(const ScoreSum &sum) const;
  /// How many vectors of sums the keys are added up in.
  unsigned vectorsOf(Way way) const {
    return way == Way::All ? 1 : way == Way::Query ? k.vectors : 0;
  }
  /// What is needed of the function for key `key` and vector v of the queries.
  void evaluate(Value key, int64_t v);
  /// Where pairs of the sum belong; after `evaluate`.
  SmallVector<Lanes> placeOf(const ScoreSum &sum, Value key, Value query);
  /// 0 where the weight is, whatever `factor` holds.
  Value times(Value slope, Value factor, Value weight);
  Value unscaled(Value slopes) {
    return k.mulf(slopes, k.splat(1 / chain.scale));
  }
  Values addKey(Value key, ValueRange items);
  Values addKeys(ValueRange zeros);
  /// All keys to the bias.
  void addSquares(Value into);
  void addSquare(Value into, Value key, Value query, Value mask);

  KernelBuilder &k;
  const TileOperands &tile;
  const ScoreChain &chain;
  const ChainRows &rows;
  LaneMemory memory;
  std::optional<cpu::ScoreFunction> function;
  SmallVector<Way> ways; // of each sum
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

Chain::Way Chain::wayOf(const ScoreSum &sum) const {
  if (!sum.read) {
    auto type = cast<MemRefType>(sum.into.getType());
    bool queries = type.getDimSize(0) != 1, keys = type.getDimSize(1) != 1;
    if (queries && keys)
      return k.lanes == 1 ? Way::Any : Way::Square;
    return queries ? Way::Query : keys ? Way::Key : Way::All;
  }
  auto indexDependsOn = [&](ArrayRef<unsigned> arguments) {
    return llvm::any_of(
        llvm::drop_begin(sum.read->getOperands()),
        [&](Value index) { return dependsOn(index, arguments); });
  };
  if (indexDependsOn(Score) || (indexDependsOn(Query) && indexDependsOn(Key)))
    return Way::Any;
  return indexDependsOn(Query) ? Way::Query
         : indexDependsOn(Key) ? Way::Key
                               : Way::All;
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
    Value query = k.add(rows.firstQuery, v * k.lanes);
    unsigned item = 0;
    for (auto [i, sum] : llvm::enumerate(chain.sums)) {
      if (ways[i] == Way::Square)
        continue;
      Value x = times(slope, sum.derivative, weight);
      if (unsigned vectors = vectorsOf(ways[i])) {
        Value &of = next[item + v % vectors];
        of = k.addf(of, x);
        item += vectors;
      } else if (ways[i] == Way::Key) {
        ofKey[i] = add(ofKey[i], x);
        if (v + 1 == k.vectors)
          memory.add(unscaled(ofKey[i]), sum.into, placeOf(sum, key, query));
      } else {
        memory.add(unscaled(x), sum.into, placeOf(sum, key, query));
      }
    }
    if (chain.derivative)
      k.store(times(slope, chain.derivative, weight), rows.state, row, column);
  }
  return next;
}

/// Pairs of `lanes` keys and queries; of fewer keys where there is a mask.
void Chain::addSquare(Value into, Value key, Value query, Value mask) {
  Values lines;
  for (int64_t i = 0; i < k.lanes; ++i) {
    Value row = k.add(key, i);
    if (mask) // of a key that is there
      row = k.min(row, k.sub(rows.end, k.index(1)));
    Value slope = k.load(rows.state, k.add(rows.slopes, row), query);
    lines.push_back(unscaled(slope));
  }
  Value count = memref::DimOp::create(k.builder, k.loc, into, 0);
  Value first = k.add(k.sub(rows.firstQuery, tile.queryBegin), query);
  for (auto [i, line] : llvm::enumerate(k.transpose(lines))) {
    Value row = k.add(first, i), x = line;
    k.when(k.less(row, count), [&] {
      Value old = k.loadRow(into, row, key, mask);
      k.storeRow(k.addf(old, x), into, row, key, mask);
    });
  }
}

void Chain::addSquares(Value into) {
  auto squares = [&](Value key, Value mask) {
    k.loop(k.index(0), k.index(k.queryBlock), k.lanes,
           [&](Value query) { addSquare(into, key, query, mask); });
  };
  Value count = k.sub(rows.end, rows.begin);
  Value whole = k.add(rows.begin, k.mul(k.div(count, k.lanes), k.lanes));
  k.loop(rows.begin, whole, k.lanes, [&](Value key) { squares(key, {}); });
  k.when(k.less(whole, rows.end), [&] {
    Value mask = vector::CreateMaskOp::create(
        k.builder, k.loc, k.boolVectorType, k.sub(rows.end, whole));
    squares(whole, mask);
  });
}

/// Slices of a table that neighbouring keys add to overlap, and a load waits
/// long for a store that it overlaps partly. So keys come `lanes` apart.
Values Chain::addKeys(ValueRange zeros) {
  auto add = [&](Value begin, int64_t step, ValueRange items) {
    return k.loop(
        begin, rows.end, step, items,
        [&](Value key, ValueRange sums) { return addKey(key, sums); });
  };
  if (!llvm::is_contained(ways, Way::Any))
    return add(rows.begin, 1, zeros);
  Value first = k.min(k.index(k.lanes), k.sub(rows.end, rows.begin));
  return k.loop(k.index(0), first, 1, zeros, [&](Value i, ValueRange items) {
    return add(k.add(rows.begin, i), k.lanes, items);
  });
}

void Chain::emit() {
  Values zeros;
  for (auto [sum, way] : llvm::zip(chain.sums, ways)) {
    zeros.append(vectorsOf(way), k.splat(0.0));
    if (way == Way::Square) // before ds is multiplied
      addSquares(sum.into);
  }
  bool onlySquares = !chain.derivative && llvm::all_of(ways, [](Way way) {
    return way == Way::Square;
  });
  if (onlySquares)
    return;
  Values items = addKeys(zeros);
  ArrayRef<Value> left(items);
  for (auto [sum, way] : llvm::zip(chain.sums, ways)) {
    for (unsigned v = 0; v < vectorsOf(way); ++v) {
      // Any key will do: no index depends on it.
      Value query = k.add(rows.firstQuery, v * k.lanes);
      known.clear();
      if (sum.read) {
        SmallVector<Value> wanted(llvm::drop_begin(sum.read->getOperands()));
        llvm::DenseMap<Value, Value> nothingKept;
        auto lanes =
            function->evaluate(wanted, nothingKept, query, tile.keyBegin);
        for (auto [value, of] : llvm::zip_equal(wanted, lanes))
          known[value] = of;
      }
      memory.add(unscaled(left.front()), sum.into,
                 placeOf(sum, k.index(0), query));
      left = left.drop_front();
    }
  }
}

void cpu::emitChainScores(KernelBuilder &k, const TileOperands &tile,
                          const ScoreChain &chain, const ChainRows &rows) {
  if (!chain.sums.empty() || chain.derivative)
    Chain(k, tile, chain, rows).emit();
}
