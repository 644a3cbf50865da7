// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepWriter.h"
#include "LongWay.h"
#include "TileScores.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferState;
using tile::BufferType;
using tile::Reduction;

/// The keys on their way; copied now, unless they are these.
Value StepWriter::keysOfStep() {
  Value others = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                       state.resident, op.getKeyBegin());
  auto choice = scf::IfOp::create(
      b, loc, others,
      [&](OpBuilder &inner, Location) {
        Value room = tile::DiscardOp::create(
            inner, loc, plan.keys.in(BufferState::Free), state.keys);
        Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
        scf::YieldOp::create(inner, loc,
                             copy(inner, plan.keys, op.getKey(), zero, room));
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, state.keys);
      });
  return choice.getResult(0);
}

/// The keys behind this tile's, if there are some.
Value StepWriter::copyNext(Value room) {
  Value keyTile = t.index(plan.schedule.getKeyTile());
  BufferType loading = plan.keys.in(BufferState::Loading);
  auto part = op.getKey().getDefiningOp<memref::SubViewOp>();
  if (!part || part.getType().getRank() != part.getSourceType().getRank()) {
    state.resident = t.index(-1);
    return tile::EnterOp::create(b, loc, loading, room);
  }
  Value row =
      getValueOrCreateConstantIndexOp(b, loc, part.getMixedOffsets()[0]);
  Value next = arith::AddIOp::create(b, loc, row, keyTile);
  Value all = memref::DimOp::create(b, loc, part.getSource(), 0);
  Value more =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, all);
  auto choice = scf::IfOp::create(
      b, loc, more,
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(
            inner, loc, copy(inner, plan.keys, part.getSource(), next, room));
      },
      [&](OpBuilder &inner, Location) {
        Value none = tile::EnterOp::create(inner, loc, loading, room);
        scf::YieldOp::create(inner, loc, none);
      });
  state.resident = arith::AddIOp::create(b, loc, op.getKeyBegin(), keyTile);
  return choice.getResult(0);
}

/// Behind the first turn, there is something that is not finite.
void StepWriter::siftValues() {
  Value turn = turnOf(op);
  if (!turn)
    return;
  Value first = arith::ConstantIntOp::create(b, loc, 0, /*width=*/32);
  Value sifts =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, turn, first);
  scf::IfOp::create(b, loc, sifts, [&](OpBuilder &inner, Location) {
    tile::SiftOp::create(inner, loc, state.values, turn);
    scf::YieldOp::create(inner, loc);
  });
}

/// In units of log2: how far a row's scores may lie above what its weights are
/// relative to, before sums are scaled. Weights of 16 bits hold 2^8 as well as
/// 1, and most steps scale nothing then.
static constexpr double mostGrowth = 8;

/// Maxima, sums, weights, and the context before this step.
void StepWriter::updateRows(Value scores) {
  Value highest = t.reduce(Reduction::Max, scores, plan.rows);
  Value maxima = t.map(
      plan.rows, {state.maxima, highest},
      [&](TileBuilder &m, ValueRange x, Value, Value) -> Value {
        Value scaled = x[1];
        if (factor != 1)
          scaled = arith::MulFOp::create(m.b, loc, scaled, m.real(factor));
        if (!attention.isLazy)
          return arith::MaxNumFOp::create(m.b, loc, x[0], scaled);
        Value most = arith::AddFOp::create(m.b, loc, x[0], m.real(mostGrowth));
        Value grows = arith::CmpFOp::create(m.b, loc, arith::CmpFPredicate::OGT,
                                            scaled, most);
        return m.select(grows, scaled, x[0]);
      });
  Value lowered =
      t.map(plan.rows, {state.maxima, maxima},
            [&](TileBuilder &m, ValueRange x, Value, Value) -> Value {
              return m.exp2(arith::SubFOp::create(m.b, loc, x[0], x[1]));
            });
  weights = t.map(plan.scores, {scores, maxima},
                  [&](TileBuilder &m, ValueRange x, Value, Value) -> Value {
                    Value negative = arith::NegFOp::create(m.b, loc, x[1]);
                    return m.exp2(math::FmaOp::create(
                        m.b, loc, x[0], m.real(factor), negative));
                  });
  Value added = t.reduce(Reduction::Sum, weights, plan.rows);
  state.sums = t.map(plan.rows, {state.sums, lowered, added},
                     [&](TileBuilder &m, ValueRange x, Value, Value) -> Value {
                       return math::FmaOp::create(m.b, loc, x[0], x[1], x[2]);
                     });
  state.maxima = maxima;
  state.context =
      tile::RescaleOp::create(b, loc, plan.context, state.context, lowered);
}

/// Weights by sigmoid: rows have no statistics.
void StepWriter::weighBySigmoid(Value scores) {
  weights = t.map(
      plan.scores, scores, [&](TileBuilder &m, ValueRange x, Value, Value) {
        Value scaled = arith::MulFOp::create(m.b, loc, x[0], m.real(factor));
        return m.sigmoid(scaled);
      });
}

State StepWriter::write() {
  Value zero = t.index(0);
  Value loading = keysOfStep();
  auto begun = t.sync({state.queries, loading}, state.values);
  Value queries = begun.getFull()[0], keys = begun.getFull()[1];
  Value valuesLoading =
      copy(b, plan.values, op.getValue(), zero, begun.getFree()[0]);
  Value scores =
      tile::MmaOp::create(b, loc, queries, keys, /*transposed=*/true,
                          /*rounded=*/false, t.splat(plan.scores, t.real(0.0)));
  auto between = t.sync(valuesLoading, keys);
  state.values = between.getFull()[0];
  siftValues();
  state.keys = copyNext(between.getFree()[0]);
  PairOperands pairs(op);
  TileScores adjusted(b, pairs, attention, op.getMode() == TileMode::Edge);
  scores = adjusted.ofProducts(scores);
  factor = adjusted.getFactor();
  if (attention.sigmoid)
    weighBySigmoid(scores);
  else
    updateRows(scores);
  if (op.getDropout())
    weights = adjusted.behindDropout(weights, op);
  Value factors = weights;
  if (Type element = plan.values.getElement(); !element.isF32()) {
    auto narrow = tile::FragmentType::get(b.getContext(), plan.scores.getRows(),
                                          plan.scores.getColumns(), element,
                                          plan.scores.getWarps());
    factors = tile::ConvertOp::create(b, loc, narrow, weights);
  }
  state.context = tile::MmaOp::create(b, loc, factors, state.values,
                                      /*transposed=*/false, /*rounded=*/false,
                                      state.context);
  return state;
}
