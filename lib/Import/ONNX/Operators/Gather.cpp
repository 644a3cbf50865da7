// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that read or write at places given by tensors of indices.
//
// Indices outside take the nearest place: ONNX gives them no meaning, and a
// kernel reads nothing that is not its own.
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn::onnx;

/// The index at `at` of `indices` as a place of an axis of `size` elements;
/// negative ones count from the end.
static Value placeAt(OpBuilder &b, Location loc, Value indices, ValueRange at,
                     Value size) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  Value given = tensor::ExtractOp::create(b, loc, indices, at);
  Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), given);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, zero);
  Value fromEnd = arith::AddIOp::create(b, loc, index, size);
  Value moved = arith::SelectOp::create(b, loc, isNegative, fromEnd, index);
  Value last = arith::SubIOp::create(b, loc, size, one);
  Value below = arith::MinSIOp::create(b, loc, moved, last);
  return arith::MaxSIOp::create(b, loc, below, zero);
}

static LogicalResult expectIndices(Node &node, unsigned i) {
  Tensor &indices = node.input(i);
  if (indices.element.isInteger(32) || indices.element.isInteger(64))
    return success();
  return node.fail("expects indices of INT32 or INT64, but got " +
                   describe(indices));
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// Known integers of known places.
static std::optional<Tensor> gatherNumbers(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  if (!x.numbers || x.rank() != 1 || !indices.numbers)
    return std::nullopt;
  Shape result;
  auto count = static_cast<int64_t>(x.numbers->size());
  for (const Size &index : *indices.numbers) {
    std::optional<int64_t> at = index.constant();
    if (!at || *at < -count || *at >= count)
      return std::nullopt;
    result.push_back((*x.numbers)[*at < 0 ? *at + count : *at]);
  }
  return node.build().numbers(indices.shape, result, x.element);
}

/// One place of an axis: a slice.
static std::optional<Tensor> gatherOne(Node &node, int64_t axis) {
  Tensor &x = node.input(0), &indices = node.input(1);
  if (!indices.numbers || indices.numbers->size() != 1)
    return std::nullopt;
  std::optional<int64_t> at = indices.numbers->front().constant(),
                         all = x.shape[axis].constant();
  if (!at || !all || *at < -*all || *at >= *all)
    return std::nullopt;
  TensorBuilder &t = node.build();
  Tensor one = t.slice(x, axis, *at < 0 ? *at + *all : *at, 1);
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  llvm::append_range(shape, indices.shape);
  shape.append(x.shape.begin() + axis + 1, x.shape.end());
  return t.reshaped(one, shape);
}

/// Rows by index.
static LogicalResult importGather(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), x.rank());
  if (failed(axis) || failed(expectIndices(node, 1)))
    return failure();
  if (std::optional<Tensor> known = gatherNumbers(node))
    return node.give(*known);
  if (std::optional<Tensor> one = gatherOne(node, *axis))
    return node.give(*one);
  if (x.shape[*axis].is(0))
    return node.fail("expects an axis with elements, but got " + describe(x));
  TensorBuilder &t = node.build();
  Shape shape(x.shape.begin(), x.shape.begin() + *axis);
  llvm::append_range(shape, indices.shape);
  shape.append(x.shape.begin() + *axis + 1, x.shape.end());
  Value source = t.readable(x, *axis, shape), places = t.value(indices),
        size = t.index(x.shape[*axis]);
  unsigned width = indices.shape.size();
  return node.give(
      t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place(at.take_front(*axis));
        place.push_back(
            placeAt(b, t.loc, places, at.slice(*axis, width), size));
        llvm::append_range(place, at.drop_front(*axis + width));
        return tensor::ExtractOp::create(b, t.loc, source, place);
      }));
}

