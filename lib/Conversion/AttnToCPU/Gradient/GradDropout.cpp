// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a dropout does to the numbers of a query block in a step of a gradient.
#include "GradKernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

void cpu::dropCotangents(KernelBuilder &k, const GradStep &step,
                         const DropoutPlace &place, Value state, Value slopes) {
  Value zero = k.splat(0.0);
  eachFactor(k, *step.tile.dropout, place,
             [&](Value key, Value column, Value factor) {
               Value row = k.add(slopes, key);
               Value u = k.load(state, row, column);
               Value isDropped = arith::CmpFOp::create(
                   k.builder, k.loc, arith::CmpFPredicate::OEQ, factor, zero);
               u = k.select(isDropped, zero, k.mulf(u, factor));
               k.store(u, state, row, column);
               k.store(factor, step.factors, key, column);
             });
}

void cpu::multiplyByFactors(KernelBuilder &k, const GradStep &step,
                            const QueryBlockKeys &keys, Value state,
                            Value weights) {
  k.loop(keys.begin, keys.end, 1, [&](Value key) {
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value row = k.add(weights, key), column = k.index(v * k.lanes);
      Value factor = k.load(step.factors, key, column);
      Value weight = k.load(state, row, column);
      k.store(k.mulf(weight, factor), state, row, column);
    }
  });
}
