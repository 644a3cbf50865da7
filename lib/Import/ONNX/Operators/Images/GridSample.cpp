// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GridSample: an image read at places that a model computes, as deformable
// attention reads its values (operator sets 16, 20; M. Jaderberg and others,
// "Spatial Transformer Networks", 2015).
//   y[n, c, o..] = sum of weight(distance) x[n, c, i..]
// over the elements around the place grid[n, o..], whose last coordinate comes
// first and goes from -1 to 1: from the middle of the first element to that of
// the last with align_corners, else from edge to edge.
#include "OperatorTable.h"
#include "Operators/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// What the attributes say.
struct Sampling {
  std::string mode, padding; ///< As of operator set 20.
  bool alignsCorners;
};

/// An element of one dimension that is read.
struct Tap {
  Value index;
  Value weight; ///< 0 for one that lies outside of an image with zeros around.
};

/// Code for one element of the result.
struct Sample {
  OpBuilder &b;
  Location loc;
  const Sampling &how;
  Type real; ///< What places and sums are computed in.

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(real, value));
  }
  template <typename Op> Value op(Value left, Value right) {
    return Op::create(b, loc, left, right);
  }
  /// `low` instead of NaN.
  Value clamp(Value place, Value low, Value high) {
    Value above =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, place, low);
    place = arith::SelectOp::create(b, loc, above, place, low);
    return op<arith::MinimumFOp>(place, high);
  }
  Value reflected(Value place, Value last);
  Value inside(Value place, Value last);
  Value placeOf(Value coordinate, Value last);
  SmallVector<Tap> tapsOf(Value coordinate, Value size);
  Tap tapAt(Value place, Value weight, Value last);
  Value cubic(Value distance, bool isNear);
};
} // namespace

/// There and back between the ends, where the image is repeated in a mirror.
Value Sample::reflected(Value place, Value last) {
  Value low = number(how.alignsCorners ? 0 : -0.5);
  Value span = op<arith::AddFOp>(last, number(how.alignsCorners ? 0 : 1));
  Value least = number(how.alignsCorners ? 1 : 0); // one element has no span
  Value divisor = op<arith::MaximumFOp>(span, least);
  Value from = math::AbsFOp::create(b, loc, op<arith::SubFOp>(place, low));
  Value times = math::FloorOp::create(b, loc, op<arith::DivFOp>(from, divisor));
  Value rest = op<arith::SubFOp>(from, op<arith::MulFOp>(times, divisor));
  Value half =
      math::FloorOp::create(b, loc, op<arith::MulFOp>(times, number(0.5)));
  Value isEven = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                       op<arith::AddFOp>(half, half), times);
  Value back = arith::SelectOp::create(b, loc, isEven, rest,
                                       op<arith::SubFOp>(span, rest));
  return op<arith::AddFOp>(back, low);
}

/// A place of the image, by what stands around it.
Value Sample::inside(Value place, Value last) {
  if (how.padding == "reflection")
    place = reflected(place, last);
  return clamp(place, number(0), last);
}

/// In elements, from 0 to `last`.
Value Sample::placeOf(Value coordinate, Value last) {
  Value whole = op<arith::AddFOp>(coordinate, number(1));
  if (how.alignsCorners)
    return op<arith::MulFOp>(whole, op<arith::MulFOp>(last, number(0.5)));
  Value size = op<arith::AddFOp>(last, number(1));
  Value twice = op<arith::SubFOp>(op<arith::MulFOp>(whole, size), number(1));
  return op<arith::MulFOp>(twice, number(0.5));
}

/// The element at a whole place, which may lie outside.
Tap Sample::tapAt(Value place, Value weight, Value last) {
  Value within = inside(place, last);
  if (how.padding == "zeros") {
    Value isInside =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, within, place);
    weight = arith::SelectOp::create(b, loc, isInside, weight, number(0));
  }
  Value whole = arith::FPToSIOp::create(b, loc, b.getI64Type(), within);
  return {arith::IndexCastOp::create(b, loc, b.getIndexType(), whole), weight};
}

/// R. Keys, "Cubic Convolution Interpolation for Digital Image Processing",
/// 1981, with a = -3/4: below a distance of 1, and from 1 to 2.
Value Sample::cubic(Value distance, bool isNear) {
  constexpr double a = -0.75;
  const double near[] = {a + 2, -(a + 3), 0, 1},
               far[] = {a, -5 * a, 8 * a, -4 * a};
  Value sum;
  for (double next : isNear ? near : far)
    sum =
        sum ? op<arith::AddFOp>(op<arith::MulFOp>(sum, distance), number(next))
            : number(next);
  return sum;
}

