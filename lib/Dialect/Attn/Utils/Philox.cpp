// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/Utils/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace attn;

static constexpr uint32_t multipliers[] = {0xD2511F53, 0xCD9E8D57},
                          increments[] = {0x9E3779B9, 0xBB67AE85};
static constexpr uint32_t rounds = 10;

Philox::Philox(OpBuilder &b, Location loc, Value seed, Type type)
    : b(b), loc(loc), seed(seed), type(type) {
  Value bits = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 32);
  Value high = arith::ShRUIOp::create(b, loc, seed, bits);
  key = {arith::TruncIOp::create(b, loc, b.getI32Type(), seed),
         arith::TruncIOp::create(b, loc, b.getI32Type(), high)};
}

/// One number, in each lane where `type` has lanes.
static Value spread(OpBuilder &b, Location loc, Type type, Value number) {
  return isa<VectorType>(type)
             ? vector::BroadcastOp::create(b, loc, type, number).getResult()
             : number;
}

static Value constant(OpBuilder &b, Location loc, uint32_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                      static_cast<int32_t>(value));
}

Value Philox::number(uint32_t value) {
  return spread(b, loc, type, constant(b, loc, value));
}

Value Philox::word(Value index) {
  return spread(b, loc, type,
                arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
}

Value Philox::keyOf(unsigned half, uint32_t round) {
  Value bumped = arith::AddIOp::create(
      b, loc, key[half], constant(b, loc, round * increments[half]));
  return spread(b, loc, type, bumped);
}

/// The high half and the low one.
std::pair<Value, Value> Philox::multiply(Value word, uint32_t factor) {
  auto product = arith::MulUIExtendedOp::create(b, loc, word, number(factor));
  return {product.getHigh(), product.getLow()};
}

Philox::Words Philox::apply(Words counter) {
  auto add = [&](Value x, Value y) -> Value { // without carry
    return arith::XOrIOp::create(b, loc, x, y);
  };
  for (uint32_t round = 0; round < rounds; ++round) {
    auto [high0, low0] = multiply(counter[0], multipliers[0]);
    auto [high1, low1] = multiply(counter[2], multipliers[1]);
    counter = {add(add(high1, counter[1]), keyOf(0, round)), low1,
               add(add(high0, counter[3]), keyOf(1, round)), low0};
  }
  return counter;
}

Value Philox::isOff() {
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, seed, zero);
}

Value Philox::threshold(double probability) {
  constexpr double all = 4294967296.0;
  auto below =
      static_cast<uint32_t>(std::min(std::round(probability * all), all - 1));
  Value chosen = arith::SelectOp::create(b, loc, isOff(), constant(b, loc, 0),
                                         constant(b, loc, below));
  return spread(b, loc, type, chosen);
}

Value Philox::kept(double probability, Type element) {
  auto real = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
  };
  return arith::SelectOp::create(b, loc, isOff(), real(1),
                                 real(1 / (1 - probability)));
}

Value attn::dropoutFactor(OpBuilder &b, Location loc, double probability,
                          Value seed, const DroppedPair &pair, Type element) {
  Philox philox(b, loc, seed, b.getI32Type());
  Value key = philox.word(pair.evenKey);
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  Value group = arith::ShRUIOp::create(b, loc, key, philox.number(2));
  Philox::Words drawn =
      philox.apply({group, philox.word(pair.query), philox.word(pair.head),
                    philox.word(pair.batch)});
  Value half = arith::AndIOp::create(b, loc, key, philox.number(2));
  Value isSecond = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, half,
                                         philox.number(0));
  Value word = select(pair.isOdd, select(isSecond, drawn[3], drawn[1]),
                      select(isSecond, drawn[2], drawn[0]));
  Value isDropped = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          word, philox.threshold(probability));
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0));
  return select(isDropped, zero, philox.kept(probability, element));
}
