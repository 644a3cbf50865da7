// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Normalization.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::safeMaximum(KernelBuilder &k, Value maximum) {
  Value none = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, maximum, k.infinity());
  return k.select(none, k.splat(0.0), maximum);
}

Value cpu::sigmoid(KernelBuilder &k, Value score) {
  // Of 2^64 and more, 1 + x is x; the limit keeps x finite. A NaN stays.
  Value limit = k.splat(64.0);
  Value above = arith::CmpFOp::create(k.builder, k.loc,
                                      arith::CmpFPredicate::OGT, score, limit);
  Value power = k.exp2({k.select(above, limit, score)})[0];
  return arith::DivFOp::create(k.builder, k.loc, power,
                               k.addf(power, k.splat(1.0)));
}

Value cpu::allNumbers(KernelBuilder &k, Value vector) {
  Value ordered = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::ORD, vector, vector);
  return vector::ReductionOp::create(k.builder, k.loc,
                                     vector::CombiningKind::AND, ordered);
}

Value cpu::allFinite(KernelBuilder &k, Value value, Value count,
                     int64_t valueDim) {
  Value zero = k.splat(0.0), mask = k.columnMask(valueDim);
  Values sum =
      k.loop(k.index(0), count, 1, zero, [&](Value key, ValueRange carried) {
        Value acc = carried[0];
        for (int64_t i = 0; i * k.lanes < valueDim; ++i) {
          Value column = k.index(k.columnOf(i, valueDim));
          acc = k.product(k.loadRow(value, key, column, mask), zero, acc);
        }
        return Values{acc};
      });
  return allNumbers(k, sum[0]);
}