/// Each element of one axis by an index of its own.
static LogicalResult importGatherElements(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", 0), x.rank());
  if (failed(axis) || failed(expectIndices(node, 1)))
    return failure();
  bool fits = indices.rank() == x.rank() && !x.shape[*axis].is(0);
  for (int64_t i = 0; fits && i < x.rank(); ++i) {
    const Size &own = indices.shape[i], &all = x.shape[i];
    bool known = own.constant() && all.constant();
    if (i == *axis || own == all)
      continue;
    // Exporters give the sizes of each input names of their own.
    if (!known)
      if (std::string assumed = node.shared().assumeEqual(own, all);
          !assumed.empty()) {
        node.remark("SizesAssumed", "each index has an element only where " +
                                        assumed + "; other calls are refused");
        return failure(); // the node is to be imported once more
      }
    fits = known && *own.constant() <= *all.constant();
  }
  if (!fits)
    return node.fail("expects an index per element that fits the input, but "
                     "got " +
                     describe(indices) + " for " + describe(x));
  TensorBuilder &t = node.build();
  Value source = t.readable(x, *axis, indices.shape), places = t.value(indices),
        size = t.index(x.shape[*axis]);
  return node.give(t.generate(
      indices.shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place(at);
        place[*axis] = placeAt(b, t.loc, places, at, size);
        return tensor::ExtractOp::create(b, t.loc, source, place);
      }));
}

/// Slices by rows of indices, one index for each of their leading dimensions.
static LogicalResult importGatherND(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  int64_t batch = node.getInt("batch_dims", 0);
  std::optional<int64_t> depth =
      indices.rank() ? indices.shape.back().constant() : std::nullopt;
  if (failed(expectIndices(node, 1)))
    return failure();
  if (!depth || batch < 0 || *depth < 1 || batch >= indices.rank() ||
      batch + *depth > x.rank())
    return node.fail(
        "expects rows of indices for leading dimensions, but got " +
        describe(indices) + " for " + describe(x));
  for (int64_t i = batch; i < batch + *depth; ++i)
    if (x.shape[i].is(0))
      return node.fail("expects an axis with elements, but got " + describe(x));
  TensorBuilder &t = node.build();
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.append(x.shape.begin() + batch + *depth, x.shape.end());
  auto axes = llvm::to_vector(llvm::seq<int64_t>(batch, batch + *depth));
  Value source = t.readable(x, axes, shape), places = t.value(indices);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < *depth; ++i)
    sizes.push_back(t.index(x.shape[batch + i]));
  unsigned width = indices.shape.size() - 1;
  return node.give(
      t.generate(shape, x.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> place(at.take_front(batch)),
            row(at.take_front(width));
        for (auto [i, size] : llvm::enumerate(sizes)) {
          row.push_back(arith::ConstantIndexOp::create(b, t.loc, i));
          place.push_back(placeAt(b, t.loc, places, row, size));
          row.pop_back();
        }
        llvm::append_range(place, at.drop_front(width));
        return tensor::ExtractOp::create(b, t.loc, source, place);
      }));
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

/// A cache with new entries in it, from a place per sequence on; with mode
/// circular, behind the last place comes the first.
static LogicalResult importTensorScatter(Node &node) {
  Tensor &cache = node.input(0), &update = node.input(1);
  TensorBuilder &t = node.build();
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", -2), cache.rank());
  if (failed(axis))
    return failure();
  std::string mode = node.getString("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return node.fail("expects mode 'linear' or 'circular'");
  bool fits = cache.rank() == update.rank() && *axis > 0 &&
              cache.element == update.element;
  for (int64_t i = 0; fits && i < cache.rank(); ++i)
    fits = i == *axis || !cache.shape[i].constant() ||
           !update.shape[i].constant() || cache.shape[i] == update.shape[i];
  if (!fits || cache.shape[*axis].is(0) || update.shape[*axis].is(0))
    return node.fail("expects new entries that fit the cache, but got " +
                     describe(update) + " for " + describe(cache));
  Tensor *begins = node.optionalInput(2);
  if (begins && (begins->rank() != 1 || !begins->element.isInteger(64)))
    return node.fail("expects a place of INT64 per sequence, but got " +
                     describe(*begins));
  Value old = t.value(cache), recent = t.value(update),
        count = t.index(update.shape[*axis]),
        room = t.index(cache.shape[*axis]),
        places = begins ? t.value(*begins) : Value();
  bool wraps = mode == "circular";
  return node.give(t.generate(
      cache.shape, cache.element, [&](OpBuilder &b, ValueRange at) -> Value {
        Value zero = arith::ConstantIndexOp::create(b, t.loc, 0),
              one = arith::ConstantIndexOp::create(b, t.loc, 1);
        Value place = at[*axis];
        if (places) {
          Value given = tensor::ExtractOp::create(b, t.loc, places, at[0]);
          Value begin =
              arith::IndexCastOp::create(b, t.loc, b.getIndexType(), given);
          place = arith::SubIOp::create(b, t.loc, place, begin);
        }
        if (wraps) {
          Value around = arith::AddIOp::create(b, t.loc, place, room);
          Value isBefore = arith::CmpIOp::create(
              b, t.loc, arith::CmpIPredicate::slt, place, zero);
          place = arith::SelectOp::create(b, t.loc, isBefore, around, place);
        }
        Value isNew = arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::ult,
                                            place, count);
        // Outside of the new entries one of them is read and not taken.
        Value last = arith::SubIOp::create(b, t.loc, count, one);
        Value below = arith::MinSIOp::create(b, t.loc, place, last);
        SmallVector<Value> from(at);
        from[*axis] = arith::MaxSIOp::create(b, t.loc, below, zero);
        Value fresh = tensor::ExtractOp::create(b, t.loc, recent, from);
        Value kept = tensor::ExtractOp::create(b, t.loc, old, at);
        return arith::SelectOp::create(b, t.loc, isNew, fresh, kept);
      }));
}

