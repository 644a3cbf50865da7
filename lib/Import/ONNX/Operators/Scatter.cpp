// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries written at places given by tensors of indices, as caches of keys and
// values are: ScatterND and ScatterElements.
//
// Each entry notes its number at its place, the last if there are several, and
// every place then reads its element from that entry or from what was there:
//   for m: writer[place[m]] = m
//   y[n, d] = writer[n] < 0 ? x[n, d] : update[writer[n], d]
// An index outside is no place: its entry goes nowhere. Of few entries every
// place looks for its own, which is parallel:
//   writer[n] = max over m of (place[m] == n ? m : -1)
//
// Where the indices only count (Counting.h), as in x[:, 3:5] = y, what is
// written is a slice.
#include "Counting.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

static Value i64Of(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

/// As `writersOf`, by parallel loops that take `count` times as long.
static Tensor searchedWriters(TensorBuilder &t, Tensor &places, int64_t axis,
                              const Size &count) {
  int64_t rank = places.rank();
  Shape shape = places.shape;
  shape[axis] = count;
  SmallVector<AffineExpr> from, to;
  for (int64_t i = 0; i < rank; ++i) {
    from.push_back(t.b.getAffineDimExpr(i == axis ? rank : i));
    to.push_back(t.b.getAffineDimExpr(i));
  }
  MLIRContext *context = t.b.getContext();
  AffineMap maps[] = {AffineMap::get(rank + 1, 0, from, context),
                      AffineMap::get(rank + 1, 0, to, context)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  Tensor nobody = t.splat(shape, t.b.getI64IntegerAttr(-1));
  Value found =
      linalg::GenericOp::create(
          t.b, t.loc, t.type(nobody), t.value(places), t.value(nobody), maps,
          loops,
          [&](OpBuilder &b, Location at, ValueRange elements) {
            Value here = i64Of(b, at, linalg::IndexOp::create(b, at, axis)),
                  entry = i64Of(b, at, linalg::IndexOp::create(b, at, rank));
            Value isHere = arith::CmpIOp::create(
                b, at, arith::CmpIPredicate::eq, elements[0], here);
            Value last =
                arith::SelectOp::create(b, at, isHere, entry, elements[1]);
            linalg::YieldOp::create(b, at, last);
          })
          .getResult(0);
  return t.made(found, shape);
}

/// Of at most so many entries along an axis each place looks for its own.
static constexpr int64_t fewEntries = 8;

/// For each of the `count` places along `axis` the last entry of `places`,
/// which holds i64, that goes there; -1: none. One place more, behind them,
/// takes what goes nowhere.
static Tensor writersOf(TensorBuilder &t, Tensor &places, int64_t axis,
                        const Size &count) {
  std::optional<int64_t> entries = places.shape[axis].constant();
  if (entries && *entries <= fewEntries)
    return searchedWriters(t, places, axis, count);
  Value given = t.value(places), limit = t.index(count),
        zero = t.index(Size(0)), one = t.index(Size(1));
  Shape shape = places.shape;
  shape[axis] = count + Size(1);
  Tensor nobody = t.splat(shape, t.b.getI64IntegerAttr(-1));
  SmallVector<Value> begins(places.rank(), zero), ends,
      steps(places.rank(), one);
  for (const Size &size : places.shape)
    ends.push_back(t.index(size));
  auto note = [&](OpBuilder &b, Location loc, ValueRange at,
                  ValueRange writers) -> scf::ValueVector {
    Value place = arith::IndexCastOp::create(
        b, loc, b.getIndexType(), tensor::ExtractOp::create(b, loc, given, at));
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, limit);
    SmallVector<Value> to(at);
    to[axis] = arith::SelectOp::create(b, loc, isInside, place, limit);
    return {tensor::InsertOp::create(b, loc, i64Of(b, loc, at[axis]),
                                     writers.front(), to)};
  };
  scf::LoopNest nest = scf::buildLoopNest(t.b, t.loc, begins, ends, steps,
                                          t.value(nobody), note);
  return t.made(nest.results.front(), shape);
}

/// `index`, of type i64, in an axis of `size` elements; negative ones count
/// from the end.
static Value fromBegin(OpBuilder &b, Location loc, Value index, Value size) {
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, zero);
  Value moved = arith::AddIOp::create(b, loc, index, i64Of(b, loc, size));
  return arith::SelectOp::create(b, loc, isNegative, moved, index);
}

