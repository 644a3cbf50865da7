// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of a tile into lanes: (queries x key_dim) becomes, panel by panel,
// (key_dim x queries), scaled so that exp2 of a score is what softmax needs.
#include "Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

void cpu::emitInitState(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value query, double scale) {
  Value count = memref::DimOp::create(k.builder, k.loc, query, 0);
  Value last = k.sub(count, k.index(1));
  Value factor = k.splat(scale * 1.4426950408889634);
  Value lowest = k.infinity();
  Value zero = k.splat(0.0);
  Value panels = k.div(k.add(count, k.panel - 1), k.panel);
  k.loop(k.index(0), panels, 1, [&](Value p) {
    Value rows = layout.queries(k, p);
    k.loop(k.index(0), k.index(k.panel), k.lanes, [&](Value lane) {
      Value first = k.add(k.mul(p, k.panel), lane);
      Values queryRows; // a ragged panel repeats the last query
      for (int64_t i = 0; i < k.lanes; ++i)
        queryRows.push_back(k.min(k.add(first, i), last));
      int64_t groups = (layout.keyDim + k.lanes - 1) / k.lanes;
      k.columnGroups(k.index(layout.keyDim), [&](Value d, Value mask) {
        k.prefetchTurn(query, k.add(first, k.lanes), k.div(d, k.lanes), k.lanes,
                       groups);
        Values lines;
        for (Value row : queryRows)
          lines.push_back(k.mulf(k.loadRow(query, row, d, mask), factor));
        for (auto [i, line] : llvm::enumerate(k.transpose(lines)))
          if (static_cast<int64_t>(i) < layout.keyDim)
            k.store(line, state, k.add(k.add(rows, d), i), lane);
      });
    });
    for (int64_t v = 0; v < k.vectors; ++v) {
      Value column = k.index(v * k.lanes);
      auto clear = [&](StateLayout::Statistic which, Value value) {
        k.store(value, state, layout.statistic(k, p, which), column);
      };
      clear(StateLayout::Maximum, lowest);
      clear(StateLayout::NextMaximum, lowest);
      clear(StateLayout::Sum, zero);
    }
    Value context = layout.context(k, p);
    k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
      for (int64_t v = 0; v < k.vectors; ++v)
        k.store(zero, state, k.add(context, d), k.index(v * k.lanes));
    });
  });
}
