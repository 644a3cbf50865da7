// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in front of a transformer and between its attentions: patches
// of images, frames of sound.
//
// Of windows that lie side by side, as patches do, each becomes a row of what
// the weights see, and the convolution their product with the weights:
//   X (N, C, in)  ->  rows (N, out, C*k)  * W' (C*k, M)  ->  (N, M, out)
// Of others each becomes a column, so that elements which are neighbours in X
// stay neighbours, and neither X nor the result is transposed; a kernel of one
// element needs no copy at all. With G groups of channels, a product per group:
//   X (N, C, in)  ->  W (G, M/G, C/G*k) * columns (N, G, C/G*k, out)
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

/// Weights (M, C/G, kernel..).
static FailureOr<Window> windowOf(Node &node) {
  return readWindow(node, [](const Tensor &x, const Tensor &w, int64_t groups) {
    return x.shape[1] == w.shape[1] * Size(groups) && w.shape[0].constant() &&
           *w.shape[0].constant() % groups == 0;
  });
}

/// (N, places.., C, kernel..): what each place sees.
static Tensor rowsSeen(TensorBuilder &t, Tensor &x, const Window &window,
                       ArrayRef<Size> places) {
  Shape shape = {x.shape[0]};
  llvm::append_range(shape, places);
  shape.push_back(x.shape[1]);
  llvm::append_range(shape, window.kernel);
  Value source = t.value(x);
  int64_t dims = window.dims;
  return t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    return readElement(
        b, t.loc, source, window,
        {at[0], at[1 + dims], at.slice(1, dims), at.take_back(dims)});
  });
}

/// (N, C, kernel.., places..): the same, a column for each place.
static Tensor columnsSeen(TensorBuilder &t, Tensor &x, const Window &window,
                          ArrayRef<Size> places) {
  auto isOne = [](int64_t n) { return n == 1; };
  if (llvm::all_of(window.kernel, isOne) && llvm::all_of(window.strides, isOne))
    return x;
  Shape shape(ArrayRef(x.shape).take_front(2));
  llvm::append_range(shape, window.kernel);
  llvm::append_range(shape, places);
  Value source = t.value(x);
  int64_t dims = window.dims;
  return t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    return readElement(b, t.loc, source, window,
                       {at[0], at[1], at.take_back(dims), at.slice(2, dims)});
  });
}

/// (N, M, all) of rows, plus a bias of each weight; none where sizes do not
/// join.
static std::optional<Tensor> productOfRows(TensorBuilder &t, Tensor &seen,
                                           Tensor &w, Tensor *bias,
                                           const Size &all) {
  Size depth = product(ArrayRef<Size>(w.shape).drop_front());
  auto rows = t.reshaped(seen, {seen.shape[0], all, depth}),
       flat = t.reshaped(w, {w.shape[0], depth});
  if (!rows || !flat)
    return std::nullopt;
  Tensor weights = t.transpose(*flat, {1, 0});
  Tensor y = project(t, *rows, weights, bias);
  return t.transpose(y, {0, 2, 1});
}

std::optional<Tensor>
attn::onnx::productOfColumns(TensorBuilder &t, Tensor &seen, Tensor &w,
                             Tensor *bias, int64_t numGroups, const Size &all) {
  Size depth = product(ArrayRef<Size>(w.shape).drop_front()),
       batch = seen.shape[0], each = *w.shape[0].constant() / numGroups;
  Shape columnShape{batch}, flatShape, biasShape;
  if (numGroups > 1)
    for (Shape *shape : {&columnShape, &flatShape, &biasShape})
      shape->push_back(numGroups);
  columnShape.append({depth, all});
  flatShape.append({each, depth});
  biasShape.append({each, 1});
  auto columns = t.reshaped(seen, columnShape), flat = t.reshaped(w, flatShape);
  if (!columns || !flat)
    return std::nullopt;
  std::optional<Tensor> y = unroundedMatmul(t, *flat, *columns);
  if (!y)
    return y;
  if (bias) {
    Tensor perRow = *t.reshaped(*bias, biasShape);
    perRow = t.cast(perRow, y->element);
    y = combine<arith::AddFOp>(t, *y, perRow);
  }
  Tensor rounded = t.cast(*y, w.element);
  return t.reshaped(rounded, {batch, w.shape[0], all});
}

/// Whether windows share no element.
static bool areApart(const Window &window) {
  bool isOne = llvm::all_of(window.kernel, [](int64_t n) { return n == 1; });
  bool apart = window.groups == 1 && !isOne;
  for (int64_t i = 0; i < window.dims; ++i)
    apart &= window.strides[i] >= window.reach(i);
  return apart;
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
  bool inRows = areApart(*window);
  Tensor seen = inRows ? rowsSeen(t, x, *window, *places)
                       : columnsSeen(t, x, *window, *places);
  Size all = product(*places);
  std::optional<Tensor> y =
      inRows ? productOfRows(t, seen, w, bias, all)
             : productOfColumns(t, seen, w, bias, window->groups, all);
  if (!y)
    return node.fail("expects sizes that join, but got " + describe(seen));
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
