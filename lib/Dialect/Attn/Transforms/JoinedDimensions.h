// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_JOINEDDIMENSIONS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_JOINEDDIMENSIONS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace attn {

/// The groups of `rank` dimensions in which the last two are one.
inline llvm::SmallVector<mlir::ReassociationIndices> joinLastTwo(int64_t rank) {
  llvm::SmallVector<mlir::ReassociationIndices> groups;
  for (int64_t i = 0; i + 2 < rank; ++i)
    groups.push_back({i});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

} // namespace attn

#endif
