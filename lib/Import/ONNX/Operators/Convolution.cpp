// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in front of a transformer: patches of images, frames of sound.
//
// What a weight sees of the input becomes one row per place, and the
// convolution their product with the weights:
//   X (N, C, in)  ->  rows (N, out, C*k)  * W' (C*k, M)  ->  (N, M, out)
// With G groups of channels, a product per group:
//   rows (N, G, out, C/G*k)  * W' (G, C/G*k, M/G)
#include "OperatorTable.h"
#include "Products.h"
#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// Of the dimensions behind the channels.
struct Window {
  int64_t dims, groups;
  SmallVector<int64_t> kernel, strides, dilations, pads;

  /// How many elements one place spans.
  int64_t reach(int64_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};
} // namespace

/// The pads that `auto_pad` means: with SAME there is a place per stride.
static LogicalResult choosePads(Node &node, Window &window) {
  std::string padding = node.getString("auto_pad", "NOTSET");
  if (padding == "NOTSET" || padding == "VALID")
    return success();
  if (padding != "SAME_UPPER" && padding != "SAME_LOWER")
    return node.fail("expects auto_pad NOTSET, VALID, SAME_UPPER or "
                     "SAME_LOWER, but got " +
                     padding);
  for (int64_t i = 0; i < window.dims; ++i) {
    int64_t stride = window.strides[i], all = window.reach(i) - 1;
    if (stride > 1) {
      std::optional<int64_t> size = node.input(0).shape[2 + i].constant();
      if (!size)
        return node.fail("expects a known size for auto_pad " + padding +
                         " with strides, but got " + describe(node.input(0)));
      int64_t last = (llvm::divideCeil(*size, stride) - 1) * stride;
      all = std::max<int64_t>(0, last + window.reach(i) - *size);
    }
    int64_t less = all / 2, more = all - less;
    bool isUpper = padding == "SAME_UPPER";
    window.pads[i] = isUpper ? less : more;
    window.pads[window.dims + i] = isUpper ? more : less;
  }
  return success();
}

static FailureOr<Window> windowOf(Node &node) {
  Tensor &x = node.input(0), &w = node.input(1);
  Window window{x.rank() - 2, node.getInt("group", 1), {}, {}, {}, {}};
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
  auto list = [&](StringRef name, int64_t count, int64_t fallback) {
    return node.getInts(name).value_or(SmallVector<int64_t>(count, fallback));
  };
  window.strides = list("strides", window.dims, 1);
  window.dilations = list("dilations", window.dims, 1);
  window.pads = list("pads", 2 * window.dims, 0);
  auto isWithin = [](ArrayRef<int64_t> all, int64_t count, int64_t least) {
    return static_cast<int64_t>(all.size()) == count &&
           llvm::all_of(all, [&](int64_t n) {
             return n >= least && n < (int64_t(1) << 31);
           });
  };
  if (!isWithin(window.strides, window.dims, 1) ||
      !isWithin(window.dilations, window.dims, 1) ||
      !isWithin(window.pads, 2 * window.dims, 0))
    return node.fail("expects strides and dilations of at least 1 and pads of "
                     "at least 0 for each dimension");
  if (failed(choosePads(node, window)))
    return failure();
  return window;
}

static Tensor padded(TensorBuilder &t, Tensor &x, const Window &window) {
  if (llvm::all_of(window.pads, [](int64_t n) { return n == 0; }))
    return x;
  Shape low(2, 0), high(2, 0), shape(x.shape);
  for (int64_t i = 0; i < window.dims; ++i) {
    low.push_back(window.pads[i]);
    high.push_back(window.pads[window.dims + i]);
    shape[2 + i] = shape[2 + i] + low.back() + high.back();
  }
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.number(x.element, 0));
  Value all =
      tensor::PadOp::create(t.b, t.loc, t.type(shape, x.element), t.value(x),
                            t.folded(low), t.folded(high), zero);
  return {x.element, shape, all, {}, {}};
}

/// How many places the window has along each dimension.
static FailureOr<Shape> placesOf(Node &node, const Tensor &x,
                                 const Window &window) {
  TensorBuilder &t = node.build();
  Shape places;
  for (int64_t i = 0; i < window.dims; ++i) {
    Size rest = x.shape[2 + i] - Size(window.reach(i));
    if (rest.constant().value_or(0) < 0)
      return node.fail("expects an input that is larger than the window, but "
                       "got " +
                       describe(node.input(0)));
    // Where the window does not fit, the kernel refuses a size below 0.
    places.push_back(t.quotient(rest, window.strides[i]) + Size(1));
  }
  return places;
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
  Tensor x = padded(t, node.input(0), *window);
  FailureOr<Shape> places = placesOf(node, x, *window);
  if (failed(places))
    return failure();
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
