// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-states: states as tensors are merged and finished element by
// element.
//
// Before:  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2
//              : tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
// After:   %m = linalg.generic ins(%m1, %m2) // the larger one
//          %l = linalg.generic ins(%m1, %m2, %l1, %l2) // each times exp(mi -
//          m) %a = linalg.generic ins(%m1, %m2, %a1, %a2) // the same per
//          feature
//
// attn.finalize_state becomes a linalg.generic for out and one for lse. For a
// GPU: attn-tile-states has rows for a processor's vectors instead.
//
// Before: attn.merge_states, attn.finalize_state. After: none of them.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_LOWERSTATES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Writes functions of elements of a state: of numbers per row, and of acc.
struct StateBuilder {
  using Function = function_ref<Value(ValueRange)>;

  OpBuilder &b;
  Location loc;

  Value number(Type type, double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value equal(Value x, double value) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x,
                                 number(x.getType(), value));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value isEmpty(Value maximum) {
    return equal(maximum, -std::numeric_limits<double>::infinity());
  }
  Value map(RankedTensorType type, ArrayRef<Value> inputs, Function function);
  Value merge(ValueRange maxima, Value x, Value y);
  void lower(MergeStatesOp op);
  void lower(FinalizeStateOp op);
};
} // namespace

/// The tensor of what `function` makes of the inputs' elements; inputs of a
/// smaller rank have one for each row. The last input is of the result's rank.
Value StateBuilder::map(RankedTensorType type, ArrayRef<Value> inputs,
                        Function function) {
  auto rank = static_cast<unsigned>(type.getRank());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, inputs.back()),
      type.getElementType());
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(
        all.getMajorSubMap(cast<RankedTensorType>(input.getType()).getRank()));
  maps.push_back(all);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  OpBuilder::InsertionGuard guard(b);
  auto generic = linalg::GenericOp::create(
      b, loc, empty.getType(), inputs, empty, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange x) {
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        linalg::YieldOp::create(b, loc, function(x.drop_back()));
      });
  b.setInsertionPointAfter(generic);
  Value result = generic.getResult(0);
  return result.getType() == type
             ? result
             : tensor::CastOp::create(b, loc, type, result).getResult();
}

/// x e1 + y e2; a state without a key changes no bit of the other. Without fma,
/// so that the order of the states does not, either.
Value StateBuilder::merge(ValueRange maxima, Value x, Value y) {
  Value highest = arith::MaximumFOp::create(b, loc, maxima[0], maxima[1]);
  auto weighted = [&](Value maximum, Value z) -> Value {
    Value difference = arith::SubFOp::create(b, loc, maximum, highest);
    Value factor = math::ExpOp::create(b, loc, difference);
    return arith::MulFOp::create(b, loc, z, factor);
  };
  Value sum = arith::AddFOp::create(b, loc, weighted(maxima[0], x),
                                    weighted(maxima[1], y));
  return select(isEmpty(maxima[1]), x, select(isEmpty(maxima[0]), y, sum));
}

void StateBuilder::lower(MergeStatesOp op) {
  Value m1 = op.getFirstMaximum(), m2 = op.getSecondMaximum();
  RankedTensorType rows = op.getMaximum().getType();
  Value maximum = map(rows, {m1, m2}, [&](ValueRange x) -> Value {
    return arith::MaximumFOp::create(b, loc, x[0], x[1]);
  });
  auto merged = [&](ValueRange x) {
    return merge(x.take_front(2), x[2], x[3]);
  };
  Value sum = map(rows, {m1, m2, op.getFirstSum(), op.getSecondSum()}, merged);
  Value acc = map(op.getAcc().getType(),
                  {m1, m2, op.getFirstAcc(), op.getSecondAcc()}, merged);
  op.getMaximum().replaceAllUsesWith(maximum);
  op.getSum().replaceAllUsesWith(sum);
  op.getAcc().replaceAllUsesWith(acc);
}

void StateBuilder::lower(FinalizeStateOp op) {
  RankedTensorType type = op.getOut().getType();
  Value out = map(type, {op.getSum(), op.getAcc()}, [&](ValueRange x) -> Value {
    Value wide =
        x[1].getType() == x[0].getType()
            ? x[1]
            : arith::ExtFOp::create(b, loc, x[0].getType(), x[1]).getResult();
    Value quotient = arith::DivFOp::create(b, loc, wide, x[0]);
    Value result =
        select(equal(x[0], 0.0), number(x[0].getType(), 0.0), quotient);
    if (result.getType() == type.getElementType())
      return result;
    return arith::TruncFOp::create(b, loc, type.getElementType(), result);
  });
  op.getOut().replaceAllUsesWith(out);
  if (!op.getLse())
    return;
  Value lse =
      map(op.getLse().getType(), {op.getMaximum(), op.getSum()},
          [&](ValueRange x) -> Value {
            Value log = math::LogOp::create(b, loc, x[1]);
            Value sum = arith::AddFOp::create(b, loc, x[0], log);
            double none = -std::numeric_limits<double>::infinity();
            return select(equal(x[1], 0.0), number(sum.getType(), none), sum);
          });
  op.getLse().replaceAllUsesWith(lse);
}

namespace {
struct LowerStates : attn::impl::LowerStatesBase<LowerStates> {
  template <typename Op> void lowerAll() {
    SmallVector<Op> ops;
    getOperation()->walk([&](Op op) { ops.push_back(op); });
    for (Op op : ops) {
      OpBuilder b(op);
      StateBuilder{b, op.getLoc()}.lower(op);
      op.erase();
    }
  }
  void runOnOperation() override {
    lowerAll<MergeStatesOp>();
    lowerAll<FinalizeStateOp>();
  }
};
} // namespace
