// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel by itself, as stand between the attentions of a
// hybrid model: one loop over the results, whose body has a product for each
// element of the window, in the window's order:
//   y[n, m, i, j] = b[m] + w[m, 0, 0, 0] * x[n, m, i, j]
//                        + w[m, 0, 0, 1] * x[n, m, i, j + 1] + ..
// What rows of a product with the weights would hold is read where it is.
#include "Depthwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace attn::onnx;

/// Of more elements the loop's body is too long.
static constexpr int64_t mostProducts = 128;

bool attn::onnx::isDepthwise(const Tensor &w, const Window &window) {
  return window.groups > 1 && w.shape[1].is(1) &&
         computeProduct(window.kernel) <= mostProducts;
}

namespace {
/// The loop's body, which sums in f32 or f64.
class Body {
public:
  Body(TensorBuilder &t, const Depthwise &c)
      : c(c), loc(t.loc), x(t.value(c.x)), w(t.value(c.w)),
        bias(c.bias ? t.value(*c.bias) : Value()),
        zero(t.number(sumType(c.x.element), 0)) {}

  Value operator()(OpBuilder &b, ValueRange at) const {
    Value sum = bias ? read(b, bias, at[1])
                     : Value(arith::ConstantOp::create(b, loc, zero));
    SmallVector<int64_t> strides = computeStrides(c.window.kernel);
    for (int64_t i : llvm::seq(computeProduct(c.window.kernel)))
      sum = math::FmaOp::create(b, loc, read(b, w, weightAt(b, at, i, strides)),
                                read(b, x, elementAt(b, at, i, strides)), sum);
    if (sum.getType() == c.x.element)
      return sum;
    return arith::TruncFOp::create(b, loc, c.x.element, sum);
  }

private:
  static Type sumType(Type element) {
    return element.getIntOrFloatBitWidth() < 32
               ? Float32Type::get(element.getContext())
               : element;
  }
  Value number(OpBuilder &b, int64_t n) const {
    return arith::ConstantIndexOp::create(b, loc, n);
  }
  Value read(OpBuilder &b, Value tensor, ValueRange at) const {
    Value element = tensor::ExtractOp::create(b, loc, tensor, at);
    return element.getType() == zero.getType()
               ? element
               : arith::ExtFOp::create(b, loc, zero.getType(), element);
  }
  SmallVector<Value> weightAt(OpBuilder &b, ValueRange at, int64_t i,
                              ArrayRef<int64_t> strides) const {
    SmallVector<Value> place{at[1], number(b, 0)};
    for (int64_t offset : delinearize(i, strides))
      place.push_back(number(b, offset));
    return place;
  }
  SmallVector<Value> elementAt(OpBuilder &b, ValueRange at, int64_t i,
                               ArrayRef<int64_t> strides) const {
    int64_t each = *c.w.shape[0].constant() / c.window.groups;
    SmallVector<Value> place{at[0], at[1]};
    if (each != 1)
      place[1] = arith::DivUIOp::create(b, loc, at[1], number(b, each));
    for (auto [dim, offset] : llvm::enumerate(delinearize(i, strides))) {
      Value first = at[2 + dim];
      if (c.window.strides[dim] != 1)
        first = arith::MulIOp::create(b, loc, first,
                                      number(b, c.window.strides[dim]));
      place.push_back(arith::AddIOp::create(
          b, loc, first, number(b, offset * c.window.dilations[dim])));
    }
    return place;
  }

  const Depthwise &c;
  Location loc;
  Value x, w, bias;
  TypedAttr zero;
};
} // namespace

Tensor attn::onnx::depthwise(TensorBuilder &t, const Depthwise &convolution) {
  Shape shape{convolution.x.shape[0], convolution.w.shape[0]};
  llvm::append_range(shape, convolution.places);
  return t.generate(shape, convolution.x.element, Body(t, convolution));
}
