// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant tensors with their elements in another order.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_CONSTANTMATRIX_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_CONSTANTMATRIX_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace attn {

/// The constant of type `type` whose element i is element source(i) of
/// `constant`, or 0 where that is negative; of a splat, the same splat. Null if
/// `constant` is not a constant whose bytes are at hand (dense or
/// dense_resource).
mlir::ElementsAttr
rearrangeConstant(mlir::Value constant, mlir::RankedTensorType type,
                  llvm::function_ref<int64_t(int64_t)> source);

/// The constant of type `type` whose element i is the element of one of
/// `constants` that source(i) gives, or 0 where that one is null. Null if one
/// is not a constant whose bytes are at hand.
mlir::ElementsAttr
joinConstants(llvm::ArrayRef<mlir::Value> constants,
              mlir::RankedTensorType type,
              llvm::function_ref<std::pair<size_t, int64_t>(int64_t)> source);

} // namespace attn

#endif
