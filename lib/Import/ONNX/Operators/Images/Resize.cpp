// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of another size, one axis after the other, as ONNX's Resize defines it
// (operator set 19): the way up of a U-Net, positions for another image.
//   nearest        y[i] = x[round(place(i))]
//   linear, cubic  y = x W,  where W (old, new) is what each element takes of x
// Element i of y lies in x at
//   half_pixel          (i + 1/2) / scale - 1/2
//   pytorch_half_pixel  the same, but 0 where new is 1
//   asymmetric          i / scale
//   align_corners       i (old - 1) / (new - 1)
// Scales have 24 bits or are quotients of sizes, so places are quotients of
// integers, and rounding is exact. The kernel computes W, since sizes may be
// unknown.
#include "OperatorTable.h"
#include "Operators/Products.h"
#include "Operators/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace attn::onnx;

namespace {
/// A dimension that changes its size; 1 / scale is up / down.
struct Axis {
  int64_t dim;
  Size old, now, up, down;
};

/// A place as a quotient of integers.
struct Position {
  Value number, divisor;
};

/// What the attributes say.
struct Method {
  std::string mode, place, rounding;
  double a; ///< Of the cubic function.
  bool excludes, smooths;
};

/// Code for one element.
struct Elements {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value real(double value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value real(Value index) {
    Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, loc, b.getF64Type(), number);
  }
  template <typename Op> Value op(Value left, Value right) {
    return Op::create(b, loc, left, right);
  }
  Value clamp(Value index, Value last) {
    Value low = op<arith::MaxSIOp>(index, this->index(0));
    return op<arith::MinSIOp>(low, last);
  }
};
} // namespace

// --- which axes ---

/// The new size for a scale: rounded as a product of f32, in which frameworks
/// compute it.
static Size scaled(TensorBuilder &t, const Size &old, double scale) {
  if (scale == std::floor(scale))
    return old * Size(static_cast<int64_t>(scale));
  double divisor = 1 / scale;
  if (divisor == std::floor(divisor))
    return t.quotient(old, static_cast<int64_t>(divisor));
  if (std::optional<int64_t> known = old.constant())
    return static_cast<int64_t>(static_cast<float>(*known) *
                                static_cast<float>(scale));
  Type f32 = t.b.getF32Type(), i64 = t.b.getI64Type();
  Value number = arith::IndexCastOp::create(t.b, t.loc, i64, t.index(old));
  number = arith::SIToFPOp::create(t.b, t.loc, f32, number);
  Value factor = arith::ConstantOp::create(t.b, t.loc, t.number(f32, scale));
  number = arith::MulFOp::create(t.b, t.loc, number, factor);
  number = arith::FPToSIOp::create(t.b, t.loc, i64, number);
  return t.unknown(
      arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), number));
}

/// A scale, a number of 24 bits, as down / up. None where it is no scale.
static std::optional<Axis> axisBy(TensorBuilder &t, int64_t dim,
                                  const Size &old, double scale) {
  constexpr int64_t most = 1 << 20;
  if (!(scale * most > 1 && scale < most))
    return std::nullopt;
  int exponent;
  auto down =
      static_cast<int64_t>(std::ldexp(std::frexp(scale, &exponent), 24));
  int64_t up = int64_t(1) << std::max(0, 24 - exponent);
  int64_t both = std::gcd(up, down);
  return Axis{dim, old, scaled(t, old, scale), up / both, down / both};
}

/// Those whose size changes.
static FailureOr<SmallVector<Axis>> axesOf(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<int64_t> dims = node.getInts("axes").value_or(
      llvm::to_vector(llvm::seq<int64_t>(0, x.rank())));
  auto wrong = [&] {
    return node.fail("expects a known scale above 0 or a size per axis");
  };
  Tensor *scales = node.optionalInput(2), *sizes = node.optionalInput(3);
  bool byScales = scales && !scales->shape.empty() && !scales->shape[0].is(0);
  auto known = byScales
                   ? dyn_cast_or_null<DenseFPElementsAttr>(scales->constant)
                   : DenseFPElementsAttr();
  if (byScales
          ? !known || known.size() != int64_t(dims.size())
          : !sizes || !sizes->numbers || sizes->numbers->size() != dims.size())
    return wrong();
  SmallVector<Axis> axes;
  for (auto [i, given] : llvm::enumerate(dims)) {
    FailureOr<int64_t> dim = node.axis(given, x.rank());
    if (failed(dim))
      return failure();
    if (llvm::is_contained(ArrayRef(dims).take_front(i), given))
      return node.fail("expects axes that differ");
    const Size &old = x.shape[*dim];
    std::optional<Axis> axis;
    if (byScales)
      axis = axisBy(node.build(), *dim, old,
                    known.getValues<APFloat>()[i].convertToDouble());
    else
      axis = Axis{*dim, old, (*sizes->numbers)[i], old, (*sizes->numbers)[i]};
    if (!axis || axis->now.constant().value_or(0) < 0)
      return wrong();
    if (old.is(0) && !axis->now.is(0))
      return node.fail("expects an axis with elements, but got " + describe(x));
    if (axis->up != axis->down)
      axes.push_back(*axis);
  }
  return axes;
}

