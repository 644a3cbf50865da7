// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelBuilder.h"
#include "attn/Conversion/VectorToCPU/Products.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

KernelBuilder::KernelBuilder(OpBuilder &builder, Location loc,
                             CPUScheduleAttr schedule, Type element)
    : builder(builder), loc(loc), schedule(schedule),
      lanes(schedule.getLanes()), vectors(schedule.getVectors()),
      rows(schedule.getRows()), queryBlock(schedule.getQueryBlock()),
      element(cast<FloatType>(element)),
      vectorType(VectorType::get(lanes, element)),
      intVectorType(VectorType::get(lanes, builder.getI32Type())),
      boolVectorType(VectorType::get(lanes, builder.getI1Type())) {}

KernelBuilder KernelBuilder::withLanes(int64_t count) const {
  KernelBuilder other = *this;
  other.lanes = other.queryBlock = count;
  other.vectors = 1;
  other.vectorType = VectorType::get(count, element);
  other.intVectorType = VectorType::get(count, builder.getI32Type());
  other.boolVectorType = VectorType::get(count, builder.getI1Type());
  return other;
}

KernelBuilder KernelBuilder::narrower() const {
  KernelBuilder other = *this;
  other.vectors = vectors - 1;
  other.queryBlock = other.vectors * lanes;
  return other;
}

