// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn::onnx;

//===----------------------------------------------------------------------===//
// Types and sizes
//===----------------------------------------------------------------------===//

RankedTensorType TensorBuilder::type(ArrayRef<Size> shape, Type element) {
  SmallVector<int64_t> dims;
  for (const Size &size : shape)
    dims.push_back(size.constant().value_or(ShapedType::kDynamic));
  return RankedTensorType::get(dims, element);
}

Size TensorBuilder::quotient(const Size &size, int64_t divisor) {
  if (std::optional<Size> found = sizes.quotient(size, divisor))
    return *found;
  return unknown(
      arith::FloorDivSIOp::create(b, loc, index(size), index(divisor)));
}

SmallVector<OpFoldResult> TensorBuilder::folded(ArrayRef<Size> shape) {
  return llvm::map_to_vector(shape,
                             [&](const Size &size) { return folded(size); });
}

std::optional<Shape> attn::onnx::broadcastShape(ArrayRef<Size> a,
                                                ArrayRef<Size> b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    Size left = i < a.size() ? a[a.size() - 1 - i] : Size(1);
    Size right = i < b.size() ? b[b.size() - 1 - i] : Size(1);
    Size &both = shape[shape.size() - 1 - i];
    if (left.is(1) || left == right)
      both = right;
    else if (right.is(1))
      both = left;
    else if (!left.constant() && !right.constant())
      both = right.latest() < left.latest() ? right : left;
    else if (!right.constant())
      both = left;
    else if (!left.constant())
      both = right;
    else
      return std::nullopt;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr TensorBuilder::number(Type element, double value) {
  if (isa<FloatType>(element))
    return b.getFloatAttr(element, value);
  return b.getIntegerAttr(element, static_cast<int64_t>(value));
}

Value TensorBuilder::value(Tensor &t) {
  if (t.value)
    return t.value;
  if (t.constant)
    return t.value = arith::ConstantOp::create(
               b, loc, llvm::cast<TypedAttr>(t.constant));
  SmallVector<Value> elements;
  for (const Size &size : *t.numbers) {
    Value element = arith::IndexCastOp::create(b, loc, t.element, index(size));
    elements.push_back(element);
  }
  return t.value = tensor::FromElementsOp::create(b, loc, type(t), elements);
}

Tensor TensorBuilder::constant(ElementsAttr contents) {
  auto type = llvm::cast<RankedTensorType>(contents.getType());
  Tensor t{type.getElementType(), {}, {}, {}, contents};
  for (int64_t size : type.getShape())
    t.shape.push_back(size);
  if (type.getNumElements() <= mostNumbers)
    if (auto integers = integersOf(contents))
      t.numbers = Shape(integers->begin(), integers->end());
  return t;
}

Tensor TensorBuilder::numbers(ArrayRef<Size> shape, ArrayRef<Size> contents,
                              Type element) {
  SmallVector<APInt> known;
  for (const Size &size : contents)
    if (std::optional<int64_t> constant = size.constant())
      known.emplace_back(element.getIntOrFloatBitWidth(),
                         static_cast<uint64_t>(*constant), /*isSigned=*/true,
                         /*implicitTrunc=*/true);
  Tensor t{element, Shape(shape), {}, Shape(contents), {}};
  if (known.size() == contents.size())
    t.constant = DenseElementsAttr::get(type(t), known);
  return t;
}

Tensor TensorBuilder::splat(ArrayRef<Size> shape, TypedAttr number) {
  Tensor t{number.getType(), Shape(shape), {}, {}, {}};
  RankedTensorType type = this->type(t);
  if (type.hasStaticShape())
    return constant(DenseElementsAttr::get(type, Attribute(number)));
  SmallVector<Value> unknown;
  for (const Size &size : shape)
    if (!size.constant())
      unknown.push_back(index(size));
  Value scalar = arith::ConstantOp::create(b, loc, number);
  t.value = tensor::SplatOp::create(b, loc, type, scalar, unknown);
  return t;
}

Tensor TensorBuilder::splat(ArrayRef<Size> shape, Type element, double value) {
  return splat(shape, number(element, value));
}

Tensor TensorBuilder::made(Value value, ArrayRef<Size> shape) {
  Tensor t{getElementTypeOrSelf(value), Shape(shape), value, {}, {}};
  ElementsAttr contents;
  if (!matchPattern(value, m_Constant(&contents)))
    return t;
  Tensor known = constant(contents);
  known.value = value;
  return known;
}

//===----------------------------------------------------------------------===//
// Views and copies
//===----------------------------------------------------------------------===//

Value TensorBuilder::empty(ArrayRef<Size> shape, Type element) {
  return tensor::EmptyOp::create(b, loc, folded(shape), element);
}

std::optional<Tensor> TensorBuilder::reshaped(Tensor &t, ArrayRef<Size> shape) {
  Tensor result{t.element, Shape(shape), {}, t.numbers, {}, t.counts};
  bool isStatic = type(result).hasStaticShape();
  if (t.constant && isStatic && product(t.shape) == product(shape)) {
    result.constant = attn::onnx::reshaped(t.constant, type(result).getShape());
    if (result.constant)
      return result;
  }
  if (t.numbers)
    return result;
  result.value = reshape(value(t), t.shape, shape);
  return result.value ? std::optional(result) : std::nullopt;
}

Value TensorBuilder::broadcast(Tensor &t, ArrayRef<Size> shape) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(t.constant);
  if (dense && dense.isSplat() && !t.shape.empty() == !shape.empty() &&
      llvm::equal(t.shape, shape))
    return value(t);
  if (dense && dense.isSplat()) {
    Tensor all =
        splat(shape, llvm::cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    return value(all);
  }
  size_t lacking = shape.size() - t.shape.size();
  Shape kept, fixed;
  SmallVector<int64_t> added;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool has = i >= lacking;
    if (!has || (t.shape[i - lacking].is(1) && !shape[i].is(1))) {
      added.push_back(i);
      continue;
    }
    kept.push_back(t.shape[i - lacking]);
    fixed.push_back(shape[i]);
  }
  Value narrow = reshape(value(t), t.shape, kept);
  // Sizes that count as equal are of one type.
  if (type(fixed, t.element) != narrow.getType())
    narrow = tensor::CastOp::create(b, loc, type(fixed, t.element), narrow);
  if (added.empty())
    return narrow;
  return linalg::BroadcastOp::create(b, loc, narrow, empty(shape, t.element),
                                     added)
      ->getResult(0);
}

