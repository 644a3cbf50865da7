// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that take tensors apart and put them together.
//
// Of shape arithmetic they make shape arithmetic: integers that follow from
// sizes stay known.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
struct Cut {
  Size begin = 0, size;
  int64_t step = 1;
};
} // namespace

/// A place that counts from the end where it is negative, within 0 and `size`.
/// Sizes of the inputs stay what they are: a table of 64 rows that is cut to
/// the length of a sequence has as many, and longer ones are refused in a call.
/// So is a tensor without elements that leaves out its first or last one.
static Size clamp(TensorBuilder &t, const Size &place, const Size &size) {
  constexpr int64_t far = int64_t(1) << 31;
  std::optional<int64_t> at = place.constant(), all = size.constant();
  if (place.is(0) || place == size || place == size - Size(1))
    return place;
  if (!at && place.isSum() && (all || t.sizes.isAtMost(place, size)))
    return place;
  // From the middle of a table backwards, and from its end.
  if (!at && all && place.fixed() > 0)
    return place;
  if (Size back = Size(0) - place;
      !at && back.isSum() && (all || t.sizes.isAtMost(back, size)))
    return size + place;
  if (at && (*at >= far || *at <= -far))
    return *at > 0 ? size : Size(0);
  if (at && all)
    return Size(std::clamp<int64_t>(*at < 0 ? *at + *all : *at, 0, *all));
  // All but one of the keys and a sink are the keys.
  if (Size fromBegin = size + place;
      at && (*at == -1 || (*at < 0 && fromBegin.isSum())))
    return fromBegin;
  if (place.is(1))
    return place;
  Value value = t.index(place), end = t.index(size), zero = t.index(0);
  if (t.sizes.isOfTensor(place))
    return t.unknown(arith::MinSIOp::create(t.b, t.loc, value, end));
  Value fromEnd = arith::AddIOp::create(t.b, t.loc, value, end);
  Value isNegative =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, value, zero);
  Value moved =
      at ? (*at < 0 ? fromEnd : value)
         : arith::SelectOp::create(t.b, t.loc, isNegative, fromEnd, value)
               .getResult();
  Value low = arith::MaxSIOp::create(t.b, t.loc, moved, zero);
  return t.unknown(arith::MinSIOp::create(t.b, t.loc, low, end));
}

/// Elements of `size` from `begin` to `end` by a step above 0.
static Cut forwards(TensorBuilder &t, const Size &begin, const Size &end,
                    int64_t step, const Size &size) {
  Cut cut{clamp(t, begin, size), {}, step};
  Size last = clamp(t, end, size), length = last - cut.begin;
  std::optional<int64_t> known = length.constant();
  if (known) {
    cut.size = Size(std::max<int64_t>((*known + step - 1) / step, 0));
    return cut;
  }
  if (cut.begin.is(0) || size.constant() || t.sizes.isAtMost(cut.begin, last) ||
      (cut.begin.is(1) && (last == size || last == size - Size(1)))) {
    cut.size = t.quotient(length + Size(step - 1), step);
    return cut;
  }
  Value rounded = t.index(length + Size(step - 1));
  Value most = arith::MaxSIOp::create(t.b, t.loc, rounded, t.index(0));
  cut.size = t.unknown(arith::DivSIOp::create(t.b, t.loc, most, t.index(step)));
  return cut;
}

/// The same for a cut backwards: within -1, which is in front of the first
/// element, and the last one.
static Size clampBackwards(TensorBuilder &t, const Size &place,
                           const Size &size) {
  constexpr int64_t far = INT32_MAX; // what PyTorch counts from
  std::optional<int64_t> at = place.constant(), all = size.constant();
  if (at && all)
    return Size(std::clamp<int64_t>(*at < 0 ? *at + *all : *at, -1, *all - 1));
  if (at && *at <= -far)
    return Size(-1);
  if ((at && (*at == -1 || *at >= far)) || place == size ||
      place == size - Size(1))
    return size - Size(1);
  Value value = t.index(place), last = t.index(size - Size(1)),
        zero = t.index(0);
  Value fromEnd = arith::AddIOp::create(t.b, t.loc, value, t.index(size));
  Value isNegative =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt, value, zero);
  Value moved = arith::SelectOp::create(t.b, t.loc, isNegative, fromEnd, value);
  Value low = arith::MaxSIOp::create(t.b, t.loc, moved, t.index(-1));
  return t.unknown(arith::MinSIOp::create(t.b, t.loc, low, last));
}

