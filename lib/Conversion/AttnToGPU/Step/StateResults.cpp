// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StateResults.h"
#include "TileScores.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferState;
using tile::BufferType;
using tile::Reduction;

Value gpucode::columnsOf(OpBuilder &b, Location loc, Value matrix,
                         int64_t column, std::optional<int64_t> count) {
  OpFoldResult rows = memref::getMixedSize(b, loc, matrix, 0);
  SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), b.getIndexAttr(column)},
      sizes{rows, b.getIndexAttr(count.value_or(1))},
      strides(2, b.getIndexAttr(1));
  auto from = cast<MemRefType>(matrix.getType());
  SmallVector<int64_t> shape{from.getDimSize(0)};
  if (count)
    shape.push_back(*count);
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      shape, from, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, type, matrix, offsets, sizes,
                                   strides);
}

Value StateResults::mapRows(ValueRange rows, OfRow function) {
  return t.map(plan.rows, rows,
               [&](TileBuilder &m, ValueRange x, Value, Value) {
                 return function(m, x);
               });
}

/// The context, an element with the number of its row.
Value StateResults::mapContext(Value row, OfRow function) {
  return t.map(plan.context, {state.context, row},
               [&](TileBuilder &m, ValueRange x, Value, Value) {
                 return function(m, x);
               });
}

static Value times(TileBuilder &m, ValueRange x) {
  return arith::MulFOp::create(m.b, m.loc, x[0], x[1]);
}

/// 0 where nothing was summed up.
Value StateResults::inverseOf(Value sums) {
  return mapRows(sums, [](TileBuilder &m, ValueRange x) {
    Value zero = m.real(0.0);
    Value divided = arith::DivFOp::create(m.b, m.loc, m.real(1.0), x[0]);
    return m.select(m.equal(x[0], zero), zero, divided);
  });
}

/// Maxima of rows; -inf where nothing was summed up.
Value StateResults::maximaOfSeen(Value sums) {
  return mapRows({state.maxima, sums}, [](TileBuilder &m, ValueRange x) {
    return m.select(m.equal(x[1], m.real(0.0)), m.infinity(), x[0]);
  });
}

// --- sinks ---

/// The sum of a row is that of its four lanes, and each gets a quarter.
State StateResults::addSink(Value natural) {
  Value sink = inLog2(b, loc, natural);
  auto difference = [&](TileBuilder &m, Value x, Value maximum) {
    return m.exp2(arith::SubFOp::create(m.b, loc, x, maximum));
  };
  Value maxima =
      mapRows(state.maxima, [&](TileBuilder &m, ValueRange x) -> Value {
        return arith::MaxNumFOp::create(m.b, loc, x[0], sink);
      });
  Value lowered =
      mapRows({state.maxima, maxima}, [&](TileBuilder &m, ValueRange x) {
        return difference(m, x[0], x[1]);
      });
  state.sums =
      mapRows({state.sums, lowered, maxima},
              [&](TileBuilder &m, ValueRange x) -> Value {
                // A sink of +inf is the maximum: infinity minus itself is no
                // number.
                Value term = m.select(m.equal(sink, x[2]), m.real(1.0),
                                      difference(m, sink, x[2]));
                term = m.select(m.equal(sink, m.infinity()), m.real(0.0), term);
                Value quarter =
                    arith::MulFOp::create(m.b, loc, term, m.real(0.25));
                return math::FmaOp::create(m.b, loc, x[0], x[1], quarter);
              });
  state.maxima = maxima;
  state.context = mapContext(lowered, times);
  return state;
}

// --- out, lse ---

/// Whether nothing behind the op needs what the state has in buffers.
static bool isLast(FinalizeOp op) {
  return llvm::none_of(op.getState().getUsers(), [&](Operation *user) {
    Operation *other = op->getBlock()->findAncestorOpInBlock(*user);
    return other && op->isBeforeInBlock(other);
  });
}

/// The memory of all buffers, which nothing reads any more; null where the
/// results do not fit. All copies have arrived then.
Value StateResults::roomForResults(FinalizeOp op) {
  Type element = cast<MemRefType>(op.getOut().getType()).getElementType();
  std::optional<BufferType> type = plan.results(element);
  if (!type || !isLast(op)) {
    t.sync({state.queries, state.keys}, {});
    return {};
  }
  auto arrived = t.sync({state.queries, state.keys}, state.values);
  auto over = t.sync({}, arrived.getFull());
  SmallVector<Value> buffers(over.getFree());
  llvm::append_range(buffers, arrived.getFree());
  return tile::ReuseOp::create(b, loc, *type, buffers);
}

void StateResults::write(FinalizeOp op) {
  Value out = state.context, sums;
  if (!attention.sigmoid) {
    sums = t.reduce(Reduction::Sum, state.sums, plan.rows);
    out = mapContext(inverseOf(sums), times);
  }
  tile::StoreOp::create(b, loc, out, op.getOut(), roomForResults(op));
  if (op.getLse()) {
    Value lse = mapRows(
        {state.maxima, sums}, [&](TileBuilder &m, ValueRange x) -> Value {
          Value sum = arith::AddFOp::create(m.b, loc, x[0], m.log2(x[1]));
          return arith::MulFOp::create(m.b, loc, sum, m.real(std::log(2.0)));
        });
    tile::StoreOp::create(b, loc, lse, op.getLse(), Value());
  }
  // The next turn copies to where others may still read results.
  if (op->getParentOfType<LoopLikeOpInterface>())
    t.sync({}, {});
}

