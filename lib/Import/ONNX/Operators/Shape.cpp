// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that ask for sizes, or give the same elements other ones.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn::onnx;

/// The node is to be imported once more.
static LogicalResult remarkAssumed(Node &node, const std::string &assumed) {
  node.remark("SizesAssumed", "the shape has as many elements as the input "
                              "only where " +
                                  assumed + "; other calls are refused");
  return failure();
}

/// `t` with a size that `shape` calls otherwise, such as min(t, 64) for t: ops
/// that join it with others compare them when the kernel runs, as for sizes
/// that broadcast.
static std::optional<Tensor> renamed(Tensor t, ArrayRef<Size> shape) {
  for (Size &size : t.shape) {
    Size old = std::exchange(size, 1);
    auto same = product(shape).dividedBy(product(t.shape));
    size = old;
    if (!same || *same == old || same->constant() || old.constant())
      continue;
    size = *same;
    return t;
  }
  return std::nullopt;
}

/// What makes the first sizes that differ equal: exporters give the sizes of
/// each input names of their own. One may be several of the other shape, as
/// batch entries and heads. Empty if that is nothing to assume.
static std::string assumePlaces(Node &node, ArrayRef<Size> from,
                                ArrayRef<Size> to) {
  while (!from.empty() && !to.empty() && from.front() == to.front()) {
    from = from.drop_front();
    to = to.drop_front();
  }
  for (size_t left = 1; left <= from.size(); ++left)
    for (size_t right = 1; right <= (left == 1 ? to.size() : 1); ++right) {
      Size a = product(from.take_front(left)),
           b = product(to.take_front(right));
      if (a.constant() || b.constant())
        continue;
      if (std::string assumed = node.shared().assumeEqual(a, b);
          !assumed.empty())
        return assumed;
    }
  return {};
}

/// What makes the first or the last size a number that stands in its place, as
/// in a model that was traced with one length. Empty if that is none.
static std::string assumeEnds(Node &node, ArrayRef<Size> from,
                              ArrayRef<Size> to) {
  if (from.empty() || to.empty())
    return {};
  for (auto [size, number] :
       {std::pair(from.front(), to.front()), std::pair(from.back(), to.back())})
    if (!size.constant() && number.constant().value_or(0) > 1)
      if (std::string assumed = node.shared().assumeEqual(size, number);
          !assumed.empty())
        return assumed;
  return {};
}

/// `t` as `shape`, as the node's output.
static LogicalResult giveReshaped(Node &node, Tensor &t, ArrayRef<Size> shape) {
  std::optional<Tensor> result = node.build().reshaped(t, shape);
  if (result)
    return node.give(*result);
  std::string assumed =
      node.shared().assumeEqual(product(t.shape), product(shape));
  if (!assumed.empty())
    return remarkAssumed(node, assumed);
  if (std::optional<Tensor> same = renamed(t, shape))
    if ((result = node.build().reshaped(*same, shape)))
      return node.give(*result);
  if (assumed = assumePlaces(node, t.shape, shape); !assumed.empty())
    return remarkAssumed(node, assumed);
  return node.fail("expects a shape of as many elements as the input has, for "
                   "all sizes, but got " +
                   describe(t) + " and " +
                   describe({t.element, Shape(shape), {}, {}, {}}));
}

static LogicalResult importShape(Node &node) {
  Tensor &x = node.input(0);
  int64_t rank = x.rank();
  auto place = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t begin = place(node.getInt("start", 0)),
          end = place(node.getInt("end", rank));
  Shape sizes;
  for (int64_t i = begin; i < end; ++i) {
    sizes.push_back(x.shape[i]);
    if (!x.shape[i].isSum() && !node.build().sizes.isOfTensor(x.shape[i]))
      node.build().sizes.noteSize(x.shape[i]);
  }
  return node.give(
      node.build().numbers(Size(static_cast<int64_t>(sizes.size())), sizes,
                           node.build().b.getI64Type()));
}

static LogicalResult importSize(Node &node) {
  return node.give(node.build().numbers({}, product(node.input(0).shape),
                                        node.build().b.getI64Type()));
}