// --- scalars ---
Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value KernelBuilder::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b,
                               arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::sub(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b,
                               arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::mul(Value a, int64_t b) {
  return arith::MulIOp::create(builder, loc, a, index(b),
                               arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::div(Value a, int64_t b) {
  return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, index(b));
}
Value KernelBuilder::min(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}
Value KernelBuilder::max(Value a, Value b) {
  return arith::MaxSIOp::create(builder, loc, a, b);
}
Value KernelBuilder::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

// --- vectors ---

Value KernelBuilder::splat(double value) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(vectorType, builder.getFloatAttr(element, value)));
}
Value KernelBuilder::lowest() {
  APFloat value = APFloat::getLargest(element.getFloatSemantics(), true);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(vectorType, value));
}
Value KernelBuilder::infinity(bool negative) {
  double infinite = std::numeric_limits<double>::infinity();
  return splat(negative ? -infinite : infinite);
}
Value KernelBuilder::broadcast(Value scalar) {
  auto type = VectorType::get(lanes, scalar.getType());
  return vector::BroadcastOp::create(builder, loc, type, scalar);
}
VectorType KernelBuilder::storedVector(Value memref) {
  return VectorType::get(lanes, getElementTypeOrSelf(memref));
}
Value KernelBuilder::widen(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  if (!type || type == element)
    return value;
  Type wide = isa<VectorType>(value.getType()) ? Type(vectorType) : element;
  return arith::ExtFOp::create(builder, loc, wide, value);
}
Value KernelBuilder::toElement(Value value, Type element) {
  if (element == getElementTypeOrSelf(value))
    return value;
  auto type = VectorType::get(lanes, element);
  return arith::TruncFOp::create(builder, loc, type, value);
}
Value KernelBuilder::narrow(Value value, Value memref) {
  return toElement(value, getElementTypeOrSelf(memref));
}
/// A matrix of one column may have lost its stride, and any is right.
static Value withUnitStride(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.isLastDimUnitStride())
    return memref;
  auto [strides, offset] = type.getStridesAndOffset();
  strides.back() = 1;
  auto unit = StridedLayoutAttr::get(type.getContext(), offset, strides);
  type = MemRefType::Builder(type).setLayout(unit);
  return memref::CastOp::create(b, loc, type, memref);
}
Value KernelBuilder::load(Value memref, Value row, Value column) {
  return widen(loadStored(memref, row, column, Value()));
}
Value KernelBuilder::loadStored(Value memref, Value row, Value column,
                                Value mask) {
  VectorType type = storedVector(memref);
  Values at{row, column};
  if (!mask)
    return vector::LoadOp::create(builder, loc, type,
                                  withUnitStride(builder, loc, memref), at);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(
      builder, loc, type, withUnitStride(builder, loc, memref), at, mask, zero);
}
void KernelBuilder::store(Value vector, Value memref, Value row, Value column) {
  memref = withUnitStride(builder, loc, memref);
  vector::StoreOp::create(builder, loc, narrow(vector, memref), memref,
                          ValueRange{row, column});
}
Value KernelBuilder::loadBroadcast(Value memref, Value row, Value column) {
  return broadcast(widen(
      memref::LoadOp::create(builder, loc, memref, ValueRange{row, column})));
}
Value KernelBuilder::repeat(Value few) {
  int64_t count = cast<VectorType>(few.getType()).getNumElements();
  if (count == lanes)
    return few;
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; ++lane)
    mask.push_back(lane % count);
  return vector::ShuffleOp::create(builder, loc, few, few, mask);
}
// Repeated before they are widened: a load does that.
Value KernelBuilder::loadRepeated(Value memref, Value row, Value column,
                                  int64_t count) {
  VectorType type = withLanes(count).storedVector(memref);
  return widen(repeat(vector::LoadOp::create(builder, loc, type, memref,
                                             ValueRange{row, column})));
}
Value KernelBuilder::addf(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value KernelBuilder::subf(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value KernelBuilder::mulf(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value KernelBuilder::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(builder, loc, a, b, c);
}
Value KernelBuilder::maxf(Value a, Value b) {
  Value greater =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
  return select(greater, a, b);
}
Value KernelBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value KernelBuilder::product(Value a, Value b, Value acc) {
  if (cast<VectorType>(acc.getType()).getRank() > 1)
    return tileProduct(builder, loc, a, b, acc);
  return schedule.usesDot() ? pairProduct(builder, loc, a, b, acc)
                            : fma(a, b, acc);
}

Values KernelBuilder::exp2(ArrayRef<Value> xs, bool rough) {
  auto flags = rough ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
  return llvm::map_to_vector(xs, [&](Value x) -> Value {
    return math::Exp2Op::create(builder, loc, x, flags);
  });
}

// Two stages of unpacks transpose the 4 x 4 blocks in place; then blocks change
// places over the remaining bits of row and lane. Each shuffle is one x86
// instruction.
Values KernelBuilder::transpose(Values rows) {
  auto shuffle = [&](Value a, Value b, function_ref<int64_t(int64_t)> from) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(from(lane));
    return vector::ShuffleOp::create(builder, loc, a, b, mask).getResult();
  };
  if (lanes == 2)
    return {
        shuffle(rows[0], rows[1], [](int64_t lane) { return 2 * lane; }),
        shuffle(rows[0], rows[1], [](int64_t lane) { return 2 * lane + 1; })};
  Values pairs(lanes), next(lanes);
  for (int64_t i = 0; i < lanes; i += 2)
    for (int64_t high = 0; high < 2; ++high)
      pairs[i + high] = shuffle(rows[i], rows[i + 1], [&](int64_t lane) {
        return lane / 4 * 4 + 2 * high + lane % 4 / 2 + lanes * (lane % 2);
      });
  for (int64_t i = 0; i < lanes; i += 4)
    for (int64_t part = 0; part < 4; ++part)
      next[i + part] = shuffle(pairs[i + part / 2], pairs[i + 2 + part / 2],
                               [&](int64_t lane) {
                                 return lane / 4 * 4 + 2 * (part % 2) +
                                        lane % 2 + lanes * (lane % 4 / 2);
                               });
  for (int64_t width = 4; width < lanes; width *= 2) {
    rows = next;
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & width)
        continue;
      next[i] = shuffle(rows[i], rows[i + width], [&](int64_t lane) {
        return lane & width ? lanes + lane - width : lane;
      });
      next[i + width] = shuffle(rows[i], rows[i + width], [&](int64_t lane) {
        return lane & width ? lanes + lane : lane + width;
      });
    }
  }
  return next;
}