Tensor TensorBuilder::transpose(Tensor &t, ArrayRef<int64_t> permutation) {
  Shape shape;
  for (int64_t from : permutation)
    shape.push_back(t.shape[from]);
  if (t.constant)
    if (ElementsAttr moved = transposed(t.constant, permutation))
      return constant(moved);
  // Sizes of 1 move without a copy.
  Shape large, largeNext;
  for (int64_t i = 0; i < t.rank(); ++i) {
    if (!t.shape[i].is(1))
      large.push_back(t.shape[i]);
    if (!shape[i].is(1))
      largeNext.push_back(shape[i]);
  }
  SmallVector<int64_t> order;
  for (int64_t from : permutation)
    if (!t.shape[from].is(1))
      order.push_back(from);
  Value result;
  if (llvm::is_sorted(order))
    result = reshape(value(t), t.shape, shape);
  if (!result)
    result = linalg::TransposeOp::create(b, loc, value(t),
                                         empty(shape, t.element), permutation)
                 ->getResult(0);
  return {t.element, shape, result, {}, {}};
}

Tensor TensorBuilder::slice(Tensor &t, int64_t dim, const Size &offset,
                            const Size &size) {
  std::optional<int64_t> from = offset.constant(), count = size.constant();
  if (t.constant && dim == 0 && from && count)
    if (ElementsAttr part = partOf(t.constant, *from, *count))
      return constant(part);
  Shape shape = t.shape;
  shape[dim] = size;
  SmallVector<OpFoldResult> offsets(t.rank(), b.getIndexAttr(0)),
      strides(t.rank(), b.getIndexAttr(1));
  // Of nothing, a slice may not begin behind the end.
  if (!size.is(0))
    offsets[dim] = folded(offset);
  Value part =
      tensor::ExtractSliceOp::create(b, loc, type(shape, t.element), value(t),
                                     offsets, folded(shape), strides);
  return {t.element, shape, part, {}, {}};
}

