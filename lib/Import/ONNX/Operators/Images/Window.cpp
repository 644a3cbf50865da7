// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

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

LogicalResult attn::onnx::readWindow(Node &node, Window &window) {
  auto list = [&](StringRef name, int64_t count, int64_t fallback) {
    return node.getInts(name).value_or(SmallVector<int64_t>(count, fallback));
  };
  window.strides = list("strides", window.dims, 1);
  window.dilations = list("dilations", window.dims, 1);
  window.pads = list("pads", 2 * window.dims, 0);
  window.beyond.assign(window.dims, 0);
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
  return choosePads(node, window);
}

FailureOr<Window> attn::onnx::readWindow(
    Node &node,
    function_ref<bool(const Tensor &x, const Tensor &w, int64_t groups)>
        channelsFit) {
  Tensor &x = node.input(0), &w = node.input(1);
  Window window{x.rank() - 2, {}, {}, {}, {}, node.getInt("group", 1)};
  if (window.groups < 1 || window.groups >= (int64_t(1) << 31))
    return node.fail("expects at least one group of channels");
  bool fits = x.rank() >= 3 && x.rank() <= 5 && w.rank() == x.rank() &&
              x.isFloat() && x.element == w.element && x.shape[1].constant() &&
              channelsFit(x, w, window.groups);
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

Tensor attn::onnx::padded(TensorBuilder &t, Tensor &x, const Window &window,
                          double number) {
  auto isZero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(window.pads, isZero) && llvm::all_of(window.beyond, isZero))
    return x;
  Shape low(2, 0), high(2, 0), shape(x.shape);
  for (int64_t i = 0; i < window.dims; ++i) {
    low.push_back(window.pads[i]);
    high.push_back(window.pads[window.dims + i] + window.beyond[i]);
    shape[2 + i] = shape[2 + i] + low.back() + high.back();
  }
  Value around =
      arith::ConstantOp::create(t.b, t.loc, t.number(x.element, number));
  Value all =
      tensor::PadOp::create(t.b, t.loc, t.type(shape, x.element), t.value(x),
                            t.folded(low), t.folded(high), around);
  return {x.element, shape, all, {}, {}};
}

FailureOr<Shape> attn::onnx::placesOf(Node &node, const Tensor &x,
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

Value attn::onnx::readElement(OpBuilder &b, Location loc, Value input,
                              const Window &window,
                              const WindowElement &element) {
  auto times = [&](Value index, int64_t count) -> Value {
    return count == 1 ? index
                      : arith::MulIOp::create(
                            b, loc, index,
                            arith::ConstantIndexOp::create(b, loc, count));
  };
  SmallVector<Value> at{element.image, element.channel};
  for (int64_t i = 0; i < window.dims; ++i)
    at.push_back(arith::AddIOp::create(
        b, loc, times(element.places[i], window.strides[i]),
        times(element.offsets[i], window.dilations[i])));
  return tensor::ExtractOp::create(b, loc, input, at);
}
