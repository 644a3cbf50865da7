// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions in front of a transformer: patches of images, frames of sound.
//
// What a weight sees of the input becomes one row per place, and the
// convolution their product with the weights:
//   X (N, C, in)  ->  rows (N, out, C*k)  * W' (C*k, M)  ->  (N, M, out)
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
  int64_t dims;
  SmallVector<int64_t> kernel, strides, dilations, pads;
};
} // namespace

static FailureOr<Window> windowOf(Node &node) {
  Tensor &x = node.input(0), &w = node.input(1);
  std::string padding = node.getString("auto_pad", "NOTSET");
  if (padding != "NOTSET" && padding != "VALID")
    return node.fail("expects auto_pad NOTSET or VALID, but got " + padding);
  if (node.getInt("group", 1) != 1)
    return node.fail("expects one group: convolutions per group of channels "
                     "are not supported");
  Window window{x.rank() - 2, {}, {}, {}, {}};
  bool fits = x.rank() >= 3 && x.rank() <= 5 && w.rank() == x.rank() &&
              x.isFloat() && x.element == w.element && x.shape[1].constant() &&
              x.shape[1] == w.shape[1] && w.shape[0].constant();
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
    int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
    Size rest = x.shape[2 + i] - Size(reach);
    if (rest.constant().value_or(0) < 0)
      return node.fail("expects an input that is larger than the window, but "
                       "got " +
                       describe(node.input(0)));
    if (std::optional<int64_t> known = rest.constant()) {
      places.push_back(*known / window.strides[i] + 1);
      continue;
    }
    if (Size all = rest + Size(1);
        window.strides[i] == 1 && (all + Size(1)).isPositive()) {
      places.push_back(all);
      continue;
    }
    // A window that does not fit has no place.
    Value more = t.index(rest + Size(window.strides[i])), zero = t.index(0);
    Value least = arith::MaxSIOp::create(t.b, t.loc, more, zero);
    Value stride = t.index(window.strides[i]);
    places.push_back(
        t.unknown(arith::DivSIOp::create(t.b, t.loc, least, stride)));
  }
  return places;
}

/// (N, places.., C, kernel..): what each place sees.
static Tensor seen(TensorBuilder &t, Tensor &x, const Window &window,
                   ArrayRef<Size> places) {
  Shape shape = {x.shape[0]};
  llvm::append_range(shape, places);
  shape.push_back(x.shape[1]);
  for (int64_t size : window.kernel)
    shape.push_back(size);
  Value source = t.value(x);
  return t.generate(
      shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place{at[0], at[1 + window.dims]};
        for (int64_t i = 0; i < window.dims; ++i) {
          Value stride =
                    arith::ConstantIndexOp::create(b, t.loc, window.strides[i]),
                step = arith::ConstantIndexOp::create(b, t.loc,
                                                      window.dilations[i]);
          Value begin = arith::MulIOp::create(b, t.loc, at[1 + i], stride);
          Value moved =
              arith::MulIOp::create(b, t.loc, at[2 + window.dims + i], step);
          place.push_back(arith::AddIOp::create(b, t.loc, begin, moved));
        }
        return tensor::ExtractOp::create(b, t.loc, source, place);
      });
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
  Size depth = product(ArrayRef<Size>(w.shape).drop_front()),
       all = product(*places);
  std::optional<Tensor> rows = t.reshaped(patches, {x.shape[0], all, depth}),
                        flat = t.reshaped(w, {w.shape[0], depth});
  if (!rows || !flat)
    return node.fail("expects sizes that join, but got " + describe(patches));
  Tensor weights = t.transpose(*flat, {1, 0});
  std::optional<Tensor> y = matmul(t, *rows, weights);
  if (!y)
    return node.fail("expects inputs that fit each other");
  Tensor sum = bias ? combine<arith::AddFOp>(t, *y, *bias) : *y;
  Tensor channels = t.transpose(sum, {0, 2, 1});
  Shape shape = {x.shape[0], w.shape[0]};
  llvm::append_range(shape, *places);
  std::optional<Tensor> result = t.reshaped(channels, shape);
  return result ? node.give(*result)
                : node.fail("expects places that are known");
}

ArrayRef<Operator> attn::onnx::convolutionOperators() {
  static const Operator all[] = {
      {"", "Conv", importConv, 2, 3},
  };
  return all;
}