/// The size in the place `unknown` of `shape`, whose other ones have `others`
/// elements.
static FailureOr<Size> inferred(Node &node, const Size &others,
                                ArrayRef<Size> shape, size_t unknown) {
  Tensor &x = node.input(0);
  Size all = product(x.shape);
  if (others.is(0))
    return node.fail("expects no -1 in a shape with a size of 0");
  if (std::optional<Size> exact = all.dividedBy(others))
    return *exact;
  if (std::string assumed = node.shared().assumeMultiple(all, others);
      !assumed.empty())
    return remarkAssumed(node, assumed);
  if (std::string assumed =
          assumePlaces(node, x.shape, shape.take_front(unknown));
      !assumed.empty())
    return remarkAssumed(node, assumed);
  if (auto same = all.sameFor(others))
    if (std::string assumed =
            node.shared().assumeEqual(same->first, same->second);
        !assumed.empty())
      return remarkAssumed(node, assumed);
  if (std::string assumed = assumeEnds(node, x.shape, shape); !assumed.empty())
    return remarkAssumed(node, assumed);
  return node.fail("expects a shape whose -1 follows from the sizes of the "
                   "inputs, but got " +
                   describe(x) +
                   ", whose elements the other sizes need not divide");
}

static LogicalResult importReshape(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<Shape> wanted = node.numbers(1);
  if (failed(wanted))
    return failure();
  bool zeroCopies = node.getInt("allowzero", 0) == 0;
  Size others = 1;
  std::optional<size_t> unknown;
  for (auto [i, size] : llvm::enumerate(*wanted)) {
    if (size.is(0) && zeroCopies) {
      if (static_cast<int64_t>(i) >= x.rank())
        return node.fail("expects a 0 in a shape only where the input has a "
                         "dimension");
      size = x.shape[i];
    }
    if (size.is(-1)) {
      if (unknown)
        return node.fail("expects at most one -1 in a shape");
      unknown = i;
      continue;
    }
    others = others * size;
  }
  if (unknown) {
    FailureOr<Size> size = inferred(node, others, *wanted, *unknown);
    if (failed(size))
      return failure();
    (*wanted)[*unknown] = *size;
  }
  return giveReshaped(node, x, *wanted);
}

/// Axes that differ.
static FailureOr<SmallVector<int64_t>> axesOf(Node &node, int64_t rank) {
  auto axes = node.axes(1, rank);
  if (failed(axes))
    return failure();
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end())
    return node.fail("expects axes that differ");
  return axes;
}

static LogicalResult importSqueeze(Node &node) {
  Tensor &x = node.input(0);
  auto axes = axesOf(node, x.rank());
  if (failed(axes))
    return failure();
  bool all = !node.hasInput(1) && !node.find("axes");
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    bool drop = all ? x.shape[i].is(1) : llvm::is_contained(*axes, i);
    if (drop && x.shape[i].constant().value_or(1) != 1)
      return node.fail("expects sizes of 1 at its axes, but got " +
                       describe(x));
    if (!drop)
      shape.push_back(x.shape[i]);
  }
  return giveReshaped(node, x, shape);
}

static LogicalResult importUnsqueeze(Node &node) {
  Tensor &x = node.input(0);
  size_t count =
      node.hasInput(1)
          ? node.input(1).numbers ? node.input(1).numbers->size() : 0
          : node.getInts("axes").value_or(SmallVector<int64_t>()).size();
  auto axes = axesOf(node, x.rank() + static_cast<int64_t>(count));
  if (failed(axes))
    return failure();
  Shape shape;
  auto next = x.shape.begin();
  for (int64_t i = 0; i < x.rank() + static_cast<int64_t>(count); ++i)
    shape.push_back(llvm::is_contained(*axes, i) ? Size(1) : *next++);
  return giveReshaped(node, x, shape);
}