// --- the state ---

/// The maximum in natural units is rounded once more; sum and context take the
/// power of two that this leaves.
void StateResults::write(ReturnStateOp op) {
  t.sync({state.queries, state.keys}, {});
  // log2(e) in two numbers, since one has an error of its own.
  double log2e = std::log2(std::exp(1.0)), high = static_cast<float>(log2e);
  auto toNatural = [](TileBuilder &m, Value maximum) -> Value {
    return arith::MulFOp::create(m.b, m.loc, maximum, m.real(std::log(2.0)));
  };
  Value sums = t.reduce(Reduction::Sum, state.sums, plan.rows);
  Value maxima = mapRows({maximaOfSeen(sums), sums},
                         [&](TileBuilder &m, ValueRange x) -> Value {
                           // A row with a NaN has none of its scores as the
                           // maximum.
                           return math::FmaOp::create(
                               m.b, loc, x[1], m.real(0.0), toNatural(m, x[0]));
                         });
  Value factors = mapRows(state.maxima, [&](TileBuilder &m, ValueRange x) {
    Value natural = toNatural(m, x[0]);
    Value rest = x[0];
    for (double part : {high, log2e - high})
      rest = math::FmaOp::create(m.b, loc, natural, m.real(-part), rest);
    // Where neighbours of the maximum lie further apart than 1, there is none.
    Value small = arith::CmpFOp::create(
        m.b, loc, arith::CmpFPredicate::OLT,
        arith::MulFOp::create(m.b, loc, rest, rest), m.real(1.0));
    return m.exp2(m.select(small, rest, m.real(0.0)));
  });
  tile::StoreOp::create(b, loc, maxima, op.getMaximum(), Value());
  tile::StoreOp::create(b, loc, mapRows({sums, factors}, times), op.getSum(),
                        Value());
  tile::StoreOp::create(b, loc, mapContext(factors, times), op.getAcc(),
                        Value());
}

void StateResults::write(SaveStateOp op) {
  t.sync({state.queries, state.keys}, {});
  Value sums = t.reduce(Reduction::Sum, state.sums, plan.rows);
  Value part = op.getPart();
  int64_t features = op.getState().getType().getValueDim();
  tile::StoreOp::create(b, loc, state.context,
                        columnsOf(b, loc, part, 0, features), Value());
  tile::StoreOp::create(b, loc, maximaOfSeen(sums),
                        columnsOf(b, loc, part, features), Value());
  tile::StoreOp::create(b, loc, sums, columnsOf(b, loc, part, features + 1),
                        Value());
  // The next turn copies to where others may still read.
  if (op->getParentOfType<LoopLikeOpInterface>())
    t.sync({}, {});
}

// --- weights and scores ---

/// The products of a tile once more: weights are known when all keys were seen.
/// The keys lie where those of the steps did.
void StateResults::write(WeighOp op) {
  auto queries = t.sync({state.queries, state.keys}, {}).getFull()[0];
  Value room = tile::BufferOp::create(b, loc, plan.keys);
  Value loading =
      tile::CopyAsyncOp::create(b, loc, plan.keys.in(BufferState::Loading),
                                op.getKey(), t.index(0), room);
  Value keys = t.sync(loading, {}).getFull()[0];
  Value products =
      tile::MmaOp::create(b, loc, queries, keys, /*transposed=*/true,
                          /*rounded=*/false, t.splat(plan.scores, t.real(0.0)));
  t.sync({}, keys);
  if (op.getWeights())
    weigh(op, products);
  if (op.getScores()) {
    PairOperands pairs(op);
    TileScores scores(b, pairs, attention, /*tests=*/true);
    tile::StoreOp::create(b, loc, scores.atStage(products, *op.getStage()),
                          op.getScores(), Value());
  }
}

void StateResults::weigh(WeighOp op, Value products) {
  PairOperands pairs(op);
  TileScores adjusted(b, pairs, attention, /*tests=*/true);
  Value scores = adjusted.ofProducts(products);
  double factor = adjusted.getFactor();
  auto ofRows = [&](TileBuilder &m, ValueRange x) -> Value {
    Value negative = arith::NegFOp::create(m.b, loc, x[1]);
    Value power =
        m.exp2(math::FmaOp::create(m.b, loc, x[0], m.real(factor), negative));
    return arith::MulFOp::create(m.b, loc, power, x[2]);
  };
  auto bySigmoid = [&](TileBuilder &m, ValueRange x) {
    return m.sigmoid(arith::MulFOp::create(m.b, loc, x[0], m.real(factor)));
  };
  SmallVector<Value> operands{scores};
  if (!attention.sigmoid)
    operands.append({state.maxima, inverseOf(t.reduce(Reduction::Sum,
                                                      state.sums, plan.rows))});
  Value weights = t.map(
      plan.scores, operands, [&](TileBuilder &m, ValueRange x, Value, Value) {
        // Also in a row that holds a NaN, an excluded pair has weight 0.
        Value weight = attention.sigmoid ? bySigmoid(m, x) : ofRows(m, x);
        return m.select(m.equal(x[0], m.infinity()), m.real(0.0), weight);
      });
  tile::StoreOp::create(b, loc, weights, op.getWeights(), Value());
}
