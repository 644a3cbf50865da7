// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a state of kind decode begins and ends: the queries come in, the parts of
// the sequence go out, and are combined. The lanes hold features.
#include "Build/Pairs.h"
#include "DecodeKernels.h"
#include "Score/Normalization.h"
#include "Score/QueryBlockExtras.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value DecodeLayout::view(KernelBuilder &k, Value state, int64_t begin,
                         int64_t rows, int64_t width) const {
  OpBuilder &b = k.builder;
  auto type = MemRefType::get(
      {rows, width}, element,
      StridedLayoutAttr::get(b.getContext(), begin, {width, 1}));
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(rows), b.getIndexAttr(width)},
      strides{b.getIndexAttr(width), b.getIndexAttr(1)};
  return memref::ReinterpretCastOp::create(
      b, k.loc, type, state, b.getIndexAttr(begin), sizes, strides);
}

Value cpu::loadFeatures(KernelBuilder &k, Value matrix, Value row, int64_t i,
                        int64_t dim, bool once) {
  int64_t column = k.columnOf(i, dim), before = i * k.lanes - column;
  Value mask = k.columnMask(dim);
  Value loaded = k.loadRow(matrix, row, k.index(column), mask);
  if (!once || before == 0)
    return loaded;
  SmallVector<bool> fresh;
  for (int64_t lane = 0; lane < k.lanes; ++lane)
    fresh.push_back(lane >= before);
  Value isFresh = arith::ConstantOp::create(
      k.builder, k.loc,
      DenseElementsAttr::get(k.boolVectorType, ArrayRef<bool>(fresh)));
  return k.select(isFresh, loaded, k.splat(0.0));
}

/// Part i of a query's scaled features, or, in pairs, of the features as they
/// are but for the sign.
static Value loadQuery(KernelBuilder &k, const DecodeLayout &layout,
                       Value query, Value row, int64_t i, double scale) {
  if (layout.pairs) {
    Value pairs =
        loadPairs(k, query, row, k.index(i * 2 * k.lanes), /*mask=*/Value());
    return scale < 0 ? negatePairs(k, pairs) : pairs;
  }
  Value loaded = loadFeatures(k, query, row, i, layout.keyDim, /*once=*/true);
  return k.mulf(loaded, k.splat(scale * log2OfE));
}

void cpu::emitDecodeInitState(KernelBuilder &k, const DecodeLayout &layout,
                              Value state, Value query, double scale) {
  Value queries = layout.queries(k, state),
        accumulator = layout.accumulator(k, state);
  Value statistics = layout.statistics(k, state);
  Value count = memref::DimOp::create(k.builder, k.loc, query, 0);
  Value rows = k.mul(blocksOf(k, layout, count), layout.block);
  Value zero = k.splat(0.0);
  KernelBuilder part = k.withLanes(layout.part);
  auto eachPart = [&](Value row, function_ref<Value(int64_t i)> content) {
    Value block = k.div(row, layout.block);
    Value within = k.sub(row, k.mul(block, layout.block));
    Value first = k.mul(within, layout.queryStride());
    for (int64_t i = 0; i < layout.splitKeyParts(); ++i) {
      Value column = k.add(first, i * layout.partStride());
      part.store(content(i), queries, block, column);
    }
  };
  if (layout.pairs)
    k.store(k.splat(pairFactor(scale)), layout.factor(k, state), k.index(0),
            k.index(0));
  k.loop(k.index(0), count, 1, [&](Value row) {
    eachPart(row, [&](int64_t i) {
      return loadQuery(part, layout, query, row, i, scale);
    });
  });
  k.loop(count, rows, 1, [&](Value row) {
    eachPart(row, [&](int64_t) { return part.splat(0.0); });
  });
  k.loop(k.index(0), rows, 1, [&](Value row) {
    k.loop(k.index(0), k.index(layout.valueWidth()), k.lanes,
           [&](Value column) { k.store(zero, accumulator, row, column); });
  });
  Value lowest = k.infinity();
  k.loop(k.index(0), rows, k.lanes, [&](Value row) {
    k.store(lowest, statistics, k.index(DecodeLayout::Maximum), row);
    k.store(zero, statistics, k.index(DecodeLayout::Sum), row);
  });
}

