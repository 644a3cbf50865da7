// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red. Lanes act in their order; hardware leaves it open.
#include "Decoder.h"

using namespace llvm;

namespace attn::ptx {

/// The new value from the old one and the operands.
using Update = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

static uint64_t addReals(Type type, uint64_t a, uint64_t b) {
  uint64_t result = 0;
  for (unsigned element = 0; element < type.elements; ++element) {
    unsigned shift = element * type.bits;
    double x = realOf(type, type.bits == 16 ? a >> shift & 0xffff : a);
    double y = realOf(type, type.bits == 16 ? b >> shift & 0xffff : b);
    double sum = type.bits == 64 ? x + y : sumToOdd(x, y);
    result |= bitsOf(type, sum) << shift;
  }
  return result;
}

static bool below(Type type, uint64_t a, uint64_t b) {
  return type.isSigned() ? int64_t(a) < int64_t(b) : a < b;
}

static Update updateOf(StringRef name, Type type) {
  using Word = uint64_t;
  if (name == "add" && type.isReal())
    return [=](Word a, Word b, Word) { return addReals(type, a, b); };
  if (type.isReal())
    return {};
  if (name == "add")
    return [](Word a, Word b, Word) { return a + b; };
  if (name == "min")
    return [=](Word a, Word b, Word) { return below(type, b, a) ? b : a; };
  if (name == "max")
    return [=](Word a, Word b, Word) { return below(type, a, b) ? b : a; };
  if (name == "and")
    return [](Word a, Word b, Word) { return a & b; };
  if (name == "or")
    return [](Word a, Word b, Word) { return a | b; };
  if (name == "xor")
    return [](Word a, Word b, Word) { return a ^ b; };
  if (name == "exch")
    return [](Word, Word b, Word) { return b; };
  if (name == "cas")
    return [](Word a, Word b, Word c) { return a == b ? c : a; };
  if (name == "inc")
    return [](Word a, Word b, Word) { return a >= b ? 0 : a + 1; };
  if (name == "dec")
    return [](Word a, Word b, Word) { return a == 0 || a > b ? b : a - 1; };
  return {};
}

/// `atom` has a destination, `red` has none.
static Action decodeAtomic(Decoder &decoder, bool returns) {
  Space space = decoder.takeSpace();
  decoder.takeHints();
  decoder.take("noftz");
  StringRef name = decoder.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  Type type = decoder.takeType();
  Update update = updateOf(name, type);
  if (!update)
    return decoder.fail("this operation is not supported");
  unsigned operands = (name == "cas" ? 3 : 2) + returns;
  if (!decoder.expectOperands(operands, operands))
    return {};
  int to = returns ? decoder.destination(decoder.operand(0)) : -1;
  Address at = decoder.address(returns);
  Source b = decoder.source(1 + returns, type), c = b;
  if (name == "cas")
    c = decoder.source(2 + returns, type);
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      Bytes place =
          warp.block.access(warp, lane, space, warp.addressOf(at, lane),
                            type.bytes(), Access::Atomic);
      if (!place)
        return;
      Value old = load(place, type.bytes());
      uint64_t before = extend(type, old.bits);
      Value x = warp.read(b, lane), y = warp.read(c, lane);
      uint8_t known = old.known & x.known & y.known;
      store(place, type.bytes(), {update(before, x.bits, y.bits), known});
      warp.write(to, lane, type, old);
    });
  };
}

void addAtomics(DecodeTable &table) {
  table["atom"] = [](Decoder &decoder) { return decodeAtomic(decoder, true); };
  table["red"] = [](Decoder &decoder) { return decodeAtomic(decoder, false); };
}

} // namespace attn::ptx
