// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries written at places given by tensors of indices, as caches of keys and
// values are: ScatterND and ScatterElements.
//
// Every place looks for the entry that is written there, the last if there are
// several, and its element is then read from the entries or from what was
// there:
//   writer[n] = max over m of (place[m] == n ? m : -1)
//   y[n, d] = writer[n] < 0 ? x[n, d] : update[writer[n], d]
// So loops are parallel, and no order of writes is needed. An index outside is
// no place: its entry goes nowhere.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

static Value i64Of(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

/// For each of the `count` places along `axis` the last entry of `places`,
/// which holds i64, that goes there; -1: none.
static Tensor writersOf(TensorBuilder &t, Tensor &places, int64_t axis,
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
static LogicalResult importScatterElements(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1), &updates = node.input(2);
  TensorBuilder &t = node.build();
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), x.rank());
  if (failed(axis) || failed(checkScatter(node)))
    return failure();
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
