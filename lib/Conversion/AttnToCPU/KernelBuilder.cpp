// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

KernelBuilder::KernelBuilder(OpBuilder &builder, Location loc,
                             ScheduleAttr schedule)
    : builder(builder), loc(loc), schedule(schedule),
      lanes(schedule.getLanes()), vectors(schedule.getVectors()),
      rows(schedule.getRows()), panel(schedule.getPanel()),
      vectorType(VectorType::get(lanes, builder.getF32Type())),
      intVectorType(VectorType::get(lanes, builder.getI32Type())),
      boolVectorType(VectorType::get(lanes, builder.getI1Type())) {}

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
      DenseElementsAttr::get(vectorType, static_cast<float>(value)));
}
Value KernelBuilder::broadcast(Value scalar) {
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(lanes, scalar.getType()), scalar);
}
Value KernelBuilder::load(Value memref, Value row, Value column) {
  return vector::LoadOp::create(builder, loc, vectorType, memref,
                                ValueRange{row, column});
}
void KernelBuilder::store(Value vector, Value memref, Value row, Value column) {
  vector::StoreOp::create(builder, loc, vector, memref,
                          ValueRange{row, column});
}
Value KernelBuilder::loadBroadcast(Value memref, Value row, Value column) {
  return broadcast(
      memref::LoadOp::create(builder, loc, memref, ValueRange{row, column}));
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

// 2^x = 2^k * 2^f with k = round(x) and f in [-1/2, 1/2]. Adding a large number
// leaves k + 127 in the low bits, which shifted by 23 are the float 2^k; below
// -126.5 they are the float 0. The polynomial is a minimax fit (Remez).
Values KernelBuilder::exp2(ArrayRef<Value> inputs) {
  static constexpr double coefficients[] = {1.0,
                                            0.6931471824645996,
                                            0.24022646248340607,
                                            0.05550328642129898,
                                            0.009618489071726799,
                                            0.0013399930903688073,
                                            0.0001534581242594868};
  static constexpr double magic = 12582912.0 + 127; // 1.5 * 2^23
  auto each = [](ArrayRef<Value> xs, auto f) {
    return llvm::map_to_vector(xs, f);
  };
  Value lowest = splat(-127), magicVector = splat(magic);
  Values xs = each(inputs, [&](Value x) { return maxf(lowest, x); });
  Values shifted = each(xs, [&](Value x) { return addf(x, magicVector); });
  Values fractions;
  for (auto [x, t] : llvm::zip(xs, shifted))
    fractions.push_back(subf(x, subf(t, magicVector)));
  Values powers = each(shifted, [&](Value t) -> Value {
    Value bits = arith::BitcastOp::create(builder, loc, intVectorType, t);
    Value by = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(intVectorType, int32_t(23)));
    bits = arith::ShLIOp::create(builder, loc, bits, by);
    return arith::BitcastOp::create(builder, loc, vectorType, bits);
  });
  Values results(xs.size(), splat(coefficients[6]));
  for (int i = 5; i >= 0; --i) {
    Value c = splat(coefficients[i]);
    for (auto [result, f] : llvm::zip(results, fractions))
      result = fma(result, f, c);
  }
  for (auto [result, power] : llvm::zip(results, powers))
    result = mulf(result, power);
  return results;
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

static Values flatten(const RegisterTile &tile) {
  Values flat;
  for (const Values &row : tile)
    llvm::append_range(flat, row);
  return flat;
}
static RegisterTile unflatten(ArrayRef<Value> flat, size_t vectors) {
  RegisterTile tile;
  for (size_t i = 0; i < flat.size(); i += vectors)
    tile.emplace_back(flat.slice(i, vectors));
  return tile;
}

RegisterTile
KernelBuilder::multiplySteps(Value lo, Value hi, int64_t unroll,
                             const RegisterTile &acc,
                             function_ref<Value(int64_t, Value)> scalar,
                             function_ref<Value(Value, int64_t)> vector) {
  size_t count = acc.front().size();
  auto step = [&](Value k, RegisterTile &tile) {
    if (tile.size() <= count) { // hold the scalars, stream the vectors
      Values held;
      for (size_t r = 0; r < tile.size(); ++r)
        held.push_back(scalar(r, k));
      for (size_t v = 0; v < count; ++v) {
        Value streamed = vector(k, v);
        for (size_t r = 0; r < tile.size(); ++r)
          tile[r][v] = fma(held[r], streamed, tile[r][v]);
      }
      return;
    }
    Values held;
    for (size_t v = 0; v < count; ++v)
      held.push_back(vector(k, v));
    for (size_t r = 0; r < tile.size(); ++r) {
      Value streamed = scalar(r, k);
      for (size_t v = 0; v < count; ++v)
        tile[r][v] = fma(streamed, held[v], tile[r][v]);
    }
  };
  Values result =
      loop(lo, hi, unroll, flatten(acc), [&](Value k, ValueRange carried) {
        RegisterTile tile = unflatten(Values(carried), count);
        for (int64_t u = 0; u < unroll; ++u)
          step(add(k, u), tile);
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
  return multiplySteps(middle, hi, 1, acc, scalar, vector);
}

// --- rows of row-major data ---

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

Value KernelBuilder::loadRow(Value memref, Value row, Value column,
                             Value mask) {
  if (!mask)
    return load(memref, row, column);
  return vector::MaskedLoadOp::create(builder, loc, vectorType, memref,
                                      ValueRange{row, column}, mask,
                                      splat(0.0));
}
void KernelBuilder::storeRow(Value vector, Value memref, Value row,
                             Value column, Value mask) {
  if (!mask)
    return store(vector, memref, row, column);
  vector::MaskedStoreOp::create(builder, loc, memref, ValueRange{row, column},
                                mask, vector);
}

SmallVector<RowBlocks> cpu::balancedBlocks(int64_t total, int64_t rows) {
  int64_t count = (total + rows - 1) / rows;
  if (count == 0)
    return {};
  int64_t small = total / count, larger = total - small * count;
  SmallVector<RowBlocks> blocks;
  if (larger)
    blocks.push_back({0, larger * (small + 1), small + 1});
  if (larger < count)
    blocks.push_back({larger * (small + 1), total, small});
  return blocks;
}
