// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of a tile from the products of its queries and keys.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_TILESCORES_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_TILESCORES_H

#include "Score/PairMask.h"
#include "Score/PairScore.h"
#include "TileBuilder.h"

namespace attn::gpucode {

class TileScores {
public:
  /// `tests`: whether the mask decides, where there is one.
  TileScores(OpBuilder &b, const PairOperands &pairs,
             const Attention &attention, bool tests)
      : t{b, pairs.loc}, b(b), loc(pairs.loc), pairs(pairs),
        attention(attention), tests(tests && pairs.mask) {}

  /// Scores with function, bias and mask, where they are there; times
  /// getFactor() they are in units of log2. Those of keys behind the last one
  /// are -inf.
  Value ofProducts(Value products);
  double getFactor() const { return factor; }
  /// Scores as after a step, in natural units.
  Value atStage(Value products, ScoresStage stage);
  /// Weights as the op's dropout leaves them.
  Value behindDropout(Value weights, OnlineOp op);

private:
  /// The thread's first element, and its pair; of several heads, the step's
  /// first query.
  struct Origin {
    tile::PlaceOp place;
    Value query, key;
  };
  using Score =
      llvm::function_ref<Value(TileBuilder &, Value product, const Pair &)>;

  Value narrow(OpBuilder &at, Value index) {
    return mlir::arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
  }
  Value maskRagged(Value scores);
  Origin origin();
  Pair pairAt(OpBuilder &at, const Origin &origin, Value row, Value column);
  void findHead(OpBuilder &at, Value row, Pair &pair);
  Value forPairs(Value products, bool masks, Score score);

  TileBuilder t;
  OpBuilder &b;
  Location loc;
  const PairOperands &pairs;
  const Attention &attention;
  bool tests;
  double factor = 1;
};

} // namespace attn::gpucode

#endif
