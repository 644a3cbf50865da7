// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pad: elements around a tensor. A number of elements may be computed from
// sizes, as where rows are filled up to whole windows, and one below 0 cuts.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// How many elements are added in front of each dimension and behind it.
struct Pads {
  Shape before, after;
};
} // namespace

static FailureOr<Pads> padsOf(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<Shape> given = node.numbers(1);
  if (failed(given))
    return failure();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (node.hasInput(3)) {
    auto named = node.integers(3);
    if (failed(named))
      return failure();
    axes = *named;
  }
  if (given->size() != 2 * axes.size())
    return node.fail("expects two pads per axis");
  Pads pads{Shape(x.rank(), 0), Shape(x.rank(), 0)};
  for (auto [i, one] : llvm::enumerate(axes)) {
    FailureOr<int64_t> axis = node.axis(one, x.rank());
    if (failed(axis))
      return failure();
    pads.before[*axis] = (*given)[i];
    pads.after[*axis] = (*given)[i + axes.size()];
  }
  return pads;
}

/// The part of `size` above 0.
static Size positive(TensorBuilder &t, const Size &size) {
  if (std::optional<int64_t> known = size.constant())
    return std::max<int64_t>(*known, 0);
  if (size.isSum())
    return size;
  return t.unknown(
      arith::MaxSIOp::create(t.b, t.loc, t.index(size), t.index(0)));
}

/// `x` without what pads below 0 cut off, which are 0 then.
static Tensor cut(TensorBuilder &t, Tensor x, Pads &pads) {
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    Size &before = pads.before[dim], &after = pads.after[dim];
    Size more = positive(t, before), behind = positive(t, after);
    Size left = more - before, right = behind - after;
    if (!left.is(0) || !right.is(0))
      x = t.slice(x, dim, left, x.shape[dim] - left - right);
    before = more;
    after = behind;
  }
  return x;
}

/// The number that stands around the tensor.
static FailureOr<TypedAttr> numberOf(Node &node) {
  Tensor &x = node.input(0);
  Tensor *value = node.optionalInput(2);
  if (!value)
    return node.build().number(x.element, 0);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value->constant);
  if (!dense || dense.getNumElements() != 1 || value->element != x.element)
    return node.fail("expects a constant of the input's type to pad with");
  return cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

/// Where in 0 .. size - 1 the element of place `at` is from; the tensor has
/// elements.
static Value placeOf(OpBuilder &b, Location loc, StringRef mode, Value at,
                     Value size) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value last = arith::SubIOp::create(b, loc, size, number(1));
  if (mode == "edge") {
    Value low = arith::MaxSIOp::create(b, loc, at, number(0));
    return arith::MinSIOp::create(b, loc, low, last);
  }
  bool turns = mode == "reflect";
  Value period = size;
  if (turns) { // there and back, without the ends
    Value twice = arith::MulIOp::create(b, loc, last, number(2));
    period = arith::MaxSIOp::create(b, loc, twice, number(1));
  }
  Value times = arith::FloorDivSIOp::create(b, loc, at, period);
  Value place = arith::SubIOp::create(
      b, loc, at, arith::MulIOp::create(b, loc, times, period));
  if (!turns)
    return place;
  Value back = arith::SubIOp::create(b, loc, period, place);
  return arith::MinSIOp::create(b, loc, place, back);
}

/// Elements of `x` around it.
static Tensor repeated(TensorBuilder &t, Tensor &x, StringRef mode,
                       const Pads &pads, ArrayRef<Size> shape) {
  SmallVector<int64_t> axes;
  SmallVector<Value> sizes(x.rank()), before(x.rank());
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!(shape[dim] == x.shape[dim])) {
      axes.push_back(dim);
      sizes[dim] = t.index(x.shape[dim]);
      before[dim] = t.index(pads.before[dim]);
    }
  Value source = t.readable(x, axes, shape);
  return t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    SmallVector<Value> place(at);
    for (int64_t dim : axes)
      place[dim] = placeOf(
          b, t.loc, mode, arith::SubIOp::create(b, t.loc, at[dim], before[dim]),
          sizes[dim]);
    return tensor::ExtractOp::create(b, t.loc, source, place).getResult();
  });
}

static LogicalResult importPad(Node &node) {
  TensorBuilder &t = node.build();
  std::string mode = node.getString("mode", "constant");
  if (!llvm::is_contained({"constant", "edge", "reflect", "wrap"}, mode))
    return node.fail("expects mode 'constant', 'edge', 'reflect' or 'wrap', "
                     "but got '" +
                     mode + "'");
  FailureOr<Pads> pads = padsOf(node);
  if (failed(pads))
    return failure();
  FailureOr<TypedAttr> number = numberOf(node);
  if (failed(number))
    return failure();
  Tensor x = cut(t, node.input(0), *pads);
  Shape shape = x.shape;
  for (auto [size, before, after] :
       llvm::zip_equal(shape, pads->before, pads->after))
    size = size + before + after;
  if (ArrayRef(shape).equals(x.shape))
    return node.give(x);
  if (mode != "constant")
    return node.give(repeated(t, x, mode, *pads, shape));
  Value pad = arith::ConstantOp::create(t.b, t.loc, *number);
  Value padded =
      tensor::PadOp::create(t.b, t.loc, t.type(shape, x.element), t.value(x),
                            t.folded(pads->before), t.folded(pads->after), pad);
  return node.give({x.element, shape, padded, {}, {}});
}

ArrayRef<Operator> attn::onnx::padOperators() {
  static const Operator all[] = {{"", "Pad", importPad, 2, 4}};
  return all;
}