static Value loadScalar(KernelBuilder &k, Value matrix, Value row,
                        Value column) {
  return memref::LoadOp::create(k.builder, k.loc, matrix,
                                ValueRange{row, column});
}

/// Vector i of a row's features in their order.
static Value loadAccumulator(KernelBuilder &k, const DecodeLayout &layout,
                             Value accumulator, Value row, int64_t i) {
  if (!layout.pairs)
    return k.load(accumulator, row, k.index(i * k.lanes));
  int64_t first = i / 2 * 2;
  SmallVector<int64_t> mask(k.lanes);
  for (int64_t from = 0; from < 2 * k.lanes; ++from) {
    int64_t feature =
        DecodeLayout::pairedFeature(from / k.lanes, from % k.lanes);
    if (feature / k.lanes == i - first)
      mask[feature % k.lanes] = from;
  }
  Value a = k.load(accumulator, row, k.index(first * k.lanes));
  Value b = k.load(accumulator, row, k.index((first + 1) * k.lanes));
  return vector::ShuffleOp::create(k.builder, k.loc, a, b, mask);
}

void cpu::emitDecodeSaveState(KernelBuilder &k, const DecodeLayout &layout,
                              Value state, Value part) {
  Value accumulator = layout.accumulator(k, state);
  Value statistics = layout.statistics(k, state);
  Value count = memref::DimOp::create(k.builder, k.loc, part, 0);
  int64_t dim = layout.valueDim;
  Value mask = k.columnMask(dim);
  k.loop(k.index(0), count, 1, [&](Value row) {
    for (int64_t i = 0; i < layout.vectorsOf(dim); ++i) {
      Value vector = loadAccumulator(k, layout, accumulator, row, i);
      k.storeRow(vector, part, row, k.index(k.columnOf(i, dim)), mask);
    }
    for (auto which : {DecodeLayout::Maximum, DecodeLayout::Sum}) {
      Value number = loadScalar(k, statistics, k.index(which), row);
      memref::StoreOp::create(k.builder, k.loc, number, part,
                              ValueRange{row, k.index(dim + which)});
    }
  });
}

namespace {
/// Merges the saved states of one row.
struct RowCombiner {
  KernelBuilder &k;
  const DecodeLayout &layout;
  Value parts, row, states;
  Value sink; ///< in units of log2, in all lanes; null where there is none

  Value broadcastOf(Value part, int64_t column) {
    Value scalar = memref::LoadOp::create(
        k.builder, k.loc, parts, ValueRange{part, row, k.index(column)});
    return k.broadcast(scalar);
  }
  Value equal(Value a, Value b) {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OEQ, a,
                                 b);
  }
  Value maximum() {
    return k.loop(k.index(0), states, 1, sink ? sink : k.infinity(),
                  [&](Value part, ValueRange carried) {
                    return Values{
                        k.maxf(broadcastOf(part, layout.valueDim), carried[0])};
                  })[0];
  }
  /// Sum over the states of 2^(m - safe) * load(state).
  Values weighted(Value safe, size_t count,
                  function_ref<Values(Value part)> load) {
    Values zeros(count, k.splat(0.0));
    return k.loop(k.index(0), states, 1, zeros,
                  [&](Value part, ValueRange carried) {
                    Value m = broadcastOf(part, layout.valueDim);
                    Value factor = k.exp2({k.subf(m, safe)})[0];
                    Values sums;
                    for (auto [x, sum] : llvm::zip(load(part), carried)) {
                      Value next = k.fma(x, factor, sum);
                      // Beside a large sink, also NaN counts for nothing.
                      if (sink)
                        next = k.select(equal(factor, k.splat(0.0)), sum, next);
                      sums.push_back(next);
                    }
                    return sums;
                  });
  }
  Value sum(Value safe) {
    return weighted(safe, 1, [&](Value part) {
      return Values{broadcastOf(part, layout.valueDim + 1)};
    })[0];
  }
  Value loadPart(Value part, Value column, Value mask) {
    auto type = VectorType::get(k.lanes, k.element);
    SmallVector<Value> at{part, row, column};
    if (!mask)
      return vector::LoadOp::create(k.builder, k.loc, type, parts, at);
    return vector::MaskedLoadOp::create(k.builder, k.loc, type, parts, at, mask,
                                        k.splat(0.0));
  }
  /// The merged context times `factor`.
  void storeContext(Value safe, Value factor, Value to) {
    Value mask = k.columnMask(layout.valueDim);
    k.columnVectors(
        layout.valueDim, /*atOnce=*/4, [&](ArrayRef<Value> columns) {
          Values sums = weighted(safe, columns.size(), [&](Value part) {
            return llvm::map_to_vector(columns, [&](Value column) {
              return loadPart(part, column, mask);
            });
          });
          for (auto [sum, column] : llvm::zip(sums, columns))
            k.storeRow(k.mulf(sum, factor), to, row, column, mask);
        });
  }
  /// The sink's part of the sum.
  Value sinkTerm(Value maximum, Value safe) {
    Value power = k.exp2({k.subf(sink, safe)})[0];
    // A sink of +inf is the maximum, and infinity minus infinity no number.
    Value term = k.select(equal(sink, maximum), k.splat(1.0), power);
    return k.select(equal(sink, k.infinity()), k.splat(0.0), term);
  }
};
} // namespace

