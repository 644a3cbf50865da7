// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest or the mean element of each window, as the stem of a vision model
// has it. Windows are products of intervals, so one dimension is pooled after
// the other, by an op on a slice per element of its interval:
//   y = max(x[.., 0::stride], x[.., 1::stride], ..)
#include "OperatorTable.h"
#include "Operators/Reductions.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace attn::onnx;

/// Elements of a window along one dimension: each is a slice.
static constexpr int64_t mostElements = 256;

/// With ceil_mode there is a last place whose window begins within the input or
/// the pads in front of it, although it reaches behind all pads. Of an unknown
/// size that may be by any number of elements, of which those behind the last
/// place are not read.
static LogicalResult reachBeyond(Node &node, Window &window) {
  for (int64_t i = 0; i < window.dims; ++i) {
    std::optional<int64_t> size = node.input(0).shape[2 + i].constant();
    int64_t stride = window.strides[i];
    if (!size && window.pads[window.dims + i] + stride > window.reach(i))
      return node.fail("expects a known size for ceil_mode 1 where a window "
                       "might begin behind the input, but got " +
                       describe(node.input(0)));
    if (!size) {
      window.beyond[i] = stride - 1;
      continue;
    }
    int64_t front = window.pads[i] + *size,
            rest = front + window.pads[window.dims + i] - window.reach(i);
    int64_t last = rest < 0 ? rest : llvm::divideCeil(rest, stride) * stride;
    if (last < front)
      window.beyond[i] = last - rest;
  }
  return success();
}

static FailureOr<Window> poolingWindow(Node &node) {
  Tensor &x = node.input(0);
  if (x.rank() < 3 || x.rank() > 5 || !x.isFloat())
    return node.fail("expects floats of 3 to 5 dimensions, but got " +
                     describe(x));
  Window window{x.rank() - 2, {}, {}, {}, {}};
  window.kernel = node.getInts("kernel_shape").value_or(SmallVector<int64_t>());
  auto isSmall = [](int64_t n) { return n >= 1 && n <= mostElements; };
  if (static_cast<int64_t>(window.kernel.size()) != window.dims ||
      !llvm::all_of(window.kernel, isSmall))
    return node.fail("expects a window of 1 to " + Twine(mostElements) +
                     " elements along each of " + Twine(window.dims) +
                     " dimensions");
  if (node.getInt("storage_order", 0) || node.hasOutput(1))
    return node.fail(
        "storage_order and the places of maxima are not supported");
  if (failed(readWindow(node, window)) ||
      (node.getInt("ceil_mode", 0) && failed(reachBeyond(node, window))))
    return failure();
  return window;
}

/// The elements of all windows along a dimension that stand `offset` behind
/// their first.
static Value elements(TensorBuilder &t, Tensor &x, int64_t dim, int64_t offset,
                      int64_t stride, ArrayRef<Size> shape) {
  Shape offsets(x.shape.size(), 0), strides(x.shape.size(), 1);
  offsets[dim] = offset;
  strides[dim] = stride;
  return tensor::ExtractSliceOp::create(t.b, t.loc, t.type(shape, x.element),
                                        t.value(x), t.folded(offsets),
                                        t.folded(shape), t.folded(strides));
}

template <typename Op>
static Tensor pooled(TensorBuilder &t, Tensor x, const Window &window,
                     ArrayRef<Size> places) {
  for (int64_t i = 0; i < window.dims; ++i) {
    Shape shape(x.shape);
    shape[2 + i] = places[i];
    Value all;
    for (int64_t j = 0; j < window.kernel[i]; ++j) {
      Value next = elements(t, x, 2 + i, j * window.dilations[i],
                            window.strides[i], shape);
      all = all ? t.b.createOrFold<Op>(t.loc, all, next) : next;
    }
    x = t.made(all, shape);
  }
  return x;
}

static LogicalResult importMaxPool(Node &node) {
  FailureOr<Window> window = poolingWindow(node);
  if (failed(window))
    return failure();
  TensorBuilder &t = node.build();
  Tensor x = padded(t, node.input(0), *window,
                    -std::numeric_limits<double>::infinity());
  FailureOr<Shape> places = placesOf(node, x, *window);
  if (failed(places))
    return failure();
  return node.give(pooled<arith::MaximumFOp>(t, x, *window, *places));
}

static LogicalResult importAveragePool(Node &node) {
  FailureOr<Window> window = poolingWindow(node);
  if (failed(window))
    return failure();
  TensorBuilder &t = node.build();
  Tensor given = wide(t, node.input(0));
  Tensor x = padded(t, given, *window, /*number=*/0);
  FailureOr<Shape> places = placesOf(node, x, *window);
  if (failed(places))
    return failure();
  Tensor sums = pooled<arith::AddFOp>(t, x, *window, *places), counts;
  auto isAny = [](int64_t n) { return n > 0; };
  bool countsPads = node.getInt("count_include_pad", 0);
  if (llvm::any_of(window->beyond, isAny) ||
      (!countsPads && llvm::any_of(window->pads, isAny))) {
    Shape one(given.shape);
    one[0] = one[1] = 1;
    if (countsPads) {
      for (int64_t i = 0; i < 2 * window->dims; ++i) {
        Size &size = one[2 + i % window->dims];
        size = size + Size(window->pads[i]);
      }
      window->pads.assign(2 * window->dims, 0);
    }
    Tensor ones = t.splat(one, given.element, 1);
    Tensor inside = padded(t, ones, *window, /*number=*/0);
    counts = pooled<arith::AddFOp>(t, inside, *window, *places);
  } else {
    double count = std::accumulate(window->kernel.begin(), window->kernel.end(),
                                   1.0, std::multiplies<>());
    counts = t.splat(sums.shape, given.element, count);
  }
  Tensor means = combine<arith::DivFOp>(t, sums, counts);
  return node.give(t.cast(means, node.input(0).element));
}

/// One window is all of the image.
static LogicalResult importGlobalPool(Node &node) {
  Tensor &x = node.input(0);
  if (x.rank() < 3 || !x.isFloat())
    return node.fail("expects floats of 3 dimensions or more, but got " +
                     describe(x));
  TensorBuilder &t = node.build();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  return node.give(node.op() == "GlobalMaxPool" ? maximumOf(t, x, dims)
                                                : meanOf(t, x, dims));
}

ArrayRef<Operator> attn::onnx::poolingOperators() {
  static const Operator all[] = {
      {"", "AveragePool", importAveragePool, 1, 1},
      {"", "GlobalAveragePool", importGlobalPool, 1, 1},
      {"", "GlobalMaxPool", importGlobalPool, 1, 1},
      {"", "MaxPool", importMaxPool, 1, 1},
  };
  return all;
}
