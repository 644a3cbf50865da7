// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a fragment of scores.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIR_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIR_H

#include "mlir/IR/Builders.h"

namespace attn::gpucode {

/// Query and key of an element, of index type, and how far both are from the
/// thread's first ones.
struct Pair {
  mlir::Value query, key, queryDistance, keyDistance;
};

/// The index that is nearest to `index` and inside of the dimension.
mlir::Value clampIndex(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value memref, int64_t dim, mlir::Value index);

/// The element of a matrix that broadcasts to (queries x keys); pairs behind
/// the last ones read the last ones'.
mlir::Value loadOfPair(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value matrix, const Pair &pair);

} // namespace attn::gpucode

#endif
