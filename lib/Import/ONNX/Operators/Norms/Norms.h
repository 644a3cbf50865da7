// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_NORMS_NORMS_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_NORMS_NORMS_H

#include "TensorBuilder.h"

namespace attn::onnx {

/// Scale and bias broadcast to the input; either may be null.
struct NormWeights {
  Tensor *scale, *bias;
  double epsilon;
};

/// (x - mean) / sqrt(variance + epsilon) * scale + bias over the dimensions
/// `axes`, which are the last.
Tensor layerNorm(TensorBuilder &t, Tensor x, const NormWeights &weights,
                 llvm::ArrayRef<int64_t> axes);
/// x / sqrt(mean of squares + epsilon) * scale.
Tensor rmsNorm(TensorBuilder &t, Tensor x, const NormWeights &weights,
               llvm::ArrayRef<int64_t> axes);

/// `x` times the scale and plus the bias, of the type `element`.
Tensor withScale(TensorBuilder &t, Tensor x, const NormWeights &weights,
                 mlir::Type element);

} // namespace attn::onnx

#endif
