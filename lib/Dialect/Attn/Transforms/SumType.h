// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SUMTYPE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SUMTYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace attn {

/// The type in which floats are added up: f32, or what is wider. Few processors
/// compute with 16 bits, and sums need more.
inline mlir::FloatType sumType(mlir::Type element) {
  return element.getIntOrFloatBitWidth() < 32
             ? llvm::cast<mlir::FloatType>(
                   mlir::Float32Type::get(element.getContext()))
             : llvm::cast<mlir::FloatType>(element);
}

} // namespace attn

#endif