Value TensorBuilder::readable(Tensor &t, ArrayRef<int64_t> axes,
                              ArrayRef<Size> shape) {
  SmallVector<OpFoldResult> sizes = folded(t.shape);
  Value least;
  for (int64_t axis : axes) {
    if (t.shape[axis].isPositive())
      continue;
    if (!least)
      least =
          b.createOrFold<arith::MinSIOp>(loc, index(product(shape)), index(1));
    sizes[axis] =
        b.createOrFold<arith::MaxSIOp>(loc, index(t.shape[axis]), least);
  }
  Value all = value(t);
  if (!least)
    return all;
  // A slice that does not fit is refused.
  SmallVector<OpFoldResult> offsets(t.rank(), b.getIndexAttr(0)),
      strides(t.rank(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, type(t), all, offsets, sizes,
                                        strides);
}

Tensor TensorBuilder::concat(MutableArrayRef<Tensor> parts, int64_t dim) {
  Shape shape = parts.front().shape;
  shape[dim] = 0;
  SmallVector<Value> values;
  for (Tensor &part : parts) {
    shape[dim] = shape[dim] + part.shape[dim];
    // A known size is known to all.
    for (int64_t i = 0; i < part.rank(); ++i)
      if (i != dim && !shape[i].constant())
        shape[i] = part.shape[i];
  }
  Type element = parts.front().element;
  for (Tensor &part : parts) {
    if (part.shape[dim].is(0) && !shape[dim].is(0))
      continue;
    Shape own = shape;
    own[dim] = part.shape[dim];
    Value input = value(part);
    if (input.getType() != type(own, element))
      input = tensor::CastOp::create(b, loc, type(own, element), input);
    values.push_back(input);
  }
  Value joined =
      parts.size() == 1
          ? values.front()
          : tensor::ConcatOp::create(b, loc, type(shape, element), dim, values);
  return {element, shape, joined, {}, {}};
}

/// arith's conversion of one number or one tensor, of type `to`.
static Value convert(OpBuilder &b, Location loc, Value from, Type to) {
  Type a = getElementTypeOrSelf(from), z = getElementTypeOrSelf(to);
  bool fromFloat = isa<FloatType>(a), toFloat = isa<FloatType>(z);
  unsigned before = a.getIntOrFloatBitWidth(),
           after = z.getIntOrFloatBitWidth();
  if (fromFloat && toFloat && before < after)
    return b.createOrFold<arith::ExtFOp>(loc, to, from);
  if (fromFloat && toFloat && before > after)
    return b.createOrFold<arith::TruncFOp>(loc, to, from);
  if (fromFloat && toFloat) { // f16 and bf16
    auto wide = cast<RankedTensorType>(to).clone(b.getF32Type());
    return convert(b, loc, convert(b, loc, from, wide), to);
  }
  if (z.isInteger(1)) {
    auto zero = llvm::cast<TypedAttr>(b.getZeroAttr(from.getType()));
    Value none = arith::ConstantOp::create(b, loc, zero);
    return fromFloat
               ? b.createOrFold<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE,
                                               from, none)
               : b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                               from, none);
  }
  if (toFloat)
    return before == 1 ? b.createOrFold<arith::UIToFPOp>(loc, to, from)
                       : b.createOrFold<arith::SIToFPOp>(loc, to, from);
  if (fromFloat)
    return b.createOrFold<arith::FPToSIOp>(loc, to, from);
  if (before == 1)
    return b.createOrFold<arith::ExtUIOp>(loc, to, from);
  return before < after ? b.createOrFold<arith::ExtSIOp>(loc, to, from)
                        : b.createOrFold<arith::TruncIOp>(loc, to, from);
}

