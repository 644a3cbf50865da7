// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// States as a caller has them: m, in units of the natural logarithm, and l per
// row, acc row by row. The lanes hold features.
#include "StateRows.h"
#include "Score/Normalization.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

using llvm::numbers::ln2, llvm::numbers::log2e;

NaturalMaximum cpu::naturalMaximum(KernelBuilder &k, Value maximum, Value sum) {
  bool isF64 = k.element.isF64();
  // log2(e) in two numbers, since one has an error of its own.
  double high = isF64 ? log2e : static_cast<double>(static_cast<float>(log2e));
  double low = isF64 ? 2.0355273740931033e-17 : log2e - high;
  Value natural = k.mulf(maximum, k.splat(ln2));
  Value none = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, maximum, k.infinity());
  Value safe = k.select(none, k.splat(0.0), natural);
  Value rest = k.fma(safe, k.splat(-high), safeMaximum(k, maximum));
  rest = k.fma(safe, k.splat(-low), rest);
  // Where neighbours of the maximum lie further apart than 1, there is none.
  Value small =
      arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OLT,
                            k.mulf(rest, rest), k.splat(1.0));
  rest = k.select(small, rest, k.splat(0.0));
  // A row with a NaN has none of its scores as the maximum.
  return {k.fma(sum, k.splat(0.0), natural), k.exp2({rest})[0]};
}

/// Columns [0, width), `lanes` at a time, the last ones by a mask. (A group
/// that moves back would read what it has written where memory is shared.)
static void eachColumn(KernelBuilder &k, Value width,
                       function_ref<void(Value column, Value mask)> body) {
  std::optional<int64_t> known = getConstantIntValue(width);
  Value whole = known ? k.index(*known / k.lanes * k.lanes)
                      : k.mul(k.div(width, k.lanes), k.lanes);
  k.loop(k.index(0), whole, k.lanes, [&](Value c) { body(c, Value()); });
  if (known && *known % k.lanes == 0)
    return;
  k.when(k.less(whole, width), [&] {
    Value mask = vector::CreateMaskOp::create(
        k.builder, k.loc, k.boolVectorType, ValueRange{k.sub(width, whole)});
    body(whole, mask);
  });
}

/// Element `row` of a vector in every lane.
static Value broadcastOf(KernelBuilder &k, Value numbers, Value row) {
  return k.broadcast(
      memref::LoadOp::create(k.builder, k.loc, numbers, ValueRange{row}));
}

/// The first lane becomes element `row` of a vector.
static void storeFirst(KernelBuilder &k, Value vector, Value numbers,
                       Value row) {
  Value number =
      vector::ExtractOp::create(k.builder, k.loc, vector, ArrayRef<int64_t>{0});
  memref::StoreOp::create(k.builder, k.loc, number, numbers, ValueRange{row});
}

static Value equal(KernelBuilder &k, Value a, Value b) {
  return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ, a,
                               b);
}

void cpu::emitMergeRows(KernelBuilder &k, const StateRows &first,
                        const StateRows &second, const StateRows &merged) {
  Value rows = memref::DimOp::create(k.builder, k.loc, merged.acc, 0);
  OpFoldResult width = memref::getMixedSize(k.builder, k.loc, merged.acc, 1);
  Value columns = getValueOrCreateConstantIndexOp(k.builder, k.loc, width);
  k.loop(k.index(0), rows, 1, [&](Value row) {
    Value a = broadcastOf(k, first.maximum, row),
          b = broadcastOf(k, second.maximum, row);
    Value firstEmpty = equal(k, a, k.infinity()),
          secondEmpty = equal(k, b, k.infinity());
    Value maximum = k.maxf(a, b), safe = safeMaximum(k, maximum);
    Values factors = k.exp2({k.mulf(k.subf(a, safe), k.splat(log2e)),
                             k.mulf(k.subf(b, safe), k.splat(log2e))});
    // Without fma, so that the order of the states does not change a bit.
    auto merge = [&](Value x, Value y, Value sum) {
      return k.select(secondEmpty, x, k.select(firstEmpty, y, sum));
    };
    auto weighted = [&](Value x, Value y) {
      Value sum = k.addf(k.mulf(x, factors[0]), k.mulf(y, factors[1]));
      return merge(x, y, sum);
    };
    Value sum = weighted(broadcastOf(k, first.sum, row),
                         broadcastOf(k, second.sum, row));
    // A NaN in either maximum is in both factors.
    Value number = k.mulf(k.addf(factors[0], factors[1]), k.splat(0.0));
    storeFirst(k, merge(a, b, k.addf(maximum, number)), merged.maximum, row);
    storeFirst(k, sum, merged.sum, row);
    eachColumn(k, columns, [&](Value column, Value mask) {
      Value x = k.loadRow(first.acc, row, column, mask),
            y = k.loadRow(second.acc, row, column, mask);
      k.storeRow(weighted(x, y), merged.acc, row, column, mask);
    });
  });
}

void cpu::emitFinalizeRows(KernelBuilder &k, const StateRows &state, Value out,
                           Value lse) {
  Value rows = memref::DimOp::create(k.builder, k.loc, state.acc, 0);
  OpFoldResult width = memref::getMixedSize(k.builder, k.loc, out, 1);
  Value columns = getValueOrCreateConstantIndexOp(k.builder, k.loc, width);
  k.loop(k.index(0), rows, 1, [&](Value row) {
    Value sum = broadcastOf(k, state.sum, row);
    Value none = equal(k, sum, k.splat(0.0));
    Value quotient = arith::DivFOp::create(k.builder, k.loc, k.splat(1.0), sum);
    Value inverse = k.select(none, k.splat(0.0), quotient);
    if (lse) {
      Value log = math::LogOp::create(k.builder, k.loc, sum);
      Value natural = k.addf(broadcastOf(k, state.maximum, row), log);
      storeFirst(k, k.select(none, k.infinity(), natural), lse, row);
    }
    eachColumn(k, columns, [&](Value column, Value mask) {
      Value acc = k.loadRow(state.acc, row, column, mask);
      k.storeRow(k.mulf(acc, inverse), out, row, column, mask);
    });
  });
}