SmallVector<Tap> Sample::tapsOf(Value coordinate, Value size) {
  Value last = arith::SIToFPOp::create(
      b, loc, real, arith::IndexCastOp::create(b, loc, b.getI64Type(), size));
  last = op<arith::SubFOp>(last, number(1));
  Value place = placeOf(coordinate, last);
  if (how.mode != "cubic" && how.padding != "zeros")
    place = inside(place, last);
  // Further out there is nothing else.
  if (how.padding != "reflection")
    place = clamp(place, number(-4), op<arith::AddFOp>(last, number(4)));
  if (how.mode == "nearest") {
    Value near = math::RoundEvenOp::create(b, loc, place);
    return {tapAt(near, number(1), last)};
  }
  Value first = math::FloorOp::create(b, loc, place);
  Value rest = op<arith::SubFOp>(place, first);
  auto tap = [&](double offset, Value weight) {
    return tapAt(op<arith::AddFOp>(first, number(offset)), weight, last);
  };
  Value left = op<arith::SubFOp>(number(1), rest);
  if (how.mode == "linear")
    return {tap(0, left), tap(1, rest)};
  return {tap(-1, cubic(op<arith::AddFOp>(rest, number(1)), false)),
          tap(0, cubic(rest, true)), tap(1, cubic(left, true)),
          tap(2, cubic(op<arith::AddFOp>(left, number(1)), false))};
}

/// The sum over the taps of all dimensions; `place` has the image and the
/// channel.
static Value sumOfTaps(Sample &sample, Value source,
                       ArrayRef<SmallVector<Tap>> taps,
                       SmallVector<Value> place, Value weight) {
  if (taps.empty()) {
    Value element =
        tensor::ExtractOp::create(sample.b, sample.loc, source, place);
    Value none = sample.number(0);
    Value isNone = arith::CmpFOp::create(
        sample.b, sample.loc, arith::CmpFPredicate::OEQ, weight, none);
    // What lies outside is no NaN of the nearest element.
    return arith::SelectOp::create(sample.b, sample.loc, isNone, none,
                                   sample.op<arith::MulFOp>(element, weight));
  }
  Value sum;
  for (const Tap &tap : taps.front()) {
    SmallVector<Value> next = place;
    next.push_back(tap.index);
    Value both =
        weight ? sample.op<arith::MulFOp>(weight, tap.weight) : tap.weight;
    Value part = sumOfTaps(sample, source, taps.drop_front(), next, both);
    sum = sum ? sample.op<arith::AddFOp>(sum, part) : part;
  }
  return sum;
}

static FailureOr<Sampling> samplingOf(Node &node) {
  Sampling how{node.getString("mode", "linear"),
               node.getString("padding_mode", "zeros"),
               node.getInt("align_corners", 0) != 0};
  if (how.mode == "bilinear" || how.mode == "bicubic")
    how.mode = how.mode.substr(2);
  if (!llvm::is_contained({"linear", "nearest", "cubic"}, how.mode))
    return node.fail("expects mode linear, nearest or cubic, but got " +
                     how.mode);
  if (!llvm::is_contained({"zeros", "border", "reflection"}, how.padding))
    return node.fail("expects padding_mode zeros, border or reflection, but "
                     "got " +
                     how.padding);
  return how;
}

static LogicalResult importGridSample(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &given = node.input(0), &grid = node.input(1);
  FailureOr<Sampling> how = samplingOf(node);
  if (failed(how) || failed(node.expectFloats(0)) ||
      failed(node.expectFloats(1)))
    return failure();
  int64_t dims = given.rank() - 2;
  if (dims < 1 || dims > 3 || grid.rank() != given.rank() ||
      !grid.shape.back().is(dims))
    return node.fail("expects an image of 1 to 3 dimensions behind its "
                     "channels, and as many coordinates per place, but got " +
                     describe(given) + " and " + describe(grid));
  if (failed(node.expectEqual(grid.shape[0], given.shape[0],
                              "each image has a grid",
                              "expects as many grids as images, but got " +
                                  describe(given) + " and " + describe(grid))))
    return failure();
  Tensor x = wide(t, given), places = t.cast(grid, x.element);
  Shape shape(x.shape.begin(), x.shape.begin() + 2);
  shape.append(grid.shape.begin() + 1, grid.shape.end() - 1);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  Value source = t.readable(x, axes, shape), coordinates = t.value(places);
  Tensor y = t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    Sample sample{b, t.loc, *how, x.element};
    SmallVector<Value> place{at[0]};
    llvm::append_range(place, at.drop_front(2));
    place.push_back(Value());
    SmallVector<SmallVector<Tap>> taps;
    for (int64_t dim = 0; dim < dims; ++dim) {
      place.back() = arith::ConstantIndexOp::create(b, t.loc, dims - 1 - dim);
      Value coordinate =
          tensor::ExtractOp::create(b, t.loc, coordinates, place);
      taps.push_back(sample.tapsOf(coordinate, t.index(x.shape[dim + 2])));
    }
    return sumOfTaps(sample, source, taps, {at[0], at[1]}, {});
  });
  return node.give(t.cast(y, given.element));
}

ArrayRef<Operator> attn::onnx::gridSampleOperators() {
  static const Operator all[] = {
      {"", "GridSample", importGridSample, 2, 2, /*since=*/16}};
  return all;
}
