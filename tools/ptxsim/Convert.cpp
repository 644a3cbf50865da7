// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt: between integers, floats, and both.
#include "Decoder.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace attn::ptx {

namespace {
struct Conversion {
  Type to, from;
  std::optional<Rounding> rounding, toInteger;
  bool flushes = false, saturates = false, clampsNegative = false;
};
} // namespace

static std::optional<Rounding> takeRounding(Decoder &decoder,
                                            StringRef suffix) {
  static const std::pair<StringRef, Rounding> modes[] = {
      {"rn", Rounding::Nearest},
      {"rz", Rounding::Zero},
      {"rm", Rounding::Down},
      {"rp", Rounding::Up},
      {"rna", Rounding::NearestAway}};
  for (auto &[name, rounding] : modes)
    if (decoder.take((name + suffix).str()))
      return rounding;
  return std::nullopt;
}

static uint64_t clampInteger(const Conversion &c, uint64_t value) {
  bool negative = c.from.isSigned() && int64_t(value) < 0;
  uint64_t most = maskTrailingOnes<uint64_t>(c.to.bits - c.to.isSigned());
  uint64_t least =
      c.to.isSigned() ? -(uint64_t(1) << (c.to.bits - 1)) : uint64_t(0);
  if (negative)
    return int64_t(value) < int64_t(least) ? least : value;
  return std::min(value, most);
}

static uint64_t fromInteger(const Conversion &c, uint64_t value) {
  if (!c.to.isReal())
    return c.saturates ? clampInteger(c, value) : value;
  bool negative = c.from.isSigned() && int64_t(value) < 0;
  if (c.to.bits == 64)
    return bitsOf(c.to, negative ? double(int64_t(value)) : double(value));
  double exact = integerToOdd(negative, negative ? -value : value);
  return bitsOf(c.to, exact, c.rounding.value_or(Rounding::Nearest));
}

static uint64_t fromReal(const Conversion &c, uint64_t bits) {
  double value = realOf(c.from, bits);
  if (c.flushes)
    value = flush(c.from, value);
  if (!c.to.isReal())
    return integerOf(c.to, value, c.toInteger.value_or(Rounding::Zero));
  if (c.toInteger) {
    Type wide{Type::Signed, 64};
    if (std::abs(value) < 0x1p53)
      value = std::copysign(
          double(int64_t(integerOf(wide, value, *c.toInteger))), value);
  }
  if (c.saturates)
    value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (c.clampsNegative && value < 0)
    value = 0.0;
  uint64_t result = bitsOf(c.to, value, c.rounding.value_or(Rounding::Nearest));
  if (c.flushes)
    result = bitsOf(c.to, flush(c.to, realOf(c.to, result)));
  return result;
}

/// `cvt.rn.bf16x2.f32 d, a, b`: a becomes the upper half.
static Action decodePair(Decoder &decoder, const Conversion &conversion) {
  Conversion one = conversion;
  one.to = conversion.to.element();
  return decoder.map(conversion.to, {one.from, one.from},
                     [one](const uint64_t *in) {
                       return fromReal(one, in[0]) << 16 | fromReal(one, in[1]);
                     });
}

static Action decodeConvert(Decoder &decoder) {
  Conversion c;
  c.toInteger = takeRounding(decoder, "i");
  c.rounding = takeRounding(decoder, "");
  c.flushes = decoder.take("ftz");
  c.saturates = decoder.take("sat");
  c.clampsNegative = decoder.take("relu");
  c.to = decoder.takeType();
  c.from = decoder.takeType();
  if (c.to.elements == 2)
    return decodePair(decoder, c);
  return decoder.map(c.to, {c.from}, [c](const uint64_t *in) {
    return c.from.isReal() ? fromReal(c, in[0]) : fromInteger(c, in[0]);
  });
}

/// Between generic addresses and those of a space.
static Action decodeConvertAddress(Decoder &decoder) {
  bool fromGeneric = decoder.take("to");
  Space space = decoder.takeSpace();
  Type type = decoder.takeType();
  uint64_t window = space == Space::Shared  ? sharedWindow
                    : space == Space::Local ? localWindow
                    : space == Space::Param ? paramWindow
                                            : 0;
  if (fromGeneric)
    window = -window;
  return decoder.map(type, {type},
                     [window](const uint64_t *in) { return in[0] + window; });
}

void addConversions(DecodeTable &table) {
  table["cvt"] = decodeConvert;
  table["cvta"] = decodeConvertAddress;
}

} // namespace attn::ptx
