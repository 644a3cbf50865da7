// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of each channel by itself, as stand between the attentions of a
// hybrid model: one loop over the results, whose body has a product for each
// element of the window, in the window's order:
//   y[n, m, i, j] = b[m] + w[m, 0, 0, 0] * x[n, m, i, j]
//                        + w[m, 0, 0, 1] * x[n, m, i, j + 1] + ..
// What rows of a product with the weights would hold is read where it is.
#include "Depthwise.h"
#include "Operators/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace attn::onnx;

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
    int64_t each = *c.w.shape[0].constant() / c.window.groups;
    Value channel = at[1];
    if (each != 1)
      channel = arith::DivUIOp::create(b, loc, channel, number(b, each));
    Value sum = bias ? wide(b, tensor::ExtractOp::create(b, loc, bias, at[1]))
                     : Value(arith::ConstantOp::create(b, loc, zero));
    SmallVector<int64_t> strides = computeStrides(c.window.kernel);
    for (int64_t i : llvm::seq(computeProduct(c.window.kernel))) {
      SmallVector<Value> offsets;
      for (int64_t offset : delinearize(i, strides))
        offsets.push_back(number(b, offset));
      SmallVector<Value> place{at[1], number(b, 0)};
      llvm::append_range(place, offsets);
      Value weight = tensor::ExtractOp::create(b, loc, w, place);
      Value element = readElement(b, loc, x, c.window,
                                  {at[0], channel, at.drop_front(2), offsets});
      sum = math::FmaOp::create(b, loc, wide(b, weight), wide(b, element), sum);
    }
    if (sum.getType() == c.x.element)
      return sum;
    return arith::TruncFOp::create(b, loc, c.x.element, sum);
  }

private:
  Value number(OpBuilder &b, int64_t n) const {
    return arith::ConstantIndexOp::create(b, loc, n);
  }
  Value wide(OpBuilder &b, Value element) const {
    return element.getType() == zero.getType()
               ? element
               : arith::ExtFOp::create(b, loc, zero.getType(), element);
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
