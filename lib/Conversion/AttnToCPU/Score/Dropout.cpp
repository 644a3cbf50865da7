// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dropout.h"
#include "LaneMemory.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
constexpr uint32_t multipliers[] = {0xD2511F53, 0xCD9E8D57},
                   increments[] = {0x9E3779B9, 0xBB67AE85};
constexpr unsigned rounds = 10, words = 4;

/// One counter per lane.
class Philox {
public:
  Philox(KernelBuilder &k, Value seed)
      : k(k), wordType(k.builder.getI32Type()),
        vectorType(VectorType::get(k.lanes, wordType)) {
    Value high = arith::ShRUIOp::create(k.builder, k.loc, seed,
                                        constant(k.builder.getI64Type(), 32));
    key = {arith::TruncIOp::create(k.builder, k.loc, wordType, seed),
           arith::TruncIOp::create(k.builder, k.loc, wordType, high)};
  }

  Value word(Value index) {
    return arith::IndexCastOp::create(k.builder, k.loc, wordType, index);
  }
  Value broadcast(Value number) {
    return vector::BroadcastOp::create(k.builder, k.loc, vectorType, number);
  }
  Value constant(Type type, uint64_t value) {
    auto bits = type.getIntOrFloatBitWidth();
    return arith::ConstantOp::create(
        k.builder, k.loc,
        k.builder.getIntegerAttr(type, APInt(bits, value, /*isSigned=*/false,
                                             /*implicitTrunc=*/true)));
  }

  using Words = std::array<Value, words>;
  Words apply(Words counter) {
    for (uint32_t round = 0; round < rounds; ++round) {
      auto [high0, low0] = multiply(counter[0], multipliers[0]);
      auto [high1, low1] = multiply(counter[2], multipliers[1]);
      counter = {add(add(high1, counter[1]), keyOf(0, round)), low1,
                 add(add(high0, counter[3]), keyOf(1, round)), low0};
    }
    return counter;
  }

private:
  /// Without carry.
  Value add(Value a, Value b) {
    return arith::XOrIOp::create(k.builder, k.loc, a, b);
  }
  Value keyOf(unsigned half, uint32_t round) {
    Value bumped =
        arith::AddIOp::create(k.builder, k.loc, key[half],
                              constant(wordType, round * increments[half]));
    return broadcast(bumped);
  }
  std::pair<Value, Value> multiply(Value word, uint32_t factor) {
    auto product = arith::MulUIExtendedOp::create(
        k.builder, k.loc, word, broadcast(constant(wordType, factor)));
    return {product.getHigh(), product.getLow()};
  }

  KernelBuilder &k;
  Type wordType;
  VectorType vectorType;
  std::array<Value, 2> key;
};
} // namespace

/// The words below which a pair is dropped.
static uint32_t thresholdOf(double probability) {
  constexpr double all = 4294967296.0;
  return static_cast<uint32_t>(
      std::min(std::round(probability * all), all - 1));
}

void cpu::eachFactor(
    KernelBuilder &k, const TileDropout &dropout, const DropoutPlace &place,
    function_ref<void(Value key, Value column, Value factor)> body) {
  Philox philox(k, dropout.seed);
  LaneMemory memory(k);
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(k.builder, k.loc,
                                     k.builder.getFloatAttr(k.element, value));
  };
  // A negative seed drops nothing.
  Value isOff = arith::CmpIOp::create(
      k.builder, k.loc, arith::CmpIPredicate::slt, dropout.seed,
      philox.constant(k.builder.getI64Type(), 0));
  Type wordType = k.builder.getI32Type();
  Value threshold = philox.broadcast(
      k.select(isOff, philox.constant(wordType, 0),
               philox.constant(wordType, thresholdOf(dropout.probability))));
  Value kept = k.broadcast(
      k.select(isOff, number(1), number(1 / (1 - dropout.probability))));
  Value zero = k.splat(0.0), lane = memory.constant(wordType, 0, 1);
  Value batch = philox.broadcast(philox.word(dropout.batch)),
        head = philox.broadcast(philox.word(dropout.head));
  Value begin = k.div(k.add(place.keyBegin, place.begin), words);
  Value end = k.div(k.add(k.add(place.keyBegin, place.end), words - 1), words);
  Value columns = k.index(k.vectors * k.lanes),
        beforeFirst = k.sub(place.begin, k.index(1));
  k.loop(k.index(0), columns, k.lanes, [&](Value column) {
    Value query = arith::AddIOp::create(
        k.builder, k.loc,
        philox.broadcast(philox.word(k.add(place.firstQuery, column))), lane);
    k.loop(begin, end, 1, [&](Value group) {
      Philox::Words drawn = philox.apply(
          {philox.broadcast(philox.word(group)), query, head, batch});
      Value first = k.sub(k.mul(group, words), place.keyBegin);
      for (auto [i, word] : llvm::enumerate(drawn)) {
        Value isDropped = arith::CmpIOp::create(
            k.builder, k.loc, arith::CmpIPredicate::ult, word, threshold);
        Value factor = k.select(isDropped, zero, kept);
        // Groups of keys count from key 0, and may begin in front of the tile.
        Value key = k.add(first, i);
        Value inside = arith::AndIOp::create(
            k.builder, k.loc, k.less(beforeFirst, key), k.less(key, place.end));
        k.when(inside, [&] { body(key, column, factor); });
      }
    });
  });
}

void cpu::dropWeights(KernelBuilder &k, const TileDropout &dropout,
                      const DropoutPlace &place, Value state, Value weights) {
  eachFactor(k, dropout, place, [&](Value key, Value column, Value factor) {
    Value row = k.add(weights, key);
    k.store(k.mulf(k.load(state, row, column), factor), state, row, column);
  });
}
