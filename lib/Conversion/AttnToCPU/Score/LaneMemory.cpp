// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaneMemory.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value LaneMemory::constant(Type element, int64_t start, int64_t stride) {
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    // Integers wrap around.
    auto number = static_cast<int64_t>(static_cast<uint64_t>(start) +
                                       static_cast<uint64_t>(stride) * lane);
    numbers.push_back(
        isa<FloatType>(element)
            ? Attribute(k.builder.getFloatAttr(element, number))
            : Attribute(k.builder.getIntegerAttr(element, number)));
  }
  auto type = VectorType::get(k.lanes, element);
  return arith::ConstantOp::create(k.builder, k.loc,
                                   DenseElementsAttr::get(type, numbers));
}

Value LaneMemory::vectorOf(const Lanes &lanes) {
  if (lanes.vector)
    return lanes.vector;
  Value vector = k.broadcast(lanes.scalar);
  if (lanes.stride == 0)
    return vector;
  return arith::AddIOp::create(
      k.builder, k.loc, vector,
      constant(lanes.scalar.getType(), 0, lanes.stride));
}

Value LaneMemory::size(Value memref, int64_t dim) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size)
             ? memref::DimOp::create(k.builder, k.loc, memref, dim).getResult()
             : k.index(size);
}

Value LaneMemory::clampIndex(Value index, Value size) {
  Value last = k.sub(size, k.index(1)), zero = k.index(0);
  if (isa<VectorType>(index.getType())) {
    last = k.broadcast(last);
    zero = k.broadcast(zero);
  }
  return k.max(k.min(index, last), zero);
}

Values LaneMemory::clampAll(Value memref, ArrayRef<Lanes> at) {
  Values indices;
  for (auto [dim, index] : llvm::enumerate(at))
    indices.push_back(clampIndex(index.scalar, size(memref, dim)));
  return indices;
}

static bool areUniform(ArrayRef<Lanes> at) {
  return llvm::all_of(at, [](const Lanes &i) { return i.isUniform(); });
}

/// Whether lanes read along the last dimension, with this stride.
static bool areNeighbours(ArrayRef<Lanes> at, int64_t stride) {
  return areUniform(at.drop_back()) && !at.back().vector &&
         at.back().stride == stride;
}

Lanes LaneMemory::load(Value memref, ArrayRef<Lanes> at) {
  auto type = cast<MemRefType>(memref.getType());
  if (areUniform(at))
    return {
        memref::LoadOp::create(k.builder, k.loc, memref, clampAll(memref, at))};
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) &&
      !element.isInteger(64))
    return {Value(), 0, loadEach(memref, at)};
  if (areNeighbours(at, 1))
    return {Value(), 0, loadNeighbours(memref, at)};
  return {Value(), 0, gather(memref, at)};
}

Value LaneMemory::allInside(Value first, Value last, Value width) {
  Value begins = k.less(k.index(-1), first), ends = k.less(last, width);
  return arith::AndIOp::create(k.builder, k.loc, begins, ends);
}

Value LaneMemory::allBeside(Value first, Value last, Value width) {
  return arith::OrIOp::create(k.builder, k.loc, k.less(last, k.index(1)),
                              k.less(k.sub(width, k.index(2)), first));
}

/// One load where all lanes read inside of the dimension, or outside on the
/// same side.
Value LaneMemory::loadNeighbours(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(k.lanes, element);
  Value first = at.back().scalar, width = size(memref, at.size() - 1);
  Value last = k.add(first, k.lanes - 1);
  Values indices = clampAll(memref, at.drop_back());
  auto choose = [&](Value condition, function_ref<Value()> then,
                    function_ref<Value()> otherwise) -> Value {
    return scf::IfOp::create(
               b, k.loc, condition,
               [&](OpBuilder &, Location loc) {
                 scf::YieldOp::create(b, loc, then());
               },
               [&](OpBuilder &, Location loc) {
                 scf::YieldOp::create(b, loc, otherwise());
               })
        .getResult(0);
  };
  auto withLast = [&](Value index) {
    Values all = indices;
    all.push_back(index);
    return all;
  };
  if (neighboursAreInside)
    return vector::LoadOp::create(b, k.loc, type, memref, withLast(first));
  return choose(
      allInside(first, last, width),
      [&]() -> Value {
        return vector::LoadOp::create(b, k.loc, type, memref, withLast(first));
      },
      [&] {
        return choose(
            allBeside(first, last, width),
            [&] {
              Value nearest = clampIndex(first, width);
              return k.broadcast(
                  memref::LoadOp::create(b, k.loc, memref, withLast(nearest)));
            },
            [&] { return gather(memref, at); });
      });
}

