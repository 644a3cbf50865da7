// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum costs what its index does along the keys and along the lanes, which are
// queries:
//   the same for all pairs     a vector of sums, added up behind the keys
//   the same for all keys      the same
//   the same for all queries   one number per key
//   neighbours                 a load and a store per vector
//   one per pair of the bias   squares of pairs, transposed
//   anything                   lane by lane
#include "ChainScores.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

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

static ValueRange indicesOf(Operation *read) {
  return read->getOperands().drop_front();
}

static bool isPerPair(const ScoreSum &sum) {
  auto type = cast<MemRefType>(sum.into.getType());
  return !sum.read && type.getDimSize(0) != 1 && type.getDimSize(1) != 1;
}

bool ScoreChain::keepsSlopes() const {
  return derivative && llvm::any_of(sums, isPerPair);
}

ChainScores::ChainScores(KernelBuilder &k, const TileOperands &tile,
                         const ScoreChain &chain, Value firstQuery)
    : k(k), tile(tile), chain(chain), firstQuery(firstQuery), memory(k),
      ofKey(chain.sums.size()) {
  auto want = [&](Value value) {
    if (!value)
      return;
    wanted.insert(value);
    if (isa<FloatType>(value.getType()) && dependsOn(value, Score))
      ofScores.insert(value);
  };
  want(chain.derivative);
  for (const ScoreSum &sum : chain.sums) {
    ways.push_back(wayOf(sum));
    want(sum.derivative);
    if (sum.read)
      llvm::for_each(indicesOf(sum.read), want);
  }
  if (tile.function)
    function.emplace(k, *tile.function, tile.captures);
}

// --- the function ---

ChainScores::Pair ChainScores::apply(Value score, Value key, int64_t v) {
  Pair pair;
  pair.key = key;
  pair.v = v;
  pair.score = k.mulf(score, k.splat(llvm::numbers::ln2));
  Value query = queryOf(v), absolute = k.add(tile.keyBegin, key);
  Block &block = tile.function->front();
  llvm::DenseMap<Value, Value> given{{block.getArgument(Score), pair.score}};
  SmallVector<Value> answers;
  if (function->isApart()) { // what it returns are floats, and no indices
    Values results =
        function->apply(pair.score, query, absolute, ofScores.getArrayRef());
    pair.score = results[0];
    for (auto [value, result] :
         llvm::zip_equal(ofScores, llvm::drop_begin(results)))
      given[value] = result;
  } else {
    answers.push_back(block.getTerminator()->getOperand(0));
  }
  llvm::append_range(answers, wanted);
  SmallVector<Lanes> lanes =
      function->evaluate(answers, given, query, absolute);
  if (!function->isApart()) {
    pair.score = memory.vectorOf(lanes.front());
    lanes.erase(lanes.begin());
  }
  for (auto [value, of] : llvm::zip_equal(wanted, lanes))
    pair.known[value] = of;
  return pair;
}

/// Whether an index is a sum of multiples of the query, of the key and of what
/// is the same for all pairs.
static bool isLinear(Value index) {
  if (!dependsOn(index, {Score, Query, Key}))
    return true;
  Operation *op = index.getDefiningOp();
  if (!op)
    return !dependsOn(index, Score);
  if (isa<arith::MulIOp>(op))
    return isLinear(op->getOperand(0)) &&
           matchPattern(op->getOperand(1), m_Constant());
  return isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp>(op) &&
         llvm::all_of(op->getOperands(), isLinear);
}

/// What is linear is largest, and smallest, at the corners.
Value ChainScores::allInside(Value begin, Value end) {
  if (!function || function->isApart())
    return Value();
  llvm::DenseMap<Value, Value> nothing;
  Value all;
  for (Operation &op : tile.function->front()) {
    if (!readsCapture(&op))
      continue;
    Value index = op.getOperands().back();
    if (op.getNumOperands() == 1 || !dependsOn(index, Query))
      continue;
    if (!isLinear(index))
      return Value();
    auto source = cast<BlockArgument>(op.getOperand(0));
    Value captured =
        tile.captures.drop_front(2)[source.getArgNumber() - FirstCapture];
    auto type = cast<MemRefType>(captured.getType());
    Value width =
        memref::DimOp::create(k.builder, k.loc, captured, type.getRank() - 1);
    for (int64_t query : {int64_t(0), k.queryBlock - 1})
      for (Value key : {begin, k.sub(end, k.index(1))}) {
        Lanes at =
            function->evaluate({index}, nothing, k.add(firstQuery, query),
                               k.add(tile.keyBegin, key))[0];
        for (Value inside :
             {k.less(k.index(-1), at.scalar), k.less(at.scalar, width)})
          all = all ? arith::AndIOp::create(k.builder, k.loc, all, inside)
                    : inside;
      }
  }
  return all;
}

void ChainScores::assumeInside(bool inside) {
  memory.assumeInside(inside);
  if (function)
    function->assumeInside(inside);
}

// --- sums ---

ChainScores::Way ChainScores::wayOf(const ScoreSum &sum) const {
  if (!sum.read) {
    if (isPerPair(sum))
      return k.lanes == 1 ? Way::Any : Way::Square;
    auto type = cast<MemRefType>(sum.into.getType());
    return type.getDimSize(0) != 1   ? Way::Query
           : type.getDimSize(1) != 1 ? Way::Key
                                     : Way::All;
  }
  auto indexDependsOn = [&](ArrayRef<unsigned> arguments) {
    return llvm::any_of(indicesOf(sum.read), [&](Value index) {
      return dependsOn(index, arguments);
    });
  };
  if (indexDependsOn(Score) || (indexDependsOn(Query) && indexDependsOn(Key)))
    return Way::Any;
  return indexDependsOn(Query) ? Way::Query
         : indexDependsOn(Key) ? Way::Key
                               : Way::All;
}

