// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One more score in the denominator of every query of a state.
#include "Kernels.h"
#include "Score/Normalization.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

void cpu::emitAddSink(KernelBuilder &k, const StateLayout &layout, Value state,
                      Value sink) {
  Value score = biasInLog2(k, k.broadcast(sink));
  Value zero = k.splat(0.0), one = k.splat(1.0);
  auto equal = [&](Value a, Value b) -> Value {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ, a,
                                 b);
  };
  Value none = equal(score, k.splat(-std::numeric_limits<double>::infinity()));
  k.loop(k.index(0), k.index(layout.queryBlocks), 1, [&](Value p) {
    Value maximumRow = layout.statistic(k, p, StateLayout::Maximum);
    Value sumRow = layout.statistic(k, p, StateLayout::Sum);
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes);
      Value old = k.load(state, maximumRow, column);
      Value maximum = k.maxf(score, old), safe = safeMaximum(k, maximum);
      Values powers = k.exp2({k.subf(old, safe), k.subf(score, safe)});
      // A sink of +inf is the maximum, and infinity minus infinity no number.
      Value term = k.select(equal(score, maximum), one, powers[1]);
      term = k.select(none, zero, term);
      Value sum = k.load(state, sumRow, column);
      k.store(k.fma(sum, powers[0], term), state, sumRow, column);
      k.store(maximum, state, maximumRow, column);
      k.store(maximum, state, layout.statistic(k, p, StateLayout::NextMaximum),
              column);
      Value lost = equal(powers[0], zero);
      Value accumulator = layout.accumulator(k, p);
      k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
        Value row = k.add(accumulator, d);
        Value scaled = k.mulf(k.load(state, row, column), powers[0]);
        k.store(k.select(lost, zero, scaled), state, row, column);
      });
    }
  });
}