/// Elements of `size` from `begin` back to `end` by a step below 0.
static Cut backwards(TensorBuilder &t, const Size &begin, const Size &end,
                     int64_t step, const Size &size) {
  Cut cut{clampBackwards(t, begin, size), {}, step};
  Size length = cut.begin - clampBackwards(t, end, size);
  if (std::optional<int64_t> known = length.constant())
    cut.size = Size(std::max<int64_t>((*known - step - 1) / -step, 0));
  else if (length.isSum())
    cut.size = t.quotient(length + Size(-step - 1), -step);
  else {
    Value rounded = t.index(length + Size(-step - 1));
    Value most = arith::MaxSIOp::create(t.b, t.loc, rounded, t.index(0));
    cut.size =
        t.unknown(arith::DivSIOp::create(t.b, t.loc, most, t.index(-step)));
  }
  return cut;
}

/// The cut of each dimension.
static FailureOr<SmallVector<Cut>> cutsOf(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<Cut> cuts;
  for (const Size &size : x.shape)
    cuts.push_back({0, size, 1});
  FailureOr<Shape> begins = node.numbers(1), ends = node.numbers(2);
  if (failed(begins) || failed(ends))
    return failure();
  SmallVector<int64_t> axes, steps(begins->size(), 1);
  for (size_t i = 0; i < begins->size(); ++i)
    axes.push_back(i);
  for (auto [i, list] : {std::pair(3u, &axes), std::pair(4u, &steps)})
    if (node.hasInput(i)) {
      auto given = node.integers(i);
      if (failed(given))
        return failure();
      *list = *given;
    }
  if (ends->size() != begins->size() || axes.size() != begins->size() ||
      steps.size() != begins->size())
    return node.fail("expects starts, ends, axes and steps of one length");
  for (size_t i = 0; i < axes.size(); ++i) {
    FailureOr<int64_t> axis = node.axis(axes[i], x.rank());
    if (failed(axis))
      return failure();
    if (steps[i] == 0 || std::abs(steps[i]) > INT32_MAX)
      return node.fail("expects steps other than 0 of at most 2^31");
    auto cut = steps[i] > 0 ? forwards : backwards;
    cuts[*axis] =
        cut(node.build(), (*begins)[i], (*ends)[i], steps[i], x.shape[*axis]);
  }
  return cuts;
}

/// The place in `x` of element `place` of a tensor of `shape`, by `from` per
/// dimension.
static size_t linearPlace(const Tensor &x, ArrayRef<int64_t> indices) {
  size_t at = 0;
  for (auto [size, index] : llvm::zip(x.shape, indices))
    at = at * *size.constant() + index;
  return at;
}

/// Numbers of a cut, row by row.
static Shape cutNumbers(const Tensor &x, ArrayRef<Cut> cuts) {
  Shape result;
  Size count = 1;
  for (const Cut &cut : cuts)
    count = count * cut.size;
  for (int64_t i = 0; i < *count.constant(); ++i) {
    SmallVector<int64_t> indices(cuts.size());
    int64_t rest = i;
    for (size_t dim = cuts.size(); dim-- > 0;) {
      int64_t size = *cuts[dim].size.constant();
      indices[dim] = *cuts[dim].begin.constant() + rest % size * cuts[dim].step;
      rest /= size;
    }
    result.push_back((*x.numbers)[linearPlace(x, indices)]);
  }
  return result;
}

/// With a negative step, element by element.
static Tensor gatherCut(TensorBuilder &t, Tensor &x, ArrayRef<Cut> cuts,
                        ArrayRef<Size> shape) {
  Value source = t.value(x);
  SmallVector<Value> begins;
  for (const Cut &cut : cuts)
    begins.push_back(t.index(cut.begin));
  return t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) {
    SmallVector<Value> place;
    for (auto [i, cut] : llvm::enumerate(cuts)) {
      Value step = arith::ConstantIndexOp::create(b, t.loc, cut.step);
      Value moved = arith::MulIOp::create(b, t.loc, at[i], step);
      place.push_back(arith::AddIOp::create(b, t.loc, begins[i], moved));
    }
    return tensor::ExtractOp::create(b, t.loc, source, place).getResult();
  });
}

static LogicalResult importSlice(Node &node) {
  Tensor &x = node.input(0);
  TensorBuilder &t = node.build();
  auto cuts = cutsOf(node);
  if (failed(cuts))
    return failure();
  Shape shape;
  bool isBackwards = false;
  for (const Cut &cut : *cuts) {
    shape.push_back(cut.size);
    isBackwards |= cut.step < 0;
  }
  if (x.numbers && product(shape).constant())
    return node.give(t.numbers(shape, cutNumbers(x, *cuts), x.element));
  if (isBackwards)
    return node.give(gatherCut(t, x, *cuts, shape));
  SmallVector<OpFoldResult> offsets, strides;
  for (const Cut &cut : *cuts) {
    offsets.push_back(t.folded(cut.size.is(0) ? Size(0) : cut.begin));
    strides.push_back(t.b.getIndexAttr(cut.step));
  }
  Value part = tensor::ExtractSliceOp::create(
      t.b, t.loc, t.type(shape, x.element), t.value(x), offsets,
      t.folded(shape), strides);
  return node.give({x.element, shape, part, {}, {}});
}

