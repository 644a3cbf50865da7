// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What decoders of images and sound enlarge with: channels as elements, and
// transposed convolutions, where each element of X adds the weights times
// itself to a window of the result.
//
// Windows that lie side by side share no element: a product gives all of them,
// whose elements then go to their places:
//   W' (M*k, C) * X (N, C, in)  ->  (N, M, k, in)  ->  (N, M, in*k)
// Of others each place of the result reads the elements whose windows have it,
// and 0 for those of the kernel that fall between two:
//   W' (G, M/G, C/G*k) * columns (N, G, C/G*k, out)
#include "OperatorTable.h"
#include "Window.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
struct Enlargement {
  Window window;
  SmallVector<int64_t> more; ///< output_padding
  Shape places;              ///< of the result
};
} // namespace

/// Weights (C, M/G, kernel..).
static FailureOr<Enlargement> enlargementOf(Node &node) {
  Tensor &x = node.input(0);
  std::string padding = node.getString("auto_pad", "NOTSET");
  if (node.getInts("output_shape") ||
      (padding != "NOTSET" && padding != "VALID"))
    return node.fail("expects pads, and neither output_shape nor auto_pad " +
                     padding);
  auto read =
      readWindow(node, [](const Tensor &x, const Tensor &w, int64_t groups) {
        return x.shape[1] == w.shape[0] &&
               *x.shape[1].constant() % groups == 0 && w.shape[1].constant();
      });
  if (failed(read))
    return failure();
  Enlargement made{*read, {}, {}};
  const Window &window = made.window;
  made.more = node.getInts("output_padding")
                  .value_or(SmallVector<int64_t>(window.dims, 0));
  if (static_cast<int64_t>(made.more.size()) != window.dims)
    return node.fail("expects an output_padding for each dimension");
  for (int64_t i = 0; i < window.dims; ++i) {
    if (made.more[i] < 0 || made.more[i] >= (int64_t(1) << 31))
      return node.fail("expects an output_padding of at least 0");
    int64_t around = window.reach(i) - window.strides[i] + made.more[i] -
                     window.pads[i] - window.pads[window.dims + i];
    made.places.push_back(x.shape[2 + i] * Size(window.strides[i]) +
                          Size(around));
    if (made.places.back().constant().value_or(0) < 0)
      return node.fail("expects pads that leave something of " + describe(x));
  }
  return made;
}

static bool areSideBySide(const Enlargement &of) {
  const Window &window = of.window;
  auto isZero = [](int64_t n) { return n == 0; };
  return window.groups == 1 && window.kernel == window.strides &&
         llvm::all_of(window.dilations, [](int64_t n) { return n == 1; }) &&
         llvm::all_of(window.pads, isZero) && llvm::all_of(of.more, isZero);
}

/// The bias of each row of weights, which are M * k.
static Tensor repeated(TensorBuilder &t, Tensor &bias, const Size &times) {
  Tensor column = *t.reshaped(bias, {bias.shape[0], 1});
  Shape shape{bias.shape[0], times};
  Tensor all{bias.element, shape, t.broadcast(column, shape), {}, {}};
  return *t.reshaped(all, {bias.shape[0] * times});
}

/// Windows side by side: (N, M, k.., in..), and from there the result.
static std::optional<Tensor> spreadWindows(TensorBuilder &t, Tensor &x,
                                           Tensor &w, Tensor *bias,
                                           const Enlargement &of) {
  Size channels = w.shape[0],
       rows = product(ArrayRef<Size>(w.shape).drop_front()),
       all = product(ArrayRef<Size>(x.shape).drop_front(2));
  auto flat = t.reshaped(w, {channels, rows});
  if (!flat)
    return std::nullopt;
  Tensor weights = t.transpose(*flat, {1, 0});
  std::optional<Tensor> biases;
  if (bias)
    biases = repeated(t, *bias, product(ArrayRef<Size>(w.shape).drop_front(2)));
  auto y = productOfColumns(t, x, weights, biases ? &*biases : nullptr,
                            /*numGroups=*/1, all);
  if (!y)
    return y;
  Shape apart{x.shape[0], w.shape[1]}, shape(apart);
  llvm::append_range(apart, ArrayRef<Size>(w.shape).drop_front(2));
  llvm::append_range(apart, ArrayRef<Size>(x.shape).drop_front(2));
  llvm::append_range(shape, of.places);
  SmallVector<int64_t> order{0, 1};
  for (int64_t i = 0; i < of.window.dims; ++i)
    order.append({2 + of.window.dims + i, 2 + i});
  auto windows = t.reshaped(*y, apart);
  if (!windows)
    return windows;
  Tensor inOrder = t.transpose(*windows, order);
  return t.reshaped(inOrder, shape);
}

