// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileScores.h"
#include "attn/Dialect/Attn/Utils/Philox.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

/// Scores of keys behind the last one become -inf.
Value TileScores::maskRagged(Value scores) {
  const KernelPlan &plan = attention.plan;
  Value count = memref::DimOp::create(b, loc, pairs.key, 0);
  Value ragged = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, count,
                                       t.index(plan.schedule.getKeyTile()));
  auto choice = scf::IfOp::create(
      b, loc, ragged,
      [&](OpBuilder &inner, Location) {
        TileBuilder in{inner, loc};
        auto place = tile::PlaceOp::create(inner, loc, plan.scores);
        Value left = narrow(
            inner, arith::SubIOp::create(inner, loc, count, place.getColumn()));
        Value masked =
            in.map(plan.scores, scores,
                   [&](TileBuilder &m, ValueRange x, Value, Value column) {
                     Value is = arith::CmpIOp::create(
                         m.b, loc, arith::CmpIPredicate::sgt, left,
                         narrow(m.b, column));
                     return m.select(is, x[0], m.infinity());
                   });
        scf::YieldOp::create(inner, loc, masked);
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, scores);
      });
  return choice.getResult(0);
}

/// Which query of which head a row is, in 32 bits.
void TileScores::findHead(OpBuilder &at, Value row, Pair &pair) {
  Value heads = arith::ConstantIntOp::create(at, loc, pairs.heads, 32);
  auto wide = [&](Value number) -> Value {
    return arith::IndexCastUIOp::create(at, loc, at.getIndexType(), number);
  };
  row = narrow(at, row);
  pair.head = wide(arith::RemUIOp::create(at, loc, row, heads));
  pair.queryDistance = wide(arith::DivUIOp::create(at, loc, row, heads));
}

TileScores::Origin TileScores::origin() {
  auto place = tile::PlaceOp::create(b, loc, attention.plan.scores);
  Value query = pairs.queryBegin;
  if (pairs.heads == 1)
    query = arith::AddIOp::create(b, loc, query, place.getRow());
  Value key = arith::AddIOp::create(b, loc, pairs.keyBegin, place.getColumn());
  return {place, query, key};
}

Pair TileScores::pairAt(OpBuilder &at, const Origin &origin, Value row,
                        Value column) {
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(at, loc, x, y);
  };
  tile::PlaceOp place = origin.place;
  Pair pair{{}, add(origin.key, column), row, column, origin.query, origin.key};
  if (pairs.heads > 1)
    findHead(at, add(place.getRow(), row), pair);
  pair.query = add(origin.query, pair.queryDistance);
  return pair;
}

/// What `score` makes of each product; -inf behind the last key and, if it is
/// asked, where the mask excludes.
Value TileScores::forPairs(Value products, bool masks, Score score) {
  const KernelPlan &plan = attention.plan;
  Origin first = origin();
  // Tiles that are not ragged need no test; beside addresses in a bias there
  // are no registers for both.
  if (!masks && !pairs.bias)
    return maskRagged(
        t.map(plan.scores, products,
              [&](TileBuilder &m, ValueRange x, Value row, Value column) {
                return score(m, x[0], pairAt(m.b, first, row, column));
              }));
  Value count = memref::DimOp::create(b, loc, pairs.key, 0);
  Value left =
      narrow(b, arith::SubIOp::create(b, loc, count, first.place.getColumn()));
  std::optional<PairMask> mask;
  if (masks)
    mask.emplace(b, pairs, first.query, first.key);
  return t.map(plan.scores, products,
               [&](TileBuilder &m, ValueRange x, Value row, Value column) {
                 Pair pair = pairAt(m.b, first, row, column);
                 Value seen =
                     arith::CmpIOp::create(m.b, loc, arith::CmpIPredicate::sgt,
                                           left, narrow(m.b, column));
                 if (mask)
                   seen = arith::AndIOp::create(m.b, loc, seen,
                                                mask->visible(m.b, pair));
                 return m.select(seen, score(m, x[0], pair), m.infinity());
               });
}

Value TileScores::ofProducts(Value products) {
  PairScore score(pairs, attention.scale);
  factor = attention.scale * std::log2(std::exp(1.0));
  bool scales = score.changes() || factor <= 0; // then a maximum is a minimum
  if (scales)
    factor = 1;
  if (!scales && !tests)
    return maskRagged(products);
  return forPairs(products, tests,
                  [&](TileBuilder &m, Value product, const Pair &pair) {
                    return scales ? score.of(m.b, product, pair) : product;
                  });
}

Value TileScores::atStage(Value products, ScoresStage stage) {
  PairScore score(pairs, attention.scale);
  return forPairs(products, tests && stage >= ScoresStage::Masked,
                  [&](TileBuilder &m, Value product, const Pair &pair) {
                    return score.atStage(m.b, product, pair, stage);
                  });
}

/// Whether the tile's first key is known to be even.
static bool beginsEven(Value keyBegin) {
  if (std::optional<int64_t> known = getConstantIntValue(keyBegin))
    return *known % 2 == 0;
  auto tiles = keyBegin.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> keys =
      tiles ? getConstantIntValue(tiles.getRhs()) : std::nullopt;
  return keys && *keys % 2 == 0;
}

/// A thread's first key is even in its tile, and so is that of each two
/// elements beside each other: in a tile that begins even, two share a counter.
Value TileScores::behindDropout(Value weights, OnlineOp op) {
  double probability = op.getDropout()->convertToDouble();
  OperandRange dropped = op.getDropped(); // seed, batch entry, head
  Origin first = origin();
  bool isEven = beginsEven(pairs.keyBegin);
  return t.map(attention.plan.scores, weights,
               [&](TileBuilder &m, ValueRange x, Value row, Value column) {
                 Pair pair = pairAt(m.b, first, row, column);
                 Value of = isEven ? column : pair.key, one = m.index(1);
                 Value last = arith::AndIOp::create(m.b, loc, of, one);
                 Value isOdd = arith::CmpIOp::create(
                     m.b, loc, arith::CmpIPredicate::eq, last, one);
                 Value even = arith::SubIOp::create(m.b, loc, of, last);
                 if (isEven)
                   even = arith::AddIOp::create(m.b, loc, first.key, even);
                 Value factor = dropoutFactor(
                     m.b, loc, probability, dropped[0],
                     {dropped[1], dropped[2], pair.query, even, isOdd},
                     m.b.getF32Type());
                 Value stays = arith::MulFOp::create(m.b, loc, x[0], factor);
                 return m.select(m.equal(factor, m.real(0)), m.real(0), stays);
               });
}