/// values[1] at each index along a new axis, values[0] elsewhere, and
/// everywhere for an index outside of [-depth, depth).
/// One number, at one of known places: how often each dimension is repeated.
static std::optional<Tensor> oneHotNumbers(Node &node, const Size &depth,
                                           int64_t axis) {
  Tensor &indices = node.input(0), &values = node.input(2);
  std::optional<int64_t> size = depth.constant();
  if (!size || *size < 0 || *size > mostNumbers || !indices.numbers ||
      indices.numbers->size() != 1 || !values.numbers)
    return std::nullopt;
  std::optional<int64_t> at = indices.numbers->front().constant();
  if (!at)
    return std::nullopt;
  Shape shape(indices.shape), numbers(*size, (*values.numbers)[0]);
  shape.insert(shape.begin() + axis, depth);
  if (*at >= -*size && *at < *size)
    numbers[*at < 0 ? *at + *size : *at] = (*values.numbers)[1];
  return node.build().numbers(shape, numbers, values.element);
}

static LogicalResult importOneHot(Node &node) {
  enum { Indices, Depth, Values };
  Tensor &indices = node.input(Indices), &values = node.input(Values);
  FailureOr<int64_t> axis =
      node.axis(node.getInt("axis", -1), indices.rank() + 1);
  FailureOr<Shape> depth = node.numbers(Depth);
  if (failed(axis) || failed(depth) || failed(expectIndices(node, Indices)))
    return failure();
  if (depth->size() != 1 || values.rank() != 1 || !values.shape[0].is(2))
    return node.fail("expects one depth and two values, but got " +
                     describe(node.input(Depth)) + " and " + describe(values));
  if (auto known = oneHotNumbers(node, depth->front(), *axis))
    return node.give(*known);
  TensorBuilder &t = node.build();
  Shape shape(indices.shape);
  shape.insert(shape.begin() + *axis, depth->front());
  Value places = t.value(indices), table = t.value(values),
        size = t.index(depth->front());
  return node.give(t.generate(
      shape, values.element, [&](OpBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> others(at.take_front(*axis));
        llvm::append_range(others, at.drop_front(*axis + 1));
        Value given = tensor::ExtractOp::create(b, t.loc, places, others);
        Value index =
            arith::IndexCastOp::create(b, t.loc, b.getIndexType(), given);
        Value fromEnd = arith::SubIOp::create(b, t.loc, at[*axis], size);
        auto is = [&](Value place) {
          return arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::eq,
                                       index, place);
        };
        Value isOn = arith::OrIOp::create(b, t.loc, is(at[*axis]), is(fromEnd));
        auto value = [&](int64_t i) {
          Value place = arith::ConstantIndexOp::create(b, t.loc, i);
          return tensor::ExtractOp::create(b, t.loc, table, place);
        };
        return arith::SelectOp::create(b, t.loc, isOn, value(1), value(0));
      }));
}

ArrayRef<Operator> attn::onnx::gatherOperators() {
  static const Operator all[] = {
      {"", "Gather", importGather, 2, 2},
      {"", "GatherElements", importGatherElements, 2, 2},
      {"", "GatherND", importGatherND, 2, 2, /*since=*/12},
      {"", "OneHot", importOneHot, 3, 3, /*since=*/9},
      {"", "TensorScatter", importTensorScatter, 2, 3, /*since=*/24},
  };
  return all;
}