/// (N, C, kernel.., places..): the element of X whose window has the place at
/// this element of the kernel, or 0.
static Tensor elementsBehind(TensorBuilder &t, Tensor &x,
                             const Enlargement &of) {
  const Window &window = of.window;
  int64_t dims = window.dims;
  Shape shape(ArrayRef(x.shape).take_front(2));
  llvm::append_range(shape, window.kernel);
  llvm::append_range(shape, of.places);
  Value source = t.value(x);
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.number(x.element, 0));
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < dims; ++i)
    sizes.push_back(t.index(x.shape[2 + i]));
  return t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    Location loc = t.loc;
    auto number = [&](int64_t n) -> Value {
      return arith::ConstantIndexOp::create(b, loc, n);
    };
    SmallVector<Value> from{at[0], at[1]};
    Value exists;
    for (int64_t i = 0; i < dims; ++i) {
      Value offset =
          arith::MulIOp::create(b, loc, at[2 + i], number(window.dilations[i]));
      Value place = arith::AddIOp::create(b, loc, at[2 + dims + i],
                                          number(window.pads[i]));
      place = arith::SubIOp::create(b, loc, place, offset);
      Value stride = number(window.strides[i]);
      Value element = arith::FloorDivSIOp::create(b, loc, place, stride);
      Value begin = arith::MulIOp::create(b, loc, element, stride);
      auto both = [&](arith::CmpIPredicate how, Value x, Value y) {
        Value is = arith::CmpIOp::create(b, loc, how, x, y);
        exists = exists ? arith::AndIOp::create(b, loc, exists, is) : is;
      };
      both(arith::CmpIPredicate::eq, begin, place);
      both(arith::CmpIPredicate::sge, element, number(0));
      both(arith::CmpIPredicate::slt, element, sizes[i]);
      Value last = arith::SubIOp::create(b, loc, sizes[i], number(1));
      element = arith::MinSIOp::create(b, loc, element, last);
      from.push_back(arith::MaxSIOp::create(b, loc, element, number(0)));
    }
    Value read = tensor::ExtractOp::create(b, loc, source, from);
    return arith::SelectOp::create(b, loc, exists, read, zero).getResult();
  });
}

/// (M, C/G, kernel..) of weights (C, M/G, kernel..).
static std::optional<Tensor> rowsOfWeights(TensorBuilder &t, Tensor &w,
                                           int64_t groups) {
  int64_t channels = *w.shape[0].constant(), each = *w.shape[1].constant();
  Shape apart{groups, channels / groups, each},
      shape{groups * each, channels / groups};
  ArrayRef<Size> kernel = ArrayRef<Size>(w.shape).drop_front(2);
  llvm::append_range(apart, kernel);
  llvm::append_range(shape, kernel);
  auto grouped = t.reshaped(w, apart);
  if (!grouped)
    return grouped;
  SmallVector<int64_t> order{0, 2, 1};
  for (int64_t i = 3; i < static_cast<int64_t>(apart.size()); ++i)
    order.push_back(i);
  Tensor turned = t.transpose(*grouped, order);
  return t.reshaped(turned, shape);
}