void cpu::emitCombine(KernelBuilder &k, const DecodeLayout &layout, Value parts,
                      Value sink, Value out, Value lse) {
  Value states = memref::DimOp::create(k.builder, k.loc, parts, 0);
  Value rows = memref::DimOp::create(k.builder, k.loc, out, 0);
  Value zero = k.splat(0.0);
  Value score = sink ? biasInLog2(k, k.broadcast(sink)) : Value();
  k.loop(k.index(0), rows, 1, [&](Value row) {
    RowCombiner combiner{k, layout, parts, row, states, score};
    Value maximum = combiner.maximum();
    Value safe = safeMaximum(k, maximum);
    Value sum = combiner.sum(safe);
    if (sink)
      sum = k.addf(sum, combiner.sinkTerm(maximum, safe));
    Value none = arith::CmpFOp::create(k.builder, k.loc,
                                       arith::CmpFPredicate::OEQ, sum, zero);
    Value quotient = arith::DivFOp::create(k.builder, k.loc, k.splat(1.0), sum);
    Value inverse = k.select(none, zero, quotient);
    combiner.storeContext(safe, inverse, out);
    if (!lse)
      return;
    Value log = math::LogOp::create(k.builder, k.loc, sum);
    Value natural = k.fma(maximum, k.splat(llvm::numbers::ln2), log);
    natural = k.select(none, k.infinity(), natural);
    Value scalar = vector::ExtractOp::create(k.builder, k.loc, natural,
                                             ArrayRef<int64_t>{0});
    memref::StoreOp::create(k.builder, k.loc, scalar, lse, ValueRange{row});
  });
}

void cpu::emitCombineState(KernelBuilder &k, const DecodeLayout &layout,
                           Value parts, const StateRows &rows) {
  Value states = memref::DimOp::create(k.builder, k.loc, parts, 0);
  Value count = memref::DimOp::create(k.builder, k.loc, rows.acc, 0);
  k.loop(k.index(0), count, 1, [&](Value row) {
    RowCombiner combiner{k, layout, parts, row, states, /*sink=*/Value()};
    Value maximum = combiner.maximum();
    Value safe = safeMaximum(k, maximum);
    Value sum = combiner.sum(safe);
    NaturalMaximum natural = naturalMaximum(k, maximum, sum);
    auto storeNumber = [&](Value vector, Value numbers) {
      Value number = vector::ExtractOp::create(k.builder, k.loc, vector,
                                               ArrayRef<int64_t>{0});
      memref::StoreOp::create(k.builder, k.loc, number, numbers,
                              ValueRange{row});
    };
    storeNumber(natural.maximum, rows.maximum);
    storeNumber(k.mulf(sum, natural.factor), rows.sum);
    combiner.storeContext(safe, natural.factor, rows.acc);
  });
}
