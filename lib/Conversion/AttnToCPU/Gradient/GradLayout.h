// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the parts of an !attn.grad_state lie in memory: two states as those of
// StateLayout.h, one behind the other.
//
//   state        queries               accumulator    weights       statistics
//   queries      scale*log2(e)*query   d_query        p             lse, delta
//   cotangents   scale*d_out           none           ds            none
//
// Scores of the first are those of the attention; scores of the second, whose
// keys are the values, are the cotangents u of the weights. So both products
// are that of attn.online. lse is in units of log2, +inf where it is -inf: then
// no key has a weight. delta is times the scale, as ds is: the last two
// products need no factor.
//
// Where memory holds narrower numbers, the rows of queries and of cotangents as
// they are computed with stand behind both states, for the products whose lanes
// are features.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADLAYOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADLAYOUT_H

#include "Build/StateLayout.h"

namespace attn::cpu {

struct GradLayout {
  StateLayout queries, cotangents;
  bool narrowQueries, narrowCotangents; ///< whether their rows are copied

  /// `extras`: bias and boolean masks whose matrix is transposed per query
  /// block. `query` and `dOut` are what memory holds.
  GradLayout(GradStateType type, CPUScheduleAttr schedule, int64_t extras,
             mlir::Type query, mlir::Type dOut)
      : queries(stateOf(type, type.getKeyDim(), type.getKeyDim()), schedule,
                extras),
        cotangents(stateOf(type, type.getValueDim(), 0), schedule),
        narrowQueries(query != type.getElement()),
        narrowCotangents(dOut != type.getElement()) {}

  static constexpr StateLayout::Statistic Lse = StateLayout::Maximum,
                                          Delta = StateLayout::Sum;

  /// The row of the cotangents' state whose first number says whether queries
  /// and cotangents are finite: 1 or 0.
  Value finiteRows(KernelBuilder &k) const {
    return cotangents.statistic(k, k.index(0), StateLayout::NextMaximum);
  }

  mlir::MemRefType memrefType() const {
    return mlir::MemRefType::get(
        {dOutBegin() + cotangentCopyRows(), queries.queryBlock},
        queries.element);
  }
  Value queriesOf(KernelBuilder &k, Value state) const {
    return part(k, state, 0, queries.totalRows());
  }
  Value cotangentsOf(KernelBuilder &k, Value state) const {
    return part(k, state, queries.totalRows(), cotangents.totalRows());
  }

  /// The rows of the tile's queries, or cotangents, in the state.
  Value copiedQueries(KernelBuilder &k, Value state, Value count) const {
    return copies(k, state, queryBegin(), count, queries.keyDim);
  }
  Value copiedCotangents(KernelBuilder &k, Value state, Value count) const {
    return copies(k, state, dOutBegin(), count, cotangents.keyDim);
  }

private:
  int64_t queryBegin() const {
    return queries.totalRows() + cotangents.totalRows();
  }
  int64_t dOutBegin() const {
    return queryBegin() +
           (narrowQueries ? queries.queryBlocks * queries.keyDim : 0);
  }
  int64_t cotangentCopyRows() const {
    return narrowCotangents ? queries.queryBlocks * cotangents.keyDim : 0;
  }
  /// (count x dim) from row `first` of the state on.
  Value copies(KernelBuilder &k, Value state, int64_t first, Value count,
               int64_t dim) const {
    mlir::OpBuilder &b = k.builder;
    int64_t offset = first * queries.queryBlock;
    auto type = mlir::MemRefType::get(
        {mlir::ShapedType::kDynamic, dim}, k.element,
        mlir::StridedLayoutAttr::get(b.getContext(), offset, {dim, 1}));
    llvm::SmallVector<mlir::OpFoldResult> sizes{count, b.getIndexAttr(dim)},
        strides{b.getIndexAttr(dim), b.getIndexAttr(1)};
    return mlir::memref::ReinterpretCastOp::create(
        b, k.loc, type, state, b.getIndexAttr(offset), sizes, strides);
  }
  /// What has neither maximum nor sum: the accumulator is the result.
  static StateType stateOf(GradStateType type, int64_t features,
                           int64_t accumulated) {
    return StateType::get(type.getContext(), type.getRows(), features,
                          accumulated, type.getElement(), Kind::Prefill,
                          Normalization::Sigmoid);
  }
  Value part(KernelBuilder &k, Value state, int64_t first,
             int64_t count) const {
    mlir::OpFoldResult one = k.builder.getIndexAttr(1);
    llvm::SmallVector<mlir::OpFoldResult> offsets{k.builder.getIndexAttr(first),
                                                  k.builder.getIndexAttr(0)},
        sizes{k.builder.getIndexAttr(count),
              k.builder.getIndexAttr(queries.queryBlock)},
        strides{one, one};
    return mlir::memref::SubViewOp::create(k.builder, k.loc, state, offsets,
                                           sizes, strides);
  }
};

} // namespace attn::cpu

#endif
