// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pairs.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::pairCount(KernelBuilder &k, Value count) {
  return k.div(k.add(count, 1), 2);
}

Value cpu::loadBF16(KernelBuilder &k, Value memref, Value row, Value column,
                    Value mask) {
  return k.loadStored(memref, row, column, mask);
}

Value cpu::loadPairs(KernelBuilder &k, Value memref, Value row, Value column,
                     Value mask) {
  KernelBuilder wide = k.withLanes(2 * k.lanes);
  return vector::BitCastOp::create(k.builder, k.loc, k.vectorType,
                                   loadBF16(wide, memref, row, column, mask));
}

Value cpu::asNumbers(KernelBuilder &k, Value pairs) {
  auto type = VectorType::get(2 * k.lanes, k.builder.getBF16Type());
  return vector::BitCastOp::create(k.builder, k.loc, type, pairs);
}

Value cpu::broadcastPair(KernelBuilder &k, Value memref, Value row,
                         Value column) {
  KernelBuilder two = k.withLanes(2);
  Value pair = loadBF16(two, memref, row, column, Value());
  pair = vector::BitCastOp::create(k.builder, k.loc,
                                   VectorType::get(1, k.element), pair);
  return k.broadcast(vector::ExtractOp::create(k.builder, k.loc, pair, 0));
}

Value cpu::lastPair(KernelBuilder &k, Value memref, Value row, Value column) {
  OpBuilder &b = k.builder;
  Value number =
      memref::LoadOp::create(b, k.loc, memref, ValueRange{row, column});
  Value bits = arith::BitcastOp::create(b, k.loc, b.getI16Type(), number);
  bits = arith::ExtUIOp::create(b, k.loc, b.getI32Type(), bits);
  return arith::BitcastOp::create(b, k.loc, k.element, bits);
}

Value cpu::packPairs(KernelBuilder &k, Value first, Value second) {
  OpBuilder &b = k.builder;
  auto type = VectorType::get(k.lanes, b.getBF16Type());
  first = arith::TruncFOp::create(b, k.loc, type, first);
  second = arith::TruncFOp::create(b, k.loc, type, second);
  Value both = vector::InterleaveOp::create(b, k.loc, first, second);
  return vector::BitCastOp::create(b, k.loc, k.vectorType, both);
}

/// A vector of i32 with the same number in all lanes.
static Value splatBits(KernelBuilder &k, uint32_t bits) {
  return arith::ConstantOp::create(
      k.builder, k.loc,
      DenseElementsAttr::get(k.intVectorType, APInt(32, bits)));
}

Value cpu::unpackPairs(KernelBuilder &k, Value pairs, bool second) {
  OpBuilder &b = k.builder;
  Value bits = arith::BitcastOp::create(b, k.loc, k.intVectorType, pairs);
  if (second)
    bits = arith::AndIOp::create(b, k.loc, bits, splatBits(k, 0xffff0000));
  else
    bits = arith::ShLIOp::create(b, k.loc, bits, splatBits(k, 16));
  return arith::BitcastOp::create(b, k.loc, k.vectorType, bits);
}

double cpu::pairFactor(double scale) {
  constexpr double least = std::numeric_limits<float>::min();
  return std::max(std::abs(scale) * log2OfE, least);
}

Value cpu::negatePairs(KernelBuilder &k, Value pairs) {
  OpBuilder &b = k.builder;
  Value bits = arith::BitcastOp::create(b, k.loc, k.intVectorType, pairs);
  bits = arith::XOrIOp::create(b, k.loc, bits, splatBits(k, 0x80008000));
  return arith::BitcastOp::create(b, k.loc, k.vectorType, bits);
}
