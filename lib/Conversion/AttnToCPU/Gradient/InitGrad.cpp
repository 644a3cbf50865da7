// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes into a state of gradients, and what leaves it.
#include "Build/QueryBlocks.h"
#include "GradKernels.h"
#include "Prefill/Kernels.h"
#include "Prefill/StageRows.h"
#include "Score/Normalization.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// sum_d a[row, d] * b[row, d].
static Value dotOfRows(KernelBuilder &k, Value a, Value b, Value row,
                       int64_t columns) {
  int64_t whole = columns / k.lanes * k.lanes;
  auto add = [&](Value acc, Value column, Value mask) {
    Value left = k.loadRow(a, row, column, mask);
    Value right = k.loadRow(b, row, column, mask);
    return k.fma(left, right, acc);
  };
  // One sum would wait for itself at every vector.
  constexpr int64_t mostSums = 4;
  int64_t vectors = std::clamp<int64_t>(whole / k.lanes, 1, mostSums);
  int64_t step = vectors * k.lanes, looped = whole / step * step;
  Values sums(vectors, k.splat(0.0));
  sums = k.loop(k.index(0), k.index(looped), step, sums,
                [&](Value column, ValueRange acc) {
                  Values next(acc);
                  for (auto [i, sum] : llvm::enumerate(next))
                    sum = add(sum, k.add(column, i * k.lanes), Value());
                  return next;
                });
  for (int64_t column = looped; column < whole; column += k.lanes) {
    Value &sum = sums[(column - looped) / k.lanes];
    sum = add(sum, k.index(column), Value());
  }
  if (whole < columns) {
    Value left = k.index(columns - whole);
    Value mask =
        vector::CreateMaskOp::create(k.builder, k.loc, k.boolVectorType, left);
    sums[0] = add(sums[0], k.index(whole), mask);
  }
  Value sum = sums[0];
  for (Value next : llvm::drop_begin(sums))
    sum = k.addf(sum, next);
  return vector::ReductionOp::create(k.builder, k.loc,
                                     vector::CombiningKind::ADD, sum);
}

/// lse and delta of the rows of query block p. Columns without a row have lse
/// +inf, and so no weights.
static void initStatistics(KernelBuilder &k, const StateLayout &layout,
                           Value state, const GradRows &rows, double scale,
                           Value p, const QueryBlocks &queryBlocks) {
  Value lseRow = layout.statistic(k, p, GradLayout::Lse);
  Value deltaRow = layout.statistic(k, p, GradLayout::Delta);
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value column = k.index(v * k.lanes);
    k.store(k.infinity(/*negative=*/false), state, lseRow, column);
    k.store(k.splat(0.0), state, deltaRow, column);
  }
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(k.builder, k.loc,
                                     k.builder.getFloatAttr(k.element, value));
  };
  auto ofRow = [&](Value numbers, Value row) -> Value {
    return memref::LoadOp::create(k.builder, k.loc, numbers, row);
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  int64_t columns = cast<MemRefType>(rows.out.getType()).getDimSize(1);
  Value first = queryBlocks.first(p);
  k.loop(k.index(0), k.sub(queryBlocks.end(p), first), 1, [&](Value i) {
    Value row = k.add(first, i);
    Value delta = dotOfRows(k, rows.dOut, rows.out, row, columns);
    if (rows.dLse)
      delta =
          arith::SubFOp::create(k.builder, k.loc, delta, ofRow(rows.dLse, row));
    delta = arith::MulFOp::create(k.builder, k.loc, delta, number(scale));
    Value lse = ofRow(rows.lse, row);
    Value empty = arith::CmpFOp::create(
        k.builder, k.loc, arith::CmpFPredicate::OEQ, lse, number(-infinite));
    lse = arith::MulFOp::create(k.builder, k.loc, lse, number(log2OfE));
    lse = k.select(empty, number(infinite), lse);
    delta = k.select(empty, number(0), delta);
    memref::StoreOp::create(k.builder, k.loc, lse, state,
                            ValueRange{lseRow, i});
    memref::StoreOp::create(k.builder, k.loc, delta, state,
                            ValueRange{deltaRow, i});
  });
}

/// Once for all steps.
static void checkRows(KernelBuilder &k, const GradLayout &layout, Value state,
                      const GradRows &rows) {
  Value count = memref::DimOp::create(k.builder, k.loc, rows.query, 0);
  Value queries = allFinite(k, rows.query, count, layout.queries.keyDim);
  Value cotangents = allFinite(k, rows.dOut, count, layout.cotangents.keyDim);
  Value both = arith::AndIOp::create(k.builder, k.loc, queries, cotangents);
  Value number = arith::UIToFPOp::create(k.builder, k.loc, k.element, both);
  memref::StoreOp::create(k.builder, k.loc, number,
                          layout.cotangentsOf(k, state),
                          ValueRange{layout.finiteRows(k), k.index(0)});
}

void cpu::emitInitGrad(KernelBuilder &k, const GradLayout &layout, Value state,
                       const GradRows &rows, double scale, bool checked) {
  Value queries = layout.queriesOf(k, state);
  emitInitState(k, layout.queries, queries, rows.query, scale);
  // Which multiplies by log2(e), too.
  emitInitState(k, layout.cotangents, layout.cotangentsOf(k, state), rows.dOut,
                scale / log2OfE);
  if (checked)
    checkRows(k, layout, state, rows);
  Value count = memref::DimOp::create(k.builder, k.loc, rows.query, 0);
  if (layout.narrowQueries)
    copyRows(k, rows.query, layout.copiedQueries(k, state, count), count,
             layout.queries.keyDim);
  if (layout.narrowCotangents)
    copyRows(k, rows.dOut, layout.copiedCotangents(k, state, count), count,
             layout.cotangents.keyDim);
  QueryBlocks queryBlocks(k, count);
  k.loop(k.index(0), queryBlocks.count, 1, [&](Value p) {
    initStatistics(k, layout.queries, queries, rows, scale, p, queryBlocks);
  });
}

void cpu::emitFinishGrad(KernelBuilder &k, const GradLayout &layout,
                         Value state, Value dQuery) {
  emitFinalize(k, layout.queries, layout.queriesOf(k, state), dQuery,
               /*lse=*/Value());
}
