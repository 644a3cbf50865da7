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

Value cpu::haveSameBits(KernelBuilder &k, Value a, Value b) {
  auto type =
      VectorType::get(k.lanes, k.builder.getIntegerType(k.element.getWidth()));
  auto bitsOf = [&](Value x) -> Value {
    return vector::BitCastOp::create(k.builder, k.loc, type, x);
  };
  return arith::CmpIOp::create(k.builder, k.loc, arith::CmpIPredicate::eq,
                               bitsOf(a), bitsOf(b));
}

/// 2^x for a sigmoid: of 2^64 and more, 1 + 2^x is 2^x; the limit keeps it
/// finite. A NaN stays.
static Value powerOf(KernelBuilder &k, Value score) {
  Value limit = k.splat(64.0);
  Value above = arith::CmpFOp::create(k.builder, k.loc,
                                      arith::CmpFPredicate::OGT, score, limit);
  return k.exp2({k.select(above, limit, score)})[0];
}

std::pair<Value, Value> cpu::sigmoidAndRest(KernelBuilder &k, Value score) {
  Value power = powerOf(k, score), one = k.splat(1.0);
  Value rest = arith::DivFOp::create(k.builder, k.loc, one, k.addf(power, one));
  return {k.mulf(power, rest), rest};
}

Value cpu::sigmoid(KernelBuilder &k, Value score) {
  Value power = powerOf(k, score);
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
  // One sum would wait for itself at every vector.
  constexpr int64_t mostSums = 8;
  int64_t vectors = llvm::divideCeil(valueDim, k.lanes);
  Value zero = k.splat(0.0), mask = k.columnMask(valueDim);
  Values sums(std::min(vectors, mostSums), zero);
  sums = k.loop(k.index(0), count, 1, sums, [&](Value key, ValueRange carried) {
    Values next(carried);
    for (int64_t i = 0; i < vectors; ++i) {
      Value column = k.index(k.columnOf(i, valueDim));
      Value &sum = next[i % mostSums];
      sum = k.product(k.loadRow(value, key, column, mask), zero, sum);
    }
    return next;
  });
  Value all = sums[0];
  for (Value sum : llvm::drop_begin(sums))
    all = k.addf(all, sum);
  return allNumbers(k, all);
}