// --- places ---

static Position positionOf(TensorBuilder &t, Elements &e, const Method &method,
                           const Axis &axis, Value i) {
  Value one = e.index(1), two = e.index(2), now = t.index(axis.now);
  if (method.place == "align_corners") {
    Value last = e.op<arith::SubIOp>(t.index(axis.old), one);
    Value steps = e.op<arith::SubIOp>(now, one);
    return {e.op<arith::MulIOp>(i, last), e.op<arith::MaxSIOp>(steps, one)};
  }
  Value up = t.index(axis.up), down = t.index(axis.down);
  if (method.place == "asymmetric")
    return {e.op<arith::MulIOp>(i, up), down};
  Value odd = e.op<arith::AddIOp>(e.op<arith::MulIOp>(i, two), one);
  Value number = e.op<arith::SubIOp>(e.op<arith::MulIOp>(odd, up), down);
  if (method.place == "pytorch_half_pixel") {
    Value isOne =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, now, one);
    number = arith::SelectOp::create(e.b, e.loc, isOne, e.index(0), number);
  }
  return {number, e.op<arith::MulIOp>(down, two)};
}

/// The element of x at a place.
static Value rounded(Elements &e, StringRef rounding, Position at) {
  auto [number, divisor] = at;
  if (rounding == "floor")
    return e.op<arith::FloorDivSIOp>(number, divisor);
  if (rounding == "ceil")
    return e.op<arith::CeilDivSIOp>(number, divisor);
  Value two = e.index(2), twice = e.op<arith::MulIOp>(number, two),
        both = e.op<arith::MulIOp>(divisor, two);
  if (rounding == "round_prefer_ceil")
    return e.op<arith::FloorDivSIOp>(e.op<arith::AddIOp>(twice, divisor), both);
  return e.op<arith::CeilDivSIOp>(e.op<arith::SubIOp>(twice, divisor), both);
}

/// Whether each element is repeated `down` times: y[i] = x[i / down].
static bool repeats(const Method &method, const Axis &axis) {
  if (!axis.up.is(1))
    return false;
  if (method.place == "asymmetric")
    return method.rounding == "floor";
  return method.place != "align_corners" &&
         StringRef(method.rounding).starts_with("round");
}

static Tensor nearest(TensorBuilder &t, Tensor &x, const Method &method,
                      ArrayRef<Axis> axes) {
  Shape shape(x.shape);
  SmallVector<int64_t> dims;
  for (const Axis &axis : axes) {
    shape[axis.dim] = axis.now;
    dims.push_back(axis.dim);
  }
  Value source = t.readable(x, dims, shape);
  return t.generate(
      shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        Elements e{b, t.loc};
        SmallVector<Value> place(at);
        for (const Axis &axis : axes) {
          Value &i = place[axis.dim];
          if (repeats(method, axis)) {
            i = e.op<arith::DivUIOp>(i, t.index(axis.down));
            continue;
          }
          Value last = e.op<arith::SubIOp>(t.index(axis.old), e.index(1));
          i = e.clamp(
              rounded(e, method.rounding, positionOf(t, e, method, axis, i)),
              last);
        }
        return tensor::ExtractOp::create(b, t.loc, source, place);
      });
}

// --- weights ---

/// How much is taken of an element at a distance: 1 at 0, and 0 from 1 on
/// (linear) or from 2 on (cubic: R. Keys, "Cubic Convolution Interpolation for
/// Digital Image Processing", 1981).
static Value weightAt(Elements &e, const Method &method, Value distance) {
  OpBuilder &b = e.b;
  Value d = math::AbsFOp::create(b, e.loc, distance);
  if (method.mode == "linear")
    return e.op<arith::MaximumFOp>(e.op<arith::SubFOp>(e.real(1), d),
                                   e.real(0));
  auto polynomial = [&](ArrayRef<double> coefficients) {
    Value sum = e.real(coefficients.front());
    for (double next : coefficients.drop_front())
      sum = e.op<arith::AddFOp>(e.op<arith::MulFOp>(sum, d), e.real(next));
    return sum;
  };
  double a = method.a;
  Value near = polynomial({a + 2, -(a + 3), 0, 1}),
        far = polynomial({a, -5 * a, 8 * a, -4 * a});
  auto below = [&](double end) {
    return arith::CmpFOp::create(b, e.loc, arith::CmpFPredicate::OLT, d,
                                 e.real(end));
  };
  Value beyond = arith::SelectOp::create(b, e.loc, below(2), far, e.real(0));
  return arith::SelectOp::create(b, e.loc, below(1), near, beyond);
}

