// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FLOATCONSTANT_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FLOATCONSTANT_H

#include "mlir/IR/Value.h"
#include <optional>

namespace attn {

/// The floating-point constant that `value` is, or that all its elements are:
/// dense splats, tensor.splat, linalg.fill, and conversions, broadcasts and
/// reshapes of them. None for all others.
std::optional<double> floatConstant(mlir::Value value);

} // namespace attn

#endif