//===----------------------------------------------------------------------===//
// Split, Concat
//===----------------------------------------------------------------------===//

static FailureOr<Shape> splitSizes(Node &node, const Size &all) {
  if (node.hasInput(1))
    return node.numbers(1);
  if (auto given = node.getInts("split"))
    return Shape(given->begin(), given->end());
  int64_t parts = node.getInt("num_outputs", node.outputs());
  std::optional<int64_t> known = all.constant();
  if (parts < 1 || parts != static_cast<int64_t>(node.outputs()))
    return node.fail("expects as many outputs as num_outputs says");
  if (std::optional<Size> each = all.dividedBy(parts))
    return Shape(parts, *each);
  if (!known)
    return node.fail("expects an axis whose size is a multiple of the number "
                     "of outputs for all sizes");
  // The last part is smaller.
  int64_t each = (*known + parts - 1) / parts;
  Shape sizes(parts, Size(each));
  sizes.back() = Size(*known - each * (parts - 1));
  return sizes;
}

static LogicalResult importSplit(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), x.rank());
  if (failed(axis))
    return failure();
  FailureOr<Shape> sizes = splitSizes(node, x.shape[*axis]);
  if (failed(sizes))
    return failure();
  Size sum = 0;
  for (const Size &size : *sizes) {
    if (size.constant().value_or(0) < 0)
      return node.fail("expects parts of at least 0");
    sum = sum + size;
  }
  if (sizes->size() != node.outputs() || sum != x.shape[*axis])
    return node.fail("expects one part per output, which together are the "
                     "axis, of " +
                     describe(x));
  TensorBuilder &t = node.build();
  Size begin = 0;
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    if (x.numbers && x.rank() == 1) {
      ArrayRef<Size> all = *x.numbers;
      node.setOutput(
          i, t.numbers(size, all.slice(*begin.constant(), *size.constant()),
                       x.element));
    } else {
      node.setOutput(i, t.slice(x, *axis, begin, size));
    }
    begin = begin + size;
  }
  return success();
}

/// Few constants in one row, such as pads that were computed as floats; null
/// where there are others among them.
static ElementsAttr joinedConstants(ArrayRef<Tensor> parts) {
  SmallVector<Attribute> all;
  for (const Tensor &part : parts) {
    auto contents = dyn_cast_or_null<DenseElementsAttr>(part.constant);
    if (!contents || part.rank() != 1 ||
        contents.getNumElements() > mostNumbers)
      return {};
    llvm::append_range(all, contents.getValues<Attribute>());
  }
  if (static_cast<int64_t>(all.size()) > mostNumbers)
    return {};
  return DenseElementsAttr::get(
      RankedTensorType::get(all.size(), parts.front().element), all);
}

static LogicalResult importConcat(Node &node) {
  std::vector<Tensor> parts;
  Shape numbers;
  bool known = true;
  int64_t rank = node.input(0).rank();
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), rank);
  if (failed(axis))
    return failure();
  for (unsigned i = 0; i < node.inputs(); ++i) {
    if (!node.hasInput(i))
      return node.fail("expects inputs that are there");
    Tensor &x = node.input(i);
    bool fits = x.rank() == rank && x.element == node.input(0).element;
    for (int64_t dim = 0; fits && dim < rank; ++dim) {
      const Size &own = x.shape[dim], &first = node.input(0).shape[dim];
      fits =
          dim == *axis || !own.constant() || !first.constant() || own == first;
    }
    if (!fits)
      return node.fail(
          "expects inputs that differ in their axis only, but got " +
          describe(node.input(0)) + " and " + describe(x));
    known &= x.numbers && rank == 1;
    if (known)
      llvm::append_range(numbers, *x.numbers);
    parts.push_back(x);
  }
  TensorBuilder &t = node.build();
  if (known && static_cast<int64_t>(numbers.size()) <= mostNumbers)
    return node.give(t.numbers(Size(static_cast<int64_t>(numbers.size())),
                               numbers, parts.front().element));
  if (ElementsAttr joined = joinedConstants(parts))
    return node.give(t.constant(joined));
  return node.give(t.concat(parts, *axis));
}

ArrayRef<Operator> attn::onnx::sliceOperators() {
  static const Operator all[] = {
      {"", "Slice", importSlice, 3, 5},
      {"", "Split", importSplit, 1, 2},
      {"", "Concat", importConcat, 1, anyNumber},
  };
  return all;
}
