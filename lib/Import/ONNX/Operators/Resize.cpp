// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images that become larger, each element repeated: the way up of a U-Net.
//   y[i] = x[i / factor]
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace attn::onnx;

/// Whether the place in x, rounded, is that of the repeated element.
static bool repeats(Node &node) {
  std::string place = node.getString("coordinate_transformation_mode",
                                     "half_pixel"),
              rounded = node.getString("nearest_mode", "round_prefer_floor");
  if (node.getString("mode", "nearest") != "nearest")
    return false;
  if (place == "asymmetric")
    return rounded == "floor";
  return (place == "half_pixel" || place == "pytorch_half_pixel") &&
         (rounded == "round_prefer_floor" || rounded == "round_prefer_ceil");
}

/// The whole number by which each dimension grows; none: by another one.
static std::optional<SmallVector<int64_t>> factorsOf(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<int64_t> factors;
  if (Tensor *scales = node.optionalInput(2);
      scales && !scales->shape.empty() && !scales->shape[0].is(0)) {
    auto known = dyn_cast_or_null<DenseFPElementsAttr>(scales->constant);
    if (!known)
      return std::nullopt;
    for (const APFloat &scale : known.getValues<APFloat>()) {
      double factor = scale.convertToDouble();
      if (!(factor >= 1 && factor <= 64 && factor == std::floor(factor)))
        return std::nullopt;
      factors.push_back(static_cast<int64_t>(factor));
    }
  } else if (Tensor *sizes = node.optionalInput(3); sizes && sizes->numbers) {
    for (auto [i, size] : llvm::enumerate(*sizes->numbers)) {
      std::optional<Size> factor =
          i < x.shape.size() ? size.dividedBy(x.shape[i]) : std::nullopt;
      if (!factor || factor->constant().value_or(0) < 1)
        return std::nullopt;
      factors.push_back(*factor->constant());
    }
  }
  return factors.size() == x.shape.size() ? std::optional(factors)
                                          : std::nullopt;
}

static LogicalResult importResize(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  auto factors = factorsOf(node);
  if (!repeats(node) || !factors || node.getInts("axes"))
    return node.fail("expects mode 'nearest' by known whole factors, which "
                     "repeats elements; others are not supported");
  Shape shape;
  for (auto [size, factor] : llvm::zip_equal(x.shape, *factors))
    shape.push_back(size * Size(factor));
  Value source = t.value(x);
  return node.give(
      t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place;
        for (auto [index, factor] : llvm::zip_equal(at, *factors)) {
          Value times = arith::ConstantIndexOp::create(b, t.loc, factor);
          place.push_back(
              factor == 1
                  ? index
                  : arith::DivUIOp::create(b, t.loc, index, times).getResult());
        }
        return tensor::ExtractOp::create(b, t.loc, source, place);
      }));
}

ArrayRef<Operator> attn::onnx::resizeOperators() {
  static const Operator all[] = {
      {"", "Resize", importResize, 1, 4, /*since=*/11},
  };
  return all;
}
