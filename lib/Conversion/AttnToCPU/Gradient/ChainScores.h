// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From ds, the gradient by final scores, to what they were computed from, pair
// by pair: each read of a captured tensor and the bias get a sum, and the score
// behind the scale gets ds times the function's derivative.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_CHAINSCORES_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_CHAINSCORES_H

#include "GradKernels.h"
#include "Score/ScoreFunction.h"
#include "llvm/ADT/SetVector.h"

namespace attn::cpu {

/// Of one query block. Keys are those of the tile, queries absolute.
class ChainScores {
public:
  ChainScores(KernelBuilder &k, const TileOperands &tile,
              const ScoreChain &chain, Value firstQuery);

  /// Vector v of the queries and a key, and what is known of the function
  /// there; `score` is its value, in natural units.
  struct Pair {
    Value key;
    int64_t v;
    Value score;
    llvm::DenseMap<Value, Lanes> known;
  };
  /// The function of scores in units of log2.
  Pair apply(Value score, Value key, int64_t v);

  /// How far apart keys should come that follow each other: slices of a table
  /// that neighbouring keys add to overlap, and a load waits long for a store
  /// that it overlaps partly.
  int64_t keyStep() const;
  /// Whether all neighbours that pairs of these keys read, or add to, stand
  /// inside; null where that cannot be said for all at once.
  Value allInside(Value begin, Value end);
  void assumeInside(bool inside);

  /// Whether all vectors of a key must come in turn, since a sum has a number
  /// per key.
  bool addsByKey() const { return llvm::is_contained(ways, Way::Key); }
  /// Sums of one vector of the queries that the sweep carries from key to key,
  /// before the first.
  Values zeros();
  /// `slope` times the derivative, when it has been added to all sums. `none`
  /// is on where the pair has no weight.
  Value add(const Pair &pair, Value slope, Value none,
            llvm::MutableArrayRef<Value> sums);
  /// Behind the last key of vector v.
  void finish(int64_t v, mlir::ValueRange sums);

  /// Adds ds, at `slopes` + key of `state`, for keys [begin, end), to the bias
  /// of a number per pair, if that is one of the sums.
  struct Square {
    Value state, slopes, begin, end;
  };
  void addSquares(const Square &square);

private:
  /// For what pairs a sum has an element: for all, for those of a query, for
  /// those of a key; the bias, for one; or for any.
  enum class Way { All, Query, Key, Square, Any };
  Way wayOf(const ScoreSum &sum) const;
  static bool isCarried(Way way) {
    return way == Way::All || way == Way::Query;
  }
  Value queryOf(int64_t v) const { return k.add(firstQuery, v * k.lanes); }
  /// Where a pair's part of the sum belongs.
  llvm::SmallVector<Lanes> placeOf(const ScoreSum &sum, const Pair &pair);
  /// 0 where there is no weight, whatever `factor` holds.
  Value times(const Pair &pair, Value slope, Value factor, Value none);
  Value addTimes(const Pair &pair, Value slope, Value factor, Value none,
                 Value sum);
  Value unscaled(Value slopes) {
    return k.mulf(slopes, k.splat(1 / chain.scale));
  }
  void addSquare(const Square &square, Value into, Value key, Value query,
                 Value mask);

  KernelBuilder &k;
  const TileOperands &tile;
  const ScoreChain &chain;
  Value firstQuery;
  LaneMemory memory;
  std::optional<ScoreFunction> function;
  llvm::SmallVector<Way> ways;     // of each sum
  llvm::SetVector<Value> wanted;   // of the function, beside its value
  llvm::SetVector<Value> ofScores; // what of them a function apart returns
  Values ofKey;                    // sums of the key whose vectors come
};

} // namespace attn::cpu

#endif
