// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_IMAGES_DEPTHWISE_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_IMAGES_DEPTHWISE_H

#include "Window.h"

namespace attn::onnx {

/// What a depthwise convolution reads and makes.
struct Depthwise {
  Tensor &x;    ///< (N, G, sizes..), padded
  Tensor &w;    ///< (M, 1, kernel..), where G divides M
  Tensor *bias; ///< (M), or null
  const Window &window;
  llvm::ArrayRef<Size> places;
};

/// Of more elements of a window the loop's body is too long.
constexpr int64_t mostProducts = 128;

/// Whether each weight sees one channel, through few enough elements.
bool isDepthwise(const Tensor &w, const Window &window);

/// (N, M, places..).
Tensor depthwise(TensorBuilder &t, const Depthwise &convolution);

} // namespace attn::onnx

#endif
