// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element of a tensor by itself, where the tensor need not be computed.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SLICES_ELEMENTOF_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SLICES_ELEMENTOF_H

#include "mlir/IR/Builders.h"

namespace attn {

/// The element of `tensor` at `indices`, computed from elements of arguments
/// and constants by ops on numbers: through elementwise ops, casts, slices,
/// reshapes and linalg ops, whose sums become loops. Fails with an error at
/// the op that it cannot look through.
mlir::FailureOr<mlir::Value> elementOf(mlir::OpBuilder &b, mlir::Location loc,
                                       mlir::Value tensor,
                                       mlir::ValueRange indices);

} // namespace attn

#endif