static LogicalResult importFlatten(Node &node) {
  Tensor &x = node.input(0);
  int64_t axis = node.getInt("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return node.fail("expects an axis of the input");
  axis = axis < 0 ? axis + x.rank() : axis;
  ArrayRef<Size> shape = x.shape;
  return giveReshaped(
      node, x,
      {product(shape.take_front(axis)), product(shape.drop_front(axis))});
}

static LogicalResult importExpand(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<Shape> wanted = node.numbers(1);
  if (failed(wanted))
    return failure();
  std::optional<Shape> shape = broadcastShape(x.shape, *wanted);
  if (!shape)
    return node.fail("expects an input that broadcasts to the shape, but got " +
                     describe(x) + " and " +
                     describe({x.element, *wanted, {}, {}, {}}));
  if (ArrayRef(x.shape).equals(*shape))
    return node.give(x);
  if (x.numbers && x.numbers->size() == 1 && product(*shape).constant() &&
      *product(*shape).constant() <= mostNumbers) {
    Shape repeated(*product(*shape).constant(), x.numbers->front());
    return node.give(node.build().numbers(*shape, repeated, x.element));
  }
  Value all = node.build().broadcast(x, *shape);
  return node.give(node.build().made(all, *shape));
}

/// Integers that follow from sizes, such as pairs of widths to pad by.
static Tensor transposedNumbers(Node &node, const Tensor &x,
                                ArrayRef<int64_t> order) {
  Shape shape, numbers;
  SmallVector<size_t> strides(x.rank(), 1);
  for (int64_t i = x.rank(); i-- > 1;)
    strides[i - 1] = strides[i] * *x.shape[i].constant();
  for (int64_t dim : order)
    shape.push_back(x.shape[dim]);
  for (size_t place = 0; place < x.numbers->size(); ++place) {
    size_t rest = place, at = 0;
    for (int64_t i = x.rank(); i-- > 0;) {
      size_t size = *shape[i].constant();
      at += rest % size * strides[order[i]];
      rest /= size;
    }
    numbers.push_back((*x.numbers)[at]);
  }
  return node.build().numbers(shape, numbers, x.element);
}

static LogicalResult importTranspose(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, x.rank())));
  if (auto given = node.getInts("perm"))
    order = *given;
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, x.rank())))
    return node.fail("expects a permutation of the input's dimensions, but got "
                     "another for " +
                     describe(x));
  if (x.numbers && !x.constant)
    return node.give(transposedNumbers(node, x, order));
  return node.give(node.build().transpose(x, order));
}

/// What lies on one side of a diagonal; 0 on the other.
static LogicalResult importTrilu(Node &node) {
  Tensor &x = node.input(0);
  if (x.rank() < 2)
    return node.fail("expects matrices, but got " + describe(x));
  Size diagonal = 0;
  if (node.hasInput(1)) {
    FailureOr<Shape> given = node.numbers(1);
    if (failed(given) || given->size() != 1)
      return failure();
    diagonal = given->front();
  }
  TensorBuilder &t = node.build();
  bool upper = node.getInt("upper", 1) != 0;
  Value shift = t.index(diagonal);
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.number(x.element, 0));
  return node.give(
      t.map(x, [&](OpBuilder &b, Value element, ValueRange at) -> Value {
        Value row = at[at.size() - 2], column = at.back();
        Value edge = arith::AddIOp::create(b, t.loc, row, shift);
        Value stays = arith::CmpIOp::create(b, t.loc,
                                            upper ? arith::CmpIPredicate::sge
                                                  : arith::CmpIPredicate::sle,
                                            column, edge);
        return arith::SelectOp::create(b, t.loc, stays, element, zero);
      }));
}

/// Repeats along each dimension: [n] by 3 is [3, n] of the same n, in one.
static LogicalResult importTile(Node &node) {
  Tensor &x = node.input(0);
  TensorBuilder &t = node.build();
  FailureOr<Shape> repeats = node.numbers(1);
  if (failed(repeats))
    return failure();
  if (static_cast<int64_t>(repeats->size()) != x.rank())
    return node.fail("expects a number of repeats per dimension of " +
                     describe(x));
  Shape apart, all, shape;
  for (auto [size, count] : llvm::zip(x.shape, *repeats)) {
    if (count.constant().value_or(0) < 0)
      return node.fail("expects repeats of at least 0");
    shape.push_back(size * count);
    if (!count.is(1))
      apart.push_back(1), all.push_back(count);
    apart.push_back(size), all.push_back(size);
  }
  if (x.numbers && x.rank() == 1 &&
      shape[0].constant().value_or(INT64_MAX) <= mostNumbers) {
    Shape repeated;
    for (int64_t i = 0; i < *repeats->front().constant(); ++i)
      llvm::append_range(repeated, *x.numbers);
    return node.give(t.numbers(shape, repeated, x.element));
  }
  std::optional<Tensor> parts = t.reshaped(x, apart);
  if (!parts)
    return node.fail("expects repeats that follow from sizes of " +
                     describe(x));
  Tensor repeated{x.element, all, t.broadcast(*parts, all), {}, {}};
  return giveReshaped(node, repeated, shape);
}

ArrayRef<Operator> attn::onnx::shapeOperators() {
  static const Operator all[] = {
      {"", "Shape", importShape, 1, 1},
      {"", "Size", importSize, 1, 1},
      {"", "Reshape", importReshape, 2, 2},
      {"", "Squeeze", importSqueeze, 1, 2},
      {"", "Unsqueeze", importUnsqueeze, 1, 2},
      {"", "Flatten", importFlatten, 1, 1},
      {"", "Expand", importExpand, 2, 2},
      {"", "Transpose", importTranspose, 1, 1},
      {"", "Tile", importTile, 2, 2},
      {"", "Trilu", importTrilu, 1, 2},
  };
  return all;
}
