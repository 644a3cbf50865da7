// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block of an attention's kernel keeps in shared memory.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_KERNELPLAN_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_KERNELPLAN_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Tile/IR/TileOps.h"

namespace attn::gpucode {

/// The name of a block's shared memory in the module of kernels, whose size a
/// launch says, and its address space.
inline constexpr llvm::StringLiteral sharedMemoryName = "shared";
inline constexpr unsigned sharedMemorySpace = 3;

/// Buffers of a block, all free. Rows are padded by 16 bytes: a phase of
/// ldmatrix reads 8 of them, in 8 different quarters of the banks.
struct KernelPlan {
  KernelPlan(StateType state, mlir::Type element, GPUScheduleAttr schedule);

  GPUScheduleAttr schedule;
  tile::BufferType queries, keys, values;
  /// Sums of the context, scores of a step, and numbers of a row.
  tile::FragmentType context, scores;
  tile::RowsType rows;
  int64_t bytes = 0;

  /// The memory of all buffers, for results of this element type; nothing where
  /// they do not fit.
  std::optional<tile::BufferType> results(mlir::Type element) const;
};

/// The plan of a kernel's attention; its element type is that of the queries.
KernelPlan planOf(InitStateOp op);

/// What a block of a product has: two buffers for parts of the rows of the
/// input, two for those of the weight, and sums.
struct ProductPlan {
  explicit ProductPlan(ProjectBlockOp op);

  int64_t depth; ///< features of a part
  tile::BufferType input[2], weight[2];
  tile::FragmentType sums;
  int64_t bytes = 0;

  /// The memory of all buffers, as in KernelPlan.
  std::optional<tile::BufferType> results(mlir::Type element) const;
  /// Where sums lie for an epilogue, in the product's type: in the memory of
  /// the buffers, or behind it. None where the epilogue works in registers.
  std::optional<tile::BufferType> ending;

private:
  void place(ProjectBlockOp op, int64_t columns, int64_t features);
};

} // namespace attn::gpucode

#endif