int64_t ChainScores::keyStep() const {
  return llvm::is_contained(ways, Way::Any) ? k.lanes : 1;
}

Values ChainScores::zeros() {
  return Values(llvm::count_if(ways, isCarried), k.splat(0.0));
}

SmallVector<Lanes> ChainScores::placeOf(const ScoreSum &sum, const Pair &pair) {
  if (!sum.read)
    return {Lanes{k.sub(queryOf(pair.v), tile.queryBegin), 1}, Lanes{pair.key}};
  SmallVector<Lanes> place;
  for (Value index : indicesOf(sum.read))
    place.push_back(pair.known.lookup(index));
  return place;
}

/// Whether it is a number wherever it is computed.
static bool isFinite(Value value) {
  return matchPattern(value, m_Constant()) ||
         value.getDefiningOp<arith::SIToFPOp>();
}

Value ChainScores::times(const Pair &pair, Value slope, Value factor,
                         Value none) {
  if (!factor || matchPattern(factor, m_OneFloat()))
    return slope;
  Value product = k.mulf(slope, memory.vectorOf(pair.known.lookup(factor)));
  return isFinite(factor) ? product : k.select(none, k.splat(0.0), product);
}

Value ChainScores::addTimes(const Pair &pair, Value slope, Value factor,
                            Value none, Value sum) {
  if (factor && isFinite(factor))
    return k.fma(slope, memory.vectorOf(pair.known.lookup(factor)), sum);
  return k.addf(sum, times(pair, slope, factor, none));
}

Value ChainScores::add(const Pair &pair, Value slope, Value none,
                       MutableArrayRef<Value> sums) {
  for (auto [i, sum] : llvm::enumerate(chain.sums)) {
    if (ways[i] == Way::Square)
      continue;
    if (isCarried(ways[i])) {
      sums.front() = addTimes(pair, slope, sum.derivative, none, sums.front());
      sums = sums.drop_front();
      continue;
    }
    Value x = times(pair, slope, sum.derivative, none);
    if (ways[i] == Way::Key) {
      ofKey[i] = pair.v ? k.addf(ofKey[i], x) : x;
      if (pair.v + 1 == k.vectors)
        memory.add(unscaled(ofKey[i]), sum.into, placeOf(sum, pair));
    } else {
      memory.add(unscaled(x), sum.into, placeOf(sum, pair));
    }
  }
  return times(pair, slope, chain.derivative, none);
}

void ChainScores::finish(int64_t v, ValueRange sums) {
  llvm::DenseMap<Value, Value> nothing;
  for (auto [sum, way] : llvm::zip(chain.sums, ways)) {
    if (!isCarried(way))
      continue;
    Pair pair;
    pair.key = k.index(0); // any will do: no index depends on it
    pair.v = v;
    if (sum.read) {
      SmallVector<Value> indices(indicesOf(sum.read));
      auto lanes =
          function->evaluate(indices, nothing, queryOf(v), tile.keyBegin);
      for (auto [value, of] : llvm::zip_equal(indices, lanes))
        pair.known[value] = of;
    }
    memory.add(unscaled(sums.front()), sum.into, placeOf(sum, pair));
    sums = sums.drop_front();
  }
}

// --- the bias of a number per pair ---

/// Pairs of `lanes` keys and queries; of fewer keys where there is a mask.
void ChainScores::addSquare(const Square &square, Value into, Value key,
                            Value query, Value mask) {
  Values lines;
  for (int64_t i = 0; i < k.lanes; ++i) {
    Value row = k.add(key, i);
    if (mask) // of a key that is there
      row = k.min(row, k.sub(square.end, k.index(1)));
    Value slope = k.load(square.state, k.add(square.slopes, row), query);
    lines.push_back(unscaled(slope));
  }
  Value count = memref::DimOp::create(k.builder, k.loc, into, 0);
  Value first = k.add(k.sub(firstQuery, tile.queryBegin), query);
  for (auto [i, line] : llvm::enumerate(k.transpose(lines))) {
    Value row = k.add(first, i), x = line;
    k.when(k.less(row, count), [&] {
      Value old = k.loadRow(into, row, key, mask);
      k.storeRow(k.addf(old, x), into, row, key, mask);
    });
  }
}

void ChainScores::addSquares(const Square &square) {
  for (auto [sum, way] : llvm::zip(chain.sums, ways)) {
    if (way != Way::Square)
      continue;
    Value into = sum.into, begin = square.begin, end = square.end;
    auto squares = [&](Value key, Value mask) {
      k.loop(k.index(0), k.index(k.queryBlock), k.lanes,
             [&](Value query) { addSquare(square, into, key, query, mask); });
    };
    Value count = k.sub(end, begin);
    Value whole = k.add(begin, k.mul(k.div(count, k.lanes), k.lanes));
    k.loop(begin, whole, k.lanes, [&](Value key) { squares(key, {}); });
    k.when(k.less(whole, end), [&] {
      Value mask = vector::CreateMaskOp::create(
          k.builder, k.loc, k.boolVectorType, k.sub(end, whole));
      squares(whole, mask);
    });
  }
}