static LogicalResult importConvTranspose(Node &node) {
  TensorBuilder &t = node.build();
  FailureOr<Enlargement> of = enlargementOf(node);
  if (failed(of))
    return failure();
  Tensor &x = node.input(0), &w = node.input(1);
  Tensor *bias = node.optionalInput(2);
  Size channels = w.shape[1] * Size(of->window.groups);
  if (bias && (bias->rank() != 1 || bias->shape[0] != channels ||
               bias->element != w.element))
    return node.fail("expects a bias per channel of the result, but got " +
                     describe(*bias));
  std::optional<Tensor> y;
  if (areSideBySide(*of)) {
    y = spreadWindows(t, x, w, bias, *of);
  } else if (auto rows = rowsOfWeights(t, w, of->window.groups)) {
    Tensor seen = elementsBehind(t, x, *of);
    y = productOfColumns(t, seen, *rows, bias, of->window.groups,
                         product(of->places));
    Shape shape{x.shape[0], channels};
    llvm::append_range(shape, of->places);
    if (y)
      y = t.reshaped(*y, shape);
  }
  return y ? node.give(*y)
           : node.fail("expects sizes that join, but got " + describe(x));
}

/// Channels as elements of larger images, (N, C*b*b, H, W) as (N, C, H*b, W*b).
static LogicalResult importDepthToSpace(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  int64_t block = node.getInt("blocksize", 0);
  std::string mode = node.getString("mode", "DCR");
  bool fits = x.rank() == 4 && block > 0 && block < (1 << 15) &&
              x.shape[1].constant().value_or(1) % (block * block) == 0 &&
              x.shape[1].constant();
  if (!fits || (mode != "DCR" && mode != "CRD"))
    return node.fail("expects (N, C, H, W) whose channels a square of "
                     "blocksize divides, in mode DCR or CRD, but got " +
                     describe(x));
  Size depth = *x.shape[1].constant() / (block * block), b = block;
  bool blocksFirst = mode == "DCR";
  Shape apart = blocksFirst
                    ? Shape{x.shape[0], b, b, depth, x.shape[2], x.shape[3]}
                    : Shape{x.shape[0], depth, b, b, x.shape[2], x.shape[3]};
  auto blocks = t.reshaped(x, apart);
  if (!blocks)
    return node.fail("expects sizes that are known");
  Tensor inOrder = blocksFirst ? t.transpose(*blocks, {0, 3, 4, 1, 5, 2})
                               : t.transpose(*blocks, {0, 1, 4, 2, 5, 3});
  auto y =
      t.reshaped(inOrder, {x.shape[0], depth, x.shape[2] * b, x.shape[3] * b});
  return y ? node.give(*y) : node.fail("expects sizes that are known");
}

/// The reverse, with blocks in front of the channels, or of set 28 behind them.
static LogicalResult importSpaceToDepth(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  int64_t block = node.getInt("blocksize", 0);
  std::string mode = node.getString("mode", "DCR");
  if (x.rank() != 4 || block < 1 || block >= (1 << 15) ||
      !x.shape[1].constant() || (mode != "DCR" && mode != "CRD"))
    return node.fail("expects (N, C, H, W), a blocksize of at least 1 and mode "
                     "DCR or CRD, but got " +
                     describe(x));
  Size b = block, high = t.quotient(x.shape[2], block),
       wide = t.quotient(x.shape[3], block);
  auto blocks = t.reshaped(x, {x.shape[0], x.shape[1], high, b, wide, b});
  if (!blocks)
    return node.fail("expects sizes that blocksize divides, but got " +
                     describe(x));
  Tensor inOrder = mode == "DCR" ? t.transpose(*blocks, {0, 3, 5, 1, 2, 4})
                                 : t.transpose(*blocks, {0, 1, 3, 5, 2, 4});
  auto y = t.reshaped(inOrder, {x.shape[0], x.shape[1] * b * b, high, wide});
  return y ? node.give(*y) : node.fail("expects sizes that are known");
}

ArrayRef<Operator> attn::onnx::enlargingOperators() {
  static const Operator all[] = {
      {"", "ConvTranspose", importConvTranspose, 2, 3},
      {"", "DepthToSpace", importDepthToSpace, 1, 1},
      {"", "SpaceToDepth", importSpaceToDepth, 1, 1},
  };
  return all;
}
