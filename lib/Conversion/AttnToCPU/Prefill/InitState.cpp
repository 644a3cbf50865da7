// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of a tile into lanes: (queries x key_dim) becomes, query block by
// query block, (key_dim x queries), scaled so that exp2 of a score is what
// softmax needs. Pairs of bf16 would lose bits if they were scaled; they take
// the sign of the scale only, and scores are scaled instead.
#include "Build/Pairs.h"
#include "Build/QueryBlocks.h"
#include "Kernels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Some queries of a query block: their rows in memory, where the next group's
/// begin, and where they go, column `lane` of the state's rows from `rows` on.
struct QueryGroup {
  Value query;
  Values queryRows;
  Value next, state, rows, lane;
};

/// The next group's queries come into the cache while `columns` are packed.
static void prefetchNext(KernelBuilder &k, const QueryGroup &group,
                         Value column, int64_t columns) {
  k.prefetchTurn(group.query, group.next, k.div(column, k.lanes), k.lanes,
                 std::max<int64_t>(1, (columns + k.lanes - 1) / k.lanes));
}

static void storeTransposed(KernelBuilder &k, const StateLayout &layout,
                            const QueryGroup &group, Value row,
                            const Values &lines) {
  Value first = k.add(group.rows, row);
  for (auto [i, line] : llvm::enumerate(k.transpose(lines)))
    if (static_cast<int64_t>(i) < layout.queryRows())
      k.store(line, group.state, k.add(first, i), group.lane);
}

static void packNumbers(KernelBuilder &k, const StateLayout &layout,
                        const QueryGroup &group, double scale) {
  Value factor = k.splat(scale * log2OfE);
  k.columnGroups(k.index(layout.keyDim), [&](Value d, Value mask) {
    prefetchNext(k, group, d, layout.keyDim);
    Values lines;
    for (Value row : group.queryRows)
      lines.push_back(k.mulf(k.loadRow(group.query, row, d, mask), factor));
    storeTransposed(k, layout, group, d, lines);
  });
}

static void packPairs(KernelBuilder &k, const StateLayout &layout,
                      const QueryGroup &group, bool negative) {
  auto withSign = [&](Value pairs) {
    return negative ? negatePairs(k, pairs) : pairs;
  };
  auto columns = [&](Value pair, Value mask) {
    prefetchNext(k, group, pair, layout.keyDim / 2);
    Values lines;
    for (Value row : group.queryRows)
      lines.push_back(
          withSign(loadPairs(k, group.query, row, k.mul(pair, 2), mask)));
    storeTransposed(k, layout, group, pair, lines);
  };
  int64_t whole = layout.keyDim / 2;
  if (whole < k.lanes) {
    Value mask = vector::CreateMaskOp::create(
        k.builder, k.loc, VectorType::get(2 * k.lanes, k.builder.getI1Type()),
        ValueRange{k.index(layout.keyDim)});
    return columns(k.index(0), mask);
  }
  k.columnGroups(k.index(whole), columns);
  // LLVM calls a function for each bf16 under a mask that it does not know, so
  // the last column of an odd number is read without one.
  if (layout.keyDim % 2 == 0)
    return;
  Values last;
  for (Value row : group.queryRows)
    last.push_back(lastPair(k, group.query, row, k.index(layout.keyDim - 1)));
  Value line =
      vector::FromElementsOp::create(k.builder, k.loc, k.vectorType, last);
  k.store(withSign(line), group.state, k.add(group.rows, whole), group.lane);
}

void cpu::emitInitState(KernelBuilder &k, const StateLayout &layout,
                        Value state, Value query, double scale) {
  Value count = memref::DimOp::create(k.builder, k.loc, query, 0);
  Value last = k.sub(count, k.index(1));
  if (layout.pairs)
    k.store(k.splat(pairFactor(scale)), state, k.index(layout.factor()),
            k.index(0));
  Value lowest = k.infinity();
  Value zero = k.splat(0.0);
  QueryBlocks queryBlocks(k, count);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    Value rows = layout.queries(k, p);
    if (layout.pairs && layout.queryRows() > layout.pairRows())
      k.loop(k.index(layout.pairRows()), k.index(layout.queryRows()), 1,
             [&](Value row) {
               for (int64_t v = 0; v < k.vectors; ++v)
                 k.store(zero, state, k.add(rows, row), k.index(v * k.lanes));
             });
    k.loop(k.index(0), k.index(k.queryBlock), k.lanes, [&](Value lane) {
      Value first = k.add(queryBlocks.first(p), lane);
      Values queryRows; // a ragged query block repeats the last query
      for (int64_t i = 0; i < k.lanes; ++i)
        queryRows.push_back(k.min(k.add(first, i), last));
      QueryGroup group{query, queryRows, k.add(first, k.lanes),
                       state, rows,      lane};
      if (layout.pairs)
        packPairs(k, layout, group, scale < 0);
      else
        packNumbers(k, layout, group, scale);
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
    Value accumulator = layout.accumulator(k, p);
    k.loop(k.index(0), k.index(layout.valueDim), 1, [&](Value d) {
      for (int64_t v = 0; v < k.vectors; ++v)
        k.store(zero, state, k.add(accumulator, d), k.index(v * k.lanes));
    });
  });
}
