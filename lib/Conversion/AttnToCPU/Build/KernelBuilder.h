// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small vocabulary in which all CPU kernels are written: vectors of lanes,
// loops that carry vectors, register tiles, transposes, exp2.
//
// A vector holds `lanes` queries (or, in projections, `lanes` columns) of type
// `element`, in which all is computed. Memory may hold narrower floats: loads
// widen and stores narrow. All functions emit IR at the builder's insertion
// point.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_KERNELBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_KERNELBUILDER_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace attn::cpu {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

/// Values of a register tile: element [row][vector].
using RegisterTile = llvm::SmallVector<Values>;
Values flatten(llvm::ArrayRef<Values> tile);
RegisterTile unflatten(llvm::ArrayRef<Value> flat, size_t vectors);

/// Scores are in units of log2.
constexpr double log2OfE = 1.4426950408889634;

class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                CPUScheduleAttr schedule, mlir::Type element);

  /// The same with vectors of other sizes and one vector per row of a tile.
  KernelBuilder withLanes(int64_t count) const;
  /// The same with query blocks of one vector less (QueryBlocks.h).
  KernelBuilder narrower() const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// The function that all of it becomes; loops belong to it only when done.
  mlir::Operation *kernel = nullptr;
  CPUScheduleAttr schedule;
  /// Lanes of a vector, vectors and rows of a register tile, queries of a
  /// query block.
  int64_t lanes, vectors, rows, queryBlock;
  /// f32, or f64 where query and value are f64.
  mlir::FloatType element;
  mlir::VectorType vectorType, intVectorType, boolVectorType;

  // Scalars of type index.
  Value index(int64_t value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return b ? add(a, index(b)) : a; }
  Value sub(Value a, Value b);
  Value mul(Value a, int64_t b);
  Value div(Value a, int64_t b); // of non-negative values
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value less(Value a, Value b); // signed, i1

  // Vectors of `element`.
  Value splat(double value);
  Value broadcast(Value scalar);
  /// `lowest` is the lowest finite number.
  Value lowest();
  Value infinity(bool negative = true);
  Value load(Value memref, Value row, Value column);
  void store(Value vector, Value memref, Value row, Value column);
  /// Element [row][column] in every lane.
  Value loadBroadcast(Value memref, Value row, Value column);
  /// The `count` elements from [row][column] on, again and again.
  Value loadRepeated(Value memref, Value row, Value column, int64_t count);
  Value repeat(Value few);
  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  /// a > b ? a : b: one instruction on x86, and b where an operand is NaN.
  Value maxf(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// acc plus the product of a and b: an FMA or, where the schedule multiplies
  /// pairs, the dot products of the two numbers of bf16 in each lane, or, of
  /// tiles (TileProducts.h), a product of matrices.
  Value product(Value a, Value b, Value acc);
  /// 2^x of each vector (a neutral op; attn-lower-vector-math picks the code):
  /// exactly 0 for -inf and exactly 1 for 0; NaN stays NaN. A rough one will be
  /// rounded to bf16.
  Values exp2(llvm::ArrayRef<Value> xs, bool rough = false);
  /// Transposes a `lanes` x `lanes` matrix of row vectors.
  Values transpose(Values rows);

  /// for (i = lo; i < hi; i += step) with carried values.
  Values loop(Value lo, Value hi, int64_t step, mlir::ValueRange init,
              llvm::function_ref<Values(Value i, mlir::ValueRange)> body);
  void loop(Value lo, Value hi, int64_t step,
            llvm::function_ref<void(Value i)> body);
  void when(Value condition, llvm::function_ref<void()> body);
  void choose(Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);

  /// acc[r][v] += sum_k scalar(r, k) * vector(k, v) for k in [lo, hi), unrolled
  /// by the schedule. The smaller side of the tile is held in registers, the
  /// longer is streamed one register at a time, in exactly this order, which
  /// LLVM keeps. `multiplyStep` is that for one k.
  RegisterTile
  multiply(Value lo, Value hi, RegisterTile acc,
           llvm::function_ref<Value(int64_t row, Value k)> scalar,
           llvm::function_ref<Value(Value k, int64_t vector)> vector);

  void multiplyStep(Value k, RegisterTile &tile,
                    llvm::function_ref<Value(int64_t, Value)> scalar,
                    llvm::function_ref<Value(Value, int64_t)> vector);

  /// In a loop whose `turns` turns fetch `rows` rows of a matrix from `first`
  /// on into the cache: what turn number `turn` fetches. Lines are asked for in
  /// the order of their addresses; out of order they take up to twice as long,
  /// or are not fetched at all. A turn fetches whole rows, or the same part of
  /// one, so that there is one address to compute; what does not divide evenly
  /// runs ahead of `rows`.
  void prefetchTurn(Value matrix, Value first, Value turn, int64_t rows,
                    int64_t turns, bool isWrite = false);

  /// Visits columns [0, width) of row-major data `lanes` at a time. The last
  /// group overlaps the one before, so `body` must be idempotent; where width <
  /// lanes it is called once with a mask of the columns that exist (null
  /// otherwise).
  void columnGroups(Value width, llvm::function_ref<void(Value, Value)> body);
  /// First column of vector `i` of `dim` columns. The last vector is moved back
  /// to end with them, unless they are fewer than `lanes`.
  int64_t columnOf(int64_t i, int64_t dim) const;
  /// The columns that a vector has where `dim` is less than `lanes`; null
  /// otherwise.
  Value columnMask(int64_t dim);
  /// Columns [0, dim), up to `atOnce` vectors at a time, as `columnOf` has
  /// them.
  void
  columnVectors(int64_t dim, int64_t atOnce,
                llvm::function_ref<void(llvm::ArrayRef<Value> columns)> body);

  /// `lanes` elements of a row, 0 where `mask` (may be null) is false.
  Value loadRow(Value memref, Value row, Value column, Value mask);
  void storeRow(Value vector, Value memref, Value row, Value column,
                Value mask);

  /// A vector as the elements of a memref, or of a type.
  Value narrow(Value value, Value memref);
  Value toElement(Value value, mlir::Type type);
  /// `lanes` elements of a row as they are.
  Value loadStored(Value memref, Value row, Value column, Value mask);

private:
  /// Values of memory as `element`.
  Value widen(Value value);
  mlir::VectorType storedVector(Value memref);

  RegisterTile multiplySteps(Value lo, Value hi, int64_t unroll,
                             const RegisterTile &acc,
                             llvm::function_ref<Value(int64_t, Value)> scalar,
                             llvm::function_ref<Value(Value, int64_t)> vector);
};

} // namespace attn::cpu

#endif