// --- control ---

Values KernelBuilder::loop(Value lo, Value hi, int64_t step, ValueRange init,
                           function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(
      builder, loc, lo, hi, index(step), init,
      [&](OpBuilder &, Location, Value i, ValueRange carried) {
        // `builder` is the builder that the callback gets.
        scf::YieldOp::create(builder, loc, body(i, carried));
      });
  return Values(op.getResults());
}
void KernelBuilder::loop(Value lo, Value hi, int64_t step,
                         function_ref<void(Value)> body) {
  loop(lo, hi, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}
void KernelBuilder::when(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
}
void KernelBuilder::choose(Value condition, function_ref<void()> then,
                           function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  then();
  builder.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

// --- register tiles ---

Values cpu::flatten(ArrayRef<Values> tile) {
  Values flat;
  for (const Values &row : tile)
    llvm::append_range(flat, row);
  return flat;
}
RegisterTile cpu::unflatten(ArrayRef<Value> flat, size_t vectors) {
  RegisterTile tile;
  for (size_t i = 0; i < flat.size(); i += vectors)
    tile.emplace_back(flat.slice(i, vectors));
  return tile;
}

/// One step: the smaller side is held in registers.
void KernelBuilder::multiplyStep(Value k, RegisterTile &tile,
                                 function_ref<Value(int64_t, Value)> scalar,
                                 function_ref<Value(Value, int64_t)> vector) {
  size_t count = tile.front().size();
  Values held;
  if (tile.size() <= count) { // hold the scalars, stream the vectors
    for (size_t r = 0; r < tile.size(); ++r)
      held.push_back(scalar(r, k));
    for (size_t v = 0; v < count; ++v) {
      Value streamed = vector(k, v);
      for (size_t r = 0; r < tile.size(); ++r)
        tile[r][v] = product(held[r], streamed, tile[r][v]);
    }
    return;
  }
  for (size_t v = 0; v < count; ++v)
    held.push_back(vector(k, v));
  for (size_t r = 0; r < tile.size(); ++r) {
    Value streamed = scalar(r, k);
    for (size_t v = 0; v < count; ++v)
      tile[r][v] = product(streamed, held[v], tile[r][v]);
  }
}

RegisterTile
KernelBuilder::multiplySteps(Value lo, Value hi, int64_t unroll,
                             const RegisterTile &acc,
                             function_ref<Value(int64_t, Value)> scalar,
                             function_ref<Value(Value, int64_t)> vector) {
  size_t count = acc.front().size();
  Values result =
      loop(lo, hi, unroll, flatten(acc), [&](Value k, ValueRange carried) {
        RegisterTile tile = unflatten(Values(carried), count);
        for (int64_t u = 0; u < unroll; ++u)
          multiplyStep(add(k, u), tile, scalar, vector);
        return flatten(tile);
      });
  return unflatten(result, count);
}

RegisterTile
KernelBuilder::multiply(Value lo, Value hi, RegisterTile acc,
                        function_ref<Value(int64_t, Value)> scalar,
                        function_ref<Value(Value, int64_t)> vector) {
  int64_t unroll = schedule.getUnroll();
  if (unroll == 1)
    return multiplySteps(lo, hi, 1, acc, scalar, vector);
  std::optional<int64_t> first = getConstantIntValue(lo),
                         last = getConstantIntValue(hi);
  if (first && last && (*last - *first) % unroll == 0)
    return multiplySteps(lo, hi, unroll, acc, scalar, vector);
  Value middle = add(lo, mul(div(sub(hi, lo), unroll), unroll));
  acc = multiplySteps(lo, middle, unroll, acc, scalar, vector);
  if (unroll > 2)
    return multiplySteps(middle, hi, 1, acc, scalar, vector);
  // One step at most: without a loop it needs no register for a bound.
  size_t vectorsPerRow = acc.front().size();
  auto rest = scf::IfOp::create(
      builder, loc, less(middle, hi),
      [&](OpBuilder &, Location) {
        RegisterTile next = acc;
        multiplyStep(middle, next, scalar, vector);
        scf::YieldOp::create(builder, loc, flatten(next));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, flatten(acc));
      });
  return unflatten(Values(rest.getResults()), vectorsPerRow);
}

// --- rows of row-major data ---

void KernelBuilder::prefetchTurn(Value matrix, Value first, Value turn,
                                 int64_t rows, int64_t turns, bool isWrite) {
  int64_t locality = schedule.getPrefetch();
  auto type = cast<MemRefType>(matrix.getType());
  if (!locality || type.isDynamicDim(1))
    return;
  int64_t columns = 64 * 8 / type.getElementTypeBitWidth();
  int64_t perRow = (type.getDimSize(1) + columns - 1) / columns;
  int64_t needed = (rows * perRow + turns - 1) / turns;
  int64_t whole = (needed + perRow - 1) / perRow;
  // The turns that share a row, or else each turn has whole rows.
  int64_t parts = whole > 1 ? 1 : perRow / needed;
  int64_t perTurn = (perRow + parts - 1) / parts;
  Value row = parts > 1 ? div(turn, parts) : mul(turn, whole);
  Value column =
      parts > 1 ? mul(sub(turn, mul(row, parts)), perTurn * columns) : index(0);
  row = add(first, row);
  for (int64_t r = 0; r < whole; ++r)
    for (int64_t i = 0; i < perTurn; ++i)
      memref::PrefetchOp::create(
          builder, loc, matrix,
          ValueRange{add(row, r), add(column, i * columns)}, isWrite, locality,
          /*isDataCache=*/true);
}

void KernelBuilder::columnGroups(Value width,
                                 function_ref<void(Value, Value)> body) {
  auto whole = [&] {
    Value last = sub(width, index(lanes));
    loop(index(0), width, lanes, [&](Value c) { body(min(c, last), Value()); });
  };
  auto narrow = [&] {
    Value mask = vector::CreateMaskOp::create(builder, loc, boolVectorType,
                                              ValueRange{width});
    body(index(0), mask);
  };
  if (std::optional<int64_t> known = getConstantIntValue(width)) {
    if (*known >= lanes)
      whole();
    else if (*known > 0)
      narrow();
    return;
  }
  Value enough = less(index(lanes - 1), width);
  choose(enough, whole, narrow);
}

int64_t KernelBuilder::columnOf(int64_t i, int64_t dim) const {
  return dim < lanes ? 0 : std::min(i * lanes, dim - lanes);
}

Value KernelBuilder::columnMask(int64_t dim) {
  if (dim >= lanes)
    return Value();
  return vector::CreateMaskOp::create(builder, loc, boolVectorType,
                                      ValueRange{index(dim)});
}

void KernelBuilder::columnVectors(int64_t dim, int64_t atOnce,
                                  function_ref<void(ArrayRef<Value>)> body) {
  int64_t width = atOnce * lanes, looped = dim / width * width;
  loop(index(0), index(looped), width, [&](Value first) {
    SmallVector<Value> columns;
    for (int64_t i = 0; i < atOnce; ++i)
      columns.push_back(add(first, i * lanes));
    body(columns);
  });
  SmallVector<Value> rest;
  for (int64_t i = looped / lanes; i * lanes < dim; ++i)
    rest.push_back(index(columnOf(i, dim)));
  if (!rest.empty())
    body(rest);
}

Value KernelBuilder::loadRow(Value memref, Value row, Value column,
                             Value mask) {
  return widen(loadStored(memref, row, column, mask));
}
void KernelBuilder::storeRow(Value vector, Value memref, Value row,
                             Value column, Value mask) {
  if (!mask)
    return store(vector, memref, row, column);
  memref = withUnitStride(builder, loc, memref);
  vector::MaskedStoreOp::create(builder, loc, memref, ValueRange{row, column},
                                mask, narrow(vector, memref));
}
