// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of a tile into lanes: (queries x key_dim) becomes, panel by panel,
// (key_dim x queries), scaled so that exp2 of a score is what softmax needs.
// Pairs of bf16 would lose bits if they were scaled; they take the sign of the
// scale only, and scores are scaled instead.
#include "Kernels.h"
#include "Pairs.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static constexpr double log2e = 1.4426950408889634;

/// Writes the transposed rows of `query` from row `rows` of the state on. The
/// queries packed after them begin at `next`.
static void packQueries(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value query, ArrayRef<Value> queryRows,
                        Value next, Value rows, Value lane, double scale) {
  Value factor = k.splat(scale * log2e);
  int64_t groups = (layout.queryRows() + k.lanes - 1) / k.lanes;
  k.columnGroups(k.index(layout.queryRows()), [&](Value d, Value mask) {
    k.prefetchTurn(query, next, k.div(d, k.lanes), k.lanes, groups);
    Values lines;
    Value column = d;
    if (layout.pairs) {
      column = k.mul(d, 2);
      if (mask || layout.keyDim % 2)
        mask = vector::CreateMaskOp::create(
            k.builder, k.loc,
            VectorType::get(2 * k.lanes, k.builder.getI1Type()),
            ValueRange{k.sub(k.index(layout.keyDim), column)});
    }
    for (Value row : queryRows) {
      if (!layout.pairs) {
        lines.push_back(k.mulf(k.loadRow(query, row, column, mask), factor));
        continue;
      }
      Value pairs = loadPairs(k, query, row, column, mask);
      lines.push_back(scale < 0 ? negatePairs(k, pairs) : pairs);
    }
    for (auto [i, line] : llvm::enumerate(k.transpose(lines)))
      if (static_cast<int64_t>(i) < layout.queryRows())
        k.store(line, state, k.add(k.add(rows, d), i), lane);
  });
}

void cpu::emitInitState(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value query, double scale) {
  Value count = memref::DimOp::create(k.builder, k.loc, query, 0);
  Value last = k.sub(count, k.index(1));
  if (layout.pairs) { // a factor of 0 would make no number of -inf
    constexpr double least = std::numeric_limits<float>::min();
    k.store(k.splat(std::max(std::abs(scale) * log2e, least)), state,
            k.index(layout.factor()), k.index(0));
  }
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
      packQueries(k, layout, state, query, queryRows, k.add(first, k.lanes),
                  rows, lane, scale);
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
