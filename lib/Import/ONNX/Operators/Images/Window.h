// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of convolutions and pooling: (N, C, sizes..), one window per
// place of the sizes.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_IMAGES_WINDOW_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_IMAGES_WINDOW_H

#include "Node.h"

namespace attn::onnx {

/// Of the dimensions behind the channels.
struct Window {
  int64_t dims;
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  int64_t groups = 1; ///< of channels
  /// How far the last windows reach behind the pads, with ceil_mode.
  llvm::SmallVector<int64_t> beyond = {};

  /// How many elements one place spans.
  int64_t reach(int64_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};

/// Reads strides, dilations and pads, of a window whose kernel is known.
llvm::LogicalResult readWindow(Node &node, Window &window);

/// The window of the weights (.., .., kernel..) that the second input is, over
/// the first; `channelsFit` says whether their channels do.
mlir::FailureOr<Window> readWindow(
    Node &node,
    llvm::function_ref<bool(const Tensor &x, const Tensor &w, int64_t groups)>
        channelsFit);

/// The input with `number` around it.
Tensor padded(TensorBuilder &t, Tensor &x, const Window &window, double number);

/// How many places the window has along each dimension of a padded input.
mlir::FailureOr<Shape> placesOf(Node &node, const Tensor &x,
                                const Window &window);

/// An element of a padded input: that which the window at `places` has at
/// `offsets`.
struct WindowElement {
  mlir::Value image, channel;
  mlir::ValueRange places, offsets;
};
/// (N, M, all) of columns (N, G * C/G, kernel.., places..), a product with the
/// weights (M, C/G, kernel..) per group of channels, plus a bias of each of M;
/// none where sizes do not join.
std::optional<Tensor> productOfColumns(TensorBuilder &t, Tensor &seen,
                                       Tensor &w, Tensor *bias,
                                       int64_t numGroups, const Size &all);

mlir::Value readElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value input, const Window &window,
                        const WindowElement &element);

} // namespace attn::onnx

#endif
