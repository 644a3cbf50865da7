// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_PRODUCTS_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_PRODUCTS_H

#include "TensorBuilder.h"

namespace attn::onnx {

/// The type in which products are added up: f32 for 16-bit elements.
mlir::Type sumType(mlir::Type element);

/// [M, K] or [B, M, K] by [K, N], plus a bias of [N], which may be null:
/// rounded once.
Tensor project(TensorBuilder &t, Tensor &x, Tensor &w, Tensor *bias);

/// The matrix product of two tensors of rank 2 or more and one element type,
/// whose leading sizes broadcast to each other. None: they do not.
std::optional<Tensor> matmul(TensorBuilder &t, Tensor &a, Tensor &b);
/// The same, of 16-bit elements possibly in f32, for what is added before it is
/// rounded.
std::optional<Tensor> unroundedMatmul(TensorBuilder &t, Tensor &a, Tensor &b);

} // namespace attn::onnx

#endif