Value LaneMemory::gather(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto whole = memref::ExtractStridedMetadataOp::create(b, k.loc, memref);
  Value offsets = k.broadcast(k.index(0)), elements = k.index(1);
  for (auto [dim, index] : llvm::enumerate(at)) {
    Value stride = whole.getStrides()[dim], length = size(memref, dim);
    Value inside = clampIndex(vectorOf(index), length);
    Value scaled = arith::MulIOp::create(b, k.loc, inside, k.broadcast(stride));
    offsets = k.add(offsets, scaled);
    Value last = k.sub(length, k.index(1));
    elements = k.add(elements, arith::MulIOp::create(b, k.loc, last, stride));
  }
  auto flatType = MemRefType::get(
      {ShapedType::kDynamic}, element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  Value flat = memref::ReinterpretCastOp::create(
      b, k.loc, flatType, whole.getBaseBuffer(),
      OpFoldResult(whole.getOffset()), {OpFoldResult(elements)},
      {b.getIndexAttr(1)});
  auto type = VectorType::get(k.lanes, element);
  Value all = arith::ConstantOp::create(
      b, k.loc, DenseElementsAttr::get(k.boolVectorType, true));
  Value nothing =
      arith::ConstantOp::create(b, k.loc, type, b.getZeroAttr(type));
  return vector::GatherOp::create(b, k.loc, type, flat, k.index(0), offsets,
                                  all, nothing);
}

/// For elements that no vector instruction loads (booleans, halves).
Value LaneMemory::loadEach(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(k.lanes, element);
  Value result = arith::ConstantOp::create(b, k.loc, type, b.getZeroAttr(type));
  Values vectors;
  for (auto [dim, index] : llvm::enumerate(at))
    vectors.push_back(clampIndex(vectorOf(index), size(memref, dim)));
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    Values indices;
    for (Value vector : vectors)
      indices.push_back(vector::ExtractOp::create(b, k.loc, vector, lane));
    Value one = memref::LoadOp::create(b, k.loc, memref, indices);
    result = vector::InsertOp::create(b, k.loc, one, result,
                                      ArrayRef<int64_t>{lane});
  }
  return result;
}

// --- sums ---

/// Of all lanes, by halves.
static Value sumOfLanes(KernelBuilder &k, Value vector) {
  for (int64_t half = k.lanes / 2; half >= 1; half /= 2) {
    auto part = [&](int64_t first) -> Value {
      return vector::ExtractStridedSliceOp::create(
          k.builder, k.loc, vector, ArrayRef<int64_t>{first},
          ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    };
    vector = k.addf(part(0), part(half));
  }
  return vector::ExtractOp::create(k.builder, k.loc, vector,
                                   ArrayRef<int64_t>{0});
}

void LaneMemory::addNumber(Value number, Value memref, ValueRange at) {
  Value old = memref::LoadOp::create(k.builder, k.loc, memref, at);
  memref::StoreOp::create(k.builder, k.loc, k.addf(old, number), memref, at);
}

void LaneMemory::add(Value vector, Value memref, ArrayRef<Lanes> at) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Lanes> places(at);
  for (auto [dim, place] : llvm::enumerate(places))
    if (type.getDimSize(dim) == 1)
      place = {k.index(0)};
  if (areUniform(places))
    return addNumber(sumOfLanes(k, vector), memref, clampAll(memref, places));
  if (areNeighbours(places, 1))
    return addNeighbours(vector, memref, places);
  if (!areNeighbours(places, -1))
    return addEach(vector, memref, places);
  SmallVector<int64_t> backwards;
  for (int64_t lane = k.lanes - 1; lane >= 0; --lane)
    backwards.push_back(lane);
  places.back() = {k.sub(places.back().scalar, k.index(k.lanes - 1)), 1};
  Value turned =
      vector::ShuffleOp::create(k.builder, k.loc, vector, vector, backwards);
  addNeighbours(turned, memref, places);
}

/// One load and store where all lanes are inside of the dimension, and one
/// number where all are outside on the same side.
void LaneMemory::addNeighbours(Value vector, Value memref, ArrayRef<Lanes> at) {
  Value first = at.back().scalar, width = size(memref, at.size() - 1);
  Value last = k.add(first, k.lanes - 1);
  auto withLast = [&](Value index) {
    Values all = clampAll(memref, at.drop_back());
    all.push_back(index);
    return all;
  };
  auto addInside = [&] {
    Values indices = withLast(first);
    Value old = vector::LoadOp::create(k.builder, k.loc, vector.getType(),
                                       memref, indices);
    vector::StoreOp::create(k.builder, k.loc, k.addf(old, vector), memref,
                            indices);
  };
  if (neighboursAreInside)
    return addInside();
  k.choose(allInside(first, last, width), addInside, [&] {
    k.choose(
        allBeside(first, last, width),
        [&] {
          addNumber(sumOfLanes(k, vector), memref,
                    withLast(clampIndex(first, width)));
        },
        [&] { addEach(vector, memref, at); });
  });
}

void LaneMemory::addEach(Value vector, Value memref, ArrayRef<Lanes> at) {
  Values indices;
  for (auto [dim, index] : llvm::enumerate(at))
    indices.push_back(clampIndex(
        index.isUniform() ? index.scalar : vectorOf(index), size(memref, dim)));
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    auto ofLane = [&](Value value) -> Value {
      return isa<VectorType>(value.getType())
                 ? vector::ExtractOp::create(k.builder, k.loc, value, lane)
                       .getResult()
                 : value;
    };
    Values place;
    for (Value index : indices)
      place.push_back(ofLane(index));
    addNumber(ofLane(vector), memref, place);
  }
}