/// What element `o` of y takes of element `i` of x. Elements outside of x are
/// those at its ends, or are left out.
static Value weightOf(TensorBuilder &t, Elements &e, const Method &method,
                      const Axis &axis, Value i, Value o) {
  OpBuilder &b = e.b;
  Position at = positionOf(t, e, method, axis, o);
  Value p = e.op<arith::DivFOp>(e.real(at.number), e.real(at.divisor));
  if (method.excludes || method.smooths) {
    Value distance = e.op<arith::SubFOp>(e.real(i), p);
    if (method.smooths) { // a smaller image takes more elements
      Value scale = e.op<arith::DivFOp>(e.real(t.index(axis.down)),
                                        e.real(t.index(axis.up)));
      distance = e.op<arith::MulFOp>(distance,
                                     e.op<arith::MinimumFOp>(scale, e.real(1)));
    }
    return weightAt(e, method, distance);
  }
  Value last = e.op<arith::SubIOp>(t.index(axis.old), e.index(1));
  if (method.mode == "linear") {
    Value inside = e.op<arith::MinimumFOp>(
        e.op<arith::MaximumFOp>(p, e.real(0)), e.real(last));
    return weightAt(e, method, e.op<arith::SubFOp>(e.real(i), inside));
  }
  Value first = rounded(e, "floor", at), sum = e.real(0);
  for (int64_t tap = -1; tap <= 2; ++tap) {
    Value near = e.op<arith::AddIOp>(first, e.index(tap));
    Value weight = weightAt(e, method, e.op<arith::SubFOp>(e.real(near), p));
    Value isHere = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq,
                                         e.clamp(near, last), i);
    sum = e.op<arith::AddFOp>(
        sum, arith::SelectOp::create(b, e.loc, isHere, weight, e.real(0)));
  }
  return sum;
}

/// (old, new)
static Tensor weightsOf(TensorBuilder &t, const Method &method,
                        const Axis &axis, Type element) {
  Tensor all = t.generate({axis.old, axis.now}, t.b.getF64Type(),
                          [&](OpBuilder &b, ValueRange at) {
                            Elements e{b, t.loc};
                            return weightOf(t, e, method, axis, at[0], at[1]);
                          });
  if (method.excludes || method.smooths) {
    Tensor sums = sumOf(t, all, {0});
    all = combine<arith::DivFOp>(t, all, sums);
  }
  return t.cast(all, element);
}

static std::optional<Tensor> weighted(TensorBuilder &t, Tensor x,
                                      const Method &method,
                                      ArrayRef<Axis> axes) {
  for (const Axis &axis : axes) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
    std::swap(order[axis.dim], order.back());
    Tensor weights = weightsOf(t, method, axis, x.element);
    Tensor rows = t.transpose(x, order);
    std::optional<Tensor> y = matmul(t, rows, weights);
    if (!y)
      return std::nullopt;
    x = t.transpose(*y, order);
  }
  return x;
}

// --- the operator ---

static FailureOr<Method> methodOf(Node &node) {
  Method method{node.getString("mode", "nearest"),
                node.getString("coordinate_transformation_mode", "half_pixel"),
                node.getString("nearest_mode", "round_prefer_floor"),
                node.getFloat("cubic_coeff_a", -0.75),
                node.getInt("exclude_outside", 0) != 0,
                node.getInt("antialias", 0) != 0};
  auto expect = [&](StringRef name, StringRef value,
                    ArrayRef<StringRef> known) -> LogicalResult {
    if (llvm::is_contained(known, value))
      return success();
    return node.fail("expects " + name + " " + llvm::join(known, ", ") +
                     ", but got " + value);
  };
  if (failed(expect("mode", method.mode, {"nearest", "linear", "cubic"})) ||
      failed(expect("coordinate_transformation_mode", method.place,
                    {"half_pixel", "pytorch_half_pixel", "asymmetric",
                     "align_corners"})) ||
      failed(expect(
          "nearest_mode", method.rounding,
          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) ||
      failed(expect("keep_aspect_ratio_policy",
                    node.getString("keep_aspect_ratio_policy", "stretch"),
                    {"stretch"})))
    return failure();
  if (method.smooths && !method.excludes)
    return node.fail("expects exclude_outside with antialias");
  return method;
}

static LogicalResult importResize(Node &node) {
  FailureOr<Method> method = methodOf(node);
  if (failed(method))
    return failure();
  FailureOr<SmallVector<Axis>> axes = axesOf(node);
  if (failed(axes))
    return failure();
  Tensor &x = node.input(0);
  if (method->mode == "nearest")
    return node.give(nearest(node.build(), x, *method, *axes));
  if (failed(node.expectFloats(0)))
    return failure();
  std::optional<Tensor> y = weighted(node.build(), x, *method, *axes);
  return y ? node.give(*y) : node.fail("expects sizes that join");
}

ArrayRef<Operator> attn::onnx::resizeOperators() {
  static const Operator all[] = {
      {"", "Resize", importResize, 1, 4, /*since=*/11},
  };
  return all;
}