Tensor TensorBuilder::cast(Tensor &t, Type element) {
  if (t.element == element)
    return t;
  bool isCount =
      !t.isFloat() && !isa<FloatType>(element) && !element.isInteger(1);
  if (t.numbers && isCount)
    return numbers(t.shape, *t.numbers, element);
  if (t.counts && isa<IntegerType>(element) && !element.isInteger(1))
    return numbers(t.shape, *t.counts, element);
  if (element.isInteger(1) && !type(t).hasStaticShape()) {
    // A zero for every element, as constants have static shapes.
    Tensor zero = splat(t.shape, t.element, 0);
    if (t.isFloat())
      return made(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                        value(t), zero.value),
                  t.shape);
    return made(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                      value(t), zero.value),
                t.shape);
  }
  Tensor result =
      made(convert(b, loc, value(t), type(t.shape, element)), t.shape);
  if (isa<FloatType>(element))
    result.counts = t.isFloat() ? t.counts : t.numbers;
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::generate(
    ArrayRef<Size> shape, Type element,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  unsigned rank = shape.size();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value all = linalg::GenericOp::create(
                  b, loc, type(shape, element), ValueRange(),
                  empty(shape, element), b.getMultiDimIdentityMap(rank), loops,
                  [&](OpBuilder &inner, Location at, ValueRange) {
                    SmallVector<Value> indices;
                    for (unsigned i = 0; i < rank; ++i)
                      indices.push_back(linalg::IndexOp::create(inner, at, i));
                    linalg::YieldOp::create(inner, at, body(inner, indices));
                  })
                  .getResult(0);
  return {element, Shape(shape), all, {}, {}};
}

Tensor TensorBuilder::map(
    Tensor &t, llvm::function_ref<Value(OpBuilder &, Value, ValueRange)> body) {
  unsigned rank = t.shape.size();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value all =
      linalg::GenericOp::create(
          b, loc, type(t), value(t), empty(t.shape, t.element), maps, loops,
          [&](OpBuilder &inner, Location at, ValueRange elements) {
            SmallVector<Value> indices;
            for (unsigned i = 0; i < rank; ++i)
              indices.push_back(linalg::IndexOp::create(inner, at, i));
            linalg::YieldOp::create(inner, at,
                                    body(inner, elements[0], indices));
          })
          .getResult(0);
  return {t.element, t.shape, all, {}, {}};
}

Tensor TensorBuilder::reduce(
    Tensor &t, ArrayRef<int64_t> dims, TypedAttr init,
    llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> combine) {
  Shape left, kept = t.shape;
  for (int64_t i = 0; i < t.rank(); ++i)
    if (!llvm::is_contained(dims, i))
      left.push_back(t.shape[i]);
  for (int64_t dim : dims)
    kept[dim] = 1;
  Value start = arith::ConstantOp::create(b, loc, init);
  Value filled = linalg::FillOp::create(b, loc, start, empty(left, t.element))
                     .getResult(0);
  Value reduced = linalg::ReduceOp::create(
                      b, loc, ValueRange(value(t)), ValueRange(filled), dims,
                      [&](OpBuilder &inner, Location at, ValueRange operands) {
                        Value next =
                            combine(inner, at, operands[0], operands[1]);
                        linalg::YieldOp::create(inner, at, next);
                      })
                      ->getResult(0);
  return {t.element, kept, reshape(reduced, left, kept), {}, {}};
}
