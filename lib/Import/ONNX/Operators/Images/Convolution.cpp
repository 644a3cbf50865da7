// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in front of a transformer: patches of images, frames of sound.
//
// What a weight sees of the input becomes one row per place, and the
// convolution their product with the weights:
//   X (N, C, in)  ->  rows (N, out, C*k)  * W' (C*k, M)  ->  (N, M, out)
// With G groups of channels, a product per group:
//   rows (N, G, out, C/G*k)  * W' (G, C/G*k, M/G)
// Of groups of one channel, Depthwise.cpp.
#include "Depthwise.h"
#include "OperatorTable.h"
#include "Operators/Products.h"
#include "Operators/Reductions.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

static FailureOr<Window> windowOf(Node &node) {
  Tensor &x = node.input(0), &w = node.input(1);
  Window window{x.rank() - 2, {}, {}, {}, {}, node.getInt("group", 1)};
  if (window.groups < 1 || window.groups >= (int64_t(1) << 31))
    return node.fail("expects at least one group of channels");
  bool fits = x.rank() >= 3 && x.rank() <= 5 && w.rank() == x.rank() &&
              x.isFloat() && x.element == w.element && x.shape[1].constant() &&
              x.shape[1] == w.shape[1] * Size(window.groups) &&
              w.shape[0].constant() &&
              *w.shape[0].constant() % window.groups == 0;
  for (int64_t i = 2; fits && i < w.rank(); ++i) {
    fits = w.shape[i].constant().value_or(0) > 0;
    window.kernel.push_back(w.shape[i].constant().value_or(0));
  }
  if (!fits)
    return node.fail("expects an input and known weights of the same channels, "
                     "but got " +
                     describe(x) + " and " + describe(w));
  if (failed(readWindow(node, window)))
    return failure();
  return window;
}

/// (N, places.., C, kernel..): what each place sees; of several groups
/// (N, G, places.., C/G, kernel..).
static Tensor seen(TensorBuilder &t, Tensor &x, const Window &window,
                   ArrayRef<Size> places) {
  Shape shape = {x.shape[0]};
  bool isGrouped = window.groups > 1;
  int64_t channels = *x.shape[1].constant() / window.groups;
  if (isGrouped)
    shape.push_back(window.groups);
  llvm::append_range(shape, places);
  shape.push_back(channels);
  for (int64_t size : window.kernel)
    shape.push_back(size);
  Value source = t.value(x);
  return t.generate(
      shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        auto times = [&](Value index, int64_t count) -> Value {
          return arith::MulIOp::create(
              b, t.loc, index, arith::ConstantIndexOp::create(b, t.loc, count));
        };
        ValueRange out = at.drop_front(isGrouped ? 2 : 1);
        Value channel = out[window.dims];
        if (isGrouped)
          channel =
              arith::AddIOp::create(b, t.loc, times(at[1], channels), channel);
        SmallVector<Value> place{at[0], channel};
        for (int64_t i = 0; i < window.dims; ++i)
          place.push_back(arith::AddIOp::create(
              b, t.loc, times(out[i], window.strides[i]),
              times(out[1 + window.dims + i], window.dilations[i])));
        return tensor::ExtractOp::create(b, t.loc, source, place);
      });
}

/// (N, M, out): the places of all rows of the weights, plus the bias of each.
static std::optional<Tensor> products(TensorBuilder &t, Tensor &patches,
                                      Tensor &w, Tensor *bias,
                                      int64_t numGroups, const Size &all) {
  Size depth = product(ArrayRef<Size>(w.shape).drop_front()),
       batch = patches.shape[0], groups = numGroups,
       each = *w.shape[0].constant() / numGroups;
  bool isGrouped = numGroups > 1;
  Shape rowShape = {batch, all, depth}, flatShape = {each, depth},
        biasShape = {each};
  if (isGrouped) {
    rowShape = {batch, groups, all, depth};
    flatShape = {groups, each, depth};
    biasShape = {groups, 1, each};
  }
  std::optional<Tensor> rows = t.reshaped(patches, rowShape),
                        flat = t.reshaped(w, flatShape);
  if (!rows || !flat)
    return std::nullopt;
  Tensor weights =
      isGrouped ? t.transpose(*flat, {0, 2, 1}) : t.transpose(*flat, {1, 0});
  std::optional<Tensor> y = matmul(t, *rows, weights);
  if (!y)
    return std::nullopt;
  if (bias) {
    Tensor perRow = *t.reshaped(*bias, biasShape);
    y = combine<arith::AddFOp>(t, *y, perRow);
  }
  if (!isGrouped)
    return t.transpose(*y, {0, 2, 1});
  Tensor channels = t.transpose(*y, {0, 1, 3, 2});
  return t.reshaped(channels, {batch, w.shape[0], all});
}

static LogicalResult importConv(Node &node) {
  TensorBuilder &t = node.build();
  FailureOr<Window> window = windowOf(node);
  if (failed(window))
    return failure();
  Tensor &w = node.input(1);
  Tensor *bias = node.optionalInput(2);
  if (bias && (bias->rank() != 1 || bias->shape[0] != w.shape[0] ||
               bias->element != w.element))
    return node.fail("expects a bias per row of the weights, but got " +
                     describe(*bias));
  Tensor x = padded(t, node.input(0), *window, /*number=*/0);
  FailureOr<Shape> places = placesOf(node, x, *window);
  if (failed(places))
    return failure();
  if (isDepthwise(w, *window))
    return node.give(depthwise(t, {x, w, bias, *window, *places}));
  Tensor patches = seen(t, x, *window, *places);
  std::optional<Tensor> y =
      products(t, patches, w, bias, window->groups, product(*places));
  if (!y)
    return node.fail("expects sizes that join, but got " + describe(patches));
  Shape shape = {x.shape[0], w.shape[0]};
  llvm::append_range(shape, *places);
  std::optional<Tensor> result = t.reshaped(*y, shape);
  return result ? node.give(*result)
                : node.fail("expects places that are known");
}

ArrayRef<Operator> attn::onnx::convolutionOperators() {
  static const Operator all[] = {
      {"", "Conv", importConv, 2, 3},
  };
  return all;
}