/// The element at `from` of `updates` where `writer` is one, else that at `at`
/// of `old`; dimension `axis` of `from` is the writer.
static Value written(OpBuilder &b, Value writer, Value updates,
                     SmallVector<Value> from, int64_t axis, Value old,
                     ValueRange at) {
  Location loc = writer.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value entry = arith::IndexCastOp::create(b, loc, b.getIndexType(), writer);
  Value isNew =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, entry, zero);
  from[axis] = arith::MaxSIOp::create(b, loc, entry, zero);
  Value fresh = tensor::ExtractOp::create(b, loc, updates, from);
  Value kept = tensor::ExtractOp::create(b, loc, old, at);
  return arith::SelectOp::create(b, loc, isNew, fresh, kept);
}

/// What both operators ask of their inputs.
static LogicalResult checkScatter(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  if (std::string how = node.getString("reduction", "none"); how != "none")
    return node.fail("expects reduction 'none', but got '" + how + "'");
  if (!indices.element.isInteger(32) && !indices.element.isInteger(64))
    return node.fail("expects indices of INT32 or INT64, but got " +
                     describe(indices));
  if (node.input(2).element != x.element)
    return node.fail("expects updates of the type of the input, but got " +
                     describe(node.input(2)) + " for " + describe(x));
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterND
//===----------------------------------------------------------------------===//

/// The rows of `indices` as places among all of the leading dimensions.
static Tensor placesOfRows(TensorBuilder &t, Value rows, const Size &count,
                           ArrayRef<Value> sizes) {
  return t.generate(
      ArrayRef(count), t.b.getI64Type(),
      [&](OpBuilder &b, ValueRange at) -> Value {
        Value none =
                  arith::ConstantOp::create(b, t.loc, b.getI64IntegerAttr(-1)),
              place, isInside;
        for (auto [i, size] : llvm::enumerate(sizes)) {
          Value column = arith::ConstantIndexOp::create(b, t.loc, i);
          Value given = tensor::ExtractOp::create(b, t.loc, rows,
                                                  ValueRange{at[0], column});
          Value index = fromBegin(b, t.loc, given, size),
                room = i64Of(b, t.loc, size);
          Value fits = arith::CmpIOp::create(
              b, t.loc, arith::CmpIPredicate::ult, index, room);
          isInside =
              isInside ? arith::AndIOp::create(b, t.loc, isInside, fits) : fits;
          if (place)
            index = arith::AddIOp::create(
                b, t.loc, arith::MulIOp::create(b, t.loc, place, room), index);
          place = index;
        }
        return arith::SelectOp::create(b, t.loc, isInside, place, none);
      });
}

/// What each column of `indices` holds; none if some hold more than a count.
static std::optional<SmallVector<Counting>>
readColumns(TensorBuilder &t, Tensor &indices, int64_t depth) {
  Value all = t.value(indices);
  int64_t last = indices.rank() - 1;
  SmallVector<Counting> columns;
  auto add = [&](Value column) {
    std::optional<Counting> found = readCounting(column);
    if (found)
      columns.push_back(*found);
    return found.has_value();
  };
  auto joined = all.getDefiningOp<tensor::ConcatOp>();
  if (joined && static_cast<int64_t>(joined.getDim()) == last &&
      static_cast<int64_t>(joined.getInputs().size()) == depth)
    return llvm::all_of(joined.getInputs(), add) ? std::optional(columns)
                                                 : std::nullopt;
  if (depth == 1 && add(all))
    return columns;
  auto contents = dyn_cast_or_null<DenseIntElementsAttr>(indices.constant);
  if (!contents)
    return std::nullopt;
  SmallVector<int64_t> shape(contents.getType().getShape());
  shape[last] = 1;
  auto type = RankedTensorType::get(shape, contents.getElementType());
  auto values = llvm::to_vector(contents.getValues<APInt>());
  for (int64_t i = 0; i < depth; ++i) {
    SmallVector<APInt> own;
    for (size_t j = i; j < values.size(); j += depth)
      own.push_back(values[j]);
    Tensor column = t.constant(DenseElementsAttr::get(type, own));
    if (!add(t.value(column)))
      return std::nullopt;
  }
  return columns;
}

/// `updates` written over the slice of `x` whose places the rows of `indices`
/// are; none where they are no slice.
static std::optional<Tensor> writtenSlice(TensorBuilder &t, Tensor &x,
                                          Tensor &indices, Tensor &updates,
                                          int64_t depth) {
  auto columns = readColumns(t, indices, depth);
  if (!columns)
    return std::nullopt;
  SmallVector<OpFoldResult> offsets(x.rank(), t.b.getIndexAttr(0)),
      strides(x.rank(), t.b.getIndexAttr(1));
  Shape part = x.shape;
  int64_t next = 0; // of the dimensions of the indices
  auto skipUnits = [&](int64_t end) {
    while (next < end && indices.shape[next].is(1))
      ++next;
    return next == end;
  };
  for (auto [i, column] : llvm::enumerate(*columns)) {
    bool counts = column.dim && !indices.shape[*column.dim].is(1);
    if (counts && !skipUnits(*column.dim))
      return std::nullopt;
    part[i] = counts ? indices.shape[next++] : Size(1);
    std::optional<int64_t> end = part[i].constant(),
                           room = x.shape[i].constant();
    bool isWhole = column.first == 0 && part[i] == x.shape[i];
    if (column.first < 0 ||
        !(isWhole || !room || (end && column.first <= *room - *end)))
      return std::nullopt;
    offsets[i] = t.b.getIndexAttr(column.first);
  }
  if (!skipUnits(indices.rank() - 1))
    return std::nullopt;
  Value entries = t.reshape(t.value(updates), updates.shape, part);
  if (!entries || part == x.shape)
    return entries ? std::optional(t.made(entries, part)) : std::nullopt;
  return t.made(tensor::InsertSliceOp::create(t.b, t.loc, entries, t.value(x),
                                              offsets, t.folded(part), strides),
                x.shape);
}

/// Slices, each at a row of indices: one for each of the leading dimensions.
static LogicalResult importScatterND(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1), &updates = node.input(2);
  TensorBuilder &t = node.build();
  if (failed(checkScatter(node)))
    return failure();
  std::optional<int64_t> depth =
      indices.rank() ? indices.shape.back().constant() : std::nullopt;
  if (!depth || *depth < 1 || *depth > x.rank())
    return node.fail(
        "expects rows of indices for leading dimensions, but got " +
        describe(indices) + " for " + describe(x));
  ArrayRef<Size> leading = ArrayRef(x.shape).take_front(*depth),
                 rest = ArrayRef(x.shape).drop_front(*depth);
  Shape outer(indices.shape.begin(), indices.shape.end() - 1);
  Shape wanted = outer, flat{product(outer)};
  llvm::append_range(wanted, rest);
  llvm::append_range(flat, rest);
  Value entries, rows;
  // Sizes of one slice that differ by name alone are the same.
  if (updates.rank() == static_cast<int64_t>(wanted.size()) &&
      broadcastShape(updates.shape, wanted)) {
    if (auto slice = writtenSlice(t, x, indices, updates, *depth))
      return node.give(*slice);
    Tensor wide = t.cast(indices, t.b.getI64Type());
    rows = t.reshape(t.value(wide), wide.shape, Shape{flat[0], *depth});
    entries = t.reshape(t.value(updates), wanted, flat);
  }
  if (!entries || !rows || flat[0].is(0))
    return node.fail("expects an update per row of indices, but got " +
                     describe(updates) + " for " + describe(indices));
  SmallVector<Value> sizes;
  for (const Size &size : leading)
    sizes.push_back(t.index(size));
  Tensor places = placesOfRows(t, rows, flat[0], sizes);
  Value writers = writersOf(t, places, 0, product(leading)).value,
        old = t.value(x);
  return node.give(
      t.generate(x.shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        Value place = at[0];
        for (int64_t i = 1; i < *depth; ++i)
          place = arith::AddIOp::create(
              b, t.loc, arith::MulIOp::create(b, t.loc, place, sizes[i]),
              at[i]);
        Value writer = tensor::ExtractOp::create(b, t.loc, writers, place);
        SmallVector<Value> from{place};
        llvm::append_range(from, at.drop_front(*depth));
        return written(b, writer, entries, from, 0, old, at);
      }));
}

