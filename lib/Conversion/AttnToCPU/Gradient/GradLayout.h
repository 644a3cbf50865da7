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
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADLAYOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_GRADIENT_GRADLAYOUT_H

#include "Build/StateLayout.h"

namespace attn::cpu {

struct GradLayout {
  StateLayout queries, cotangents;

  /// `extras`: bias and boolean masks whose matrix is transposed per query
  /// block.
  GradLayout(GradStateType type, CPUScheduleAttr schedule, int64_t extras)
      : queries(stateOf(type, type.getKeyDim(), type.getKeyDim()), schedule,
                extras),
        cotangents(stateOf(type, type.getValueDim(), 0), schedule) {}

  static constexpr StateLayout::Statistic Lse = StateLayout::Maximum,
                                          Delta = StateLayout::Sum;

  mlir::MemRefType memrefType() const {
    return mlir::MemRefType::get(
        {queries.totalRows() + cotangents.totalRows(), queries.queryBlock},
        queries.element);
  }
  Value queriesOf(KernelBuilder &k, Value state) const {
    return part(k, state, 0, queries.totalRows());
  }
  Value cotangentsOf(KernelBuilder &k, Value state) const {
    return part(k, state, queries.totalRows(), cotangents.totalRows());
  }

private:
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
