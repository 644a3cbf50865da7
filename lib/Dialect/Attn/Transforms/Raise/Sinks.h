// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax that has sinks, as frameworks write it: a column more, which goes
// again. It may stand in front, and may be a number that tensor.pad adds.
//
//   %c = tensor.concat dim(3) %scores, %sink   : (BxHxSxT), (BxHxSx1)
//   %m = maximum of each row of %c             : left out by some
//   %w = linalg.softmax dimension(3) ins(%c - %m)
//   %y = tensor.extract_slice %w, without the last column
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SINKS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SINKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {

/// The tensor that reshapes show.
mlir::Value belowReshapes(mlir::Value value);

/// What goes into a softmax along its last dimension, and what comes out.
struct SoftmaxParts {
  mlir::Value scores;  ///< of one key each
  mlir::Value weights; ///< of the same keys
  mlir::Value sink;    ///< the column, or its number; null: there is none
};
SoftmaxParts partsOf(mlir::linalg::SoftmaxOp op);

} // namespace attn

#endif