//===----------------------------------------------------------------------===//
// ScatterElements
//===----------------------------------------------------------------------===//

/// Indices that are the same along some dimensions, without these: an index
/// per place of a sequence is not looked for once per feature.
static Tensor withoutRepeats(TensorBuilder &t, Tensor &indices, int64_t axis,
                             SmallVector<int64_t> &dims) {
  auto repeat = t.value(indices).getDefiningOp<linalg::BroadcastOp>();
  if (!repeat || llvm::is_contained(repeat.getDimensions(), axis))
    return indices;
  Tensor result{indices.element, {}, repeat.getInput(), {}, {}};
  llvm::erase_if(dims, [&](int64_t dim) {
    return llvm::is_contained(repeat.getDimensions(), dim);
  });
  for (int64_t dim : dims)
    result.shape.push_back(indices.shape[dim]);
  return result;
}

/// Each element of one axis at an index of its own.
/// Known integers at known places: a shape of which one size changes.
static std::optional<Tensor> scatterNumbers(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1), &updates = node.input(2);
  if (!x.numbers || x.rank() != 1 || !indices.numbers || !updates.numbers ||
      updates.numbers->size() != indices.numbers->size())
    return std::nullopt;
  Shape result = *x.numbers;
  auto count = static_cast<int64_t>(result.size());
  for (auto [index, size] : llvm::zip(*indices.numbers, *updates.numbers)) {
    std::optional<int64_t> at = index.constant();
    if (!at || *at < -count || *at >= count)
      return std::nullopt;
    result[*at < 0 ? *at + count : *at] = size;
  }
  return node.build().numbers(x.shape, result, x.element);
}

static LogicalResult importScatterElements(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1), &updates = node.input(2);
  TensorBuilder &t = node.build();
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), x.rank());
  if (failed(axis) || failed(checkScatter(node)))
    return failure();
  if (std::optional<Tensor> numbers = scatterNumbers(node))
    return node.give(*numbers);
  bool fits = indices.rank() == x.rank() && updates.rank() == x.rank();
  for (int64_t i = 0; fits && i < x.rank(); ++i)
    fits = updates.shape[i] == indices.shape[i] && !updates.shape[i].is(0) &&
           (i == *axis || indices.shape[i] == x.shape[i]);
  if (!fits)
    return node.fail("expects an index per update, and as many as the input "
                     "has beside its axis, but got " +
                     describe(indices) + " and " + describe(updates) + " for " +
                     describe(x));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  Tensor few = withoutRepeats(t, indices, *axis, dims);
  Tensor wide = t.cast(few, t.b.getI64Type());
  Value room = t.index(x.shape[*axis]);
  Tensor places = t.map(wide, [&](OpBuilder &b, Value index, ValueRange) {
    return fromBegin(b, t.loc, index, room);
  });
  int64_t along = llvm::find(dims, *axis) - dims.begin();
  Value writers = writersOf(t, places, along, x.shape[*axis]).value,
        old = t.value(x), entries = t.value(updates);
  return node.give(
      t.generate(x.shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place;
        for (int64_t dim : dims)
          place.push_back(at[dim]);
        Value writer = tensor::ExtractOp::create(b, t.loc, writers, place);
        return written(b, writer, entries, SmallVector<Value>(at), *axis, old,
                       at);
      }));
}

ArrayRef<Operator> attn::onnx::scatterOperators() {
  static const Operator all[] = {
      {"", "ScatterElements", importScatterElements, 3, 3},
      {"", "ScatterND", importScatterND, 3, 3},
  };
  return all;
}
