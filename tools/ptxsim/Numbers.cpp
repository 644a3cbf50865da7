// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Numbers.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace attn::ptx {

namespace {
struct Format {
  int exponentBits, mantissaBits;
  int dropped; // low bits of the register that hold nothing

  int smallest() const { return 2 - (1 << (exponentBits - 1)); }
  uint64_t infinity() const {
    return maskTrailingOnes<uint64_t>(exponentBits) << mantissaBits;
  }
};
} // namespace

static Format formatOf(Type type) {
  if (type.kind == Type::TFloat)
    return {8, 10, 13};
  if (type.kind == Type::BFloat)
    return {8, 7, 0};
  return type.bits == 16 ? Format{5, 10, 0} : Format{8, 23, 0};
}

double realOf(Type type, uint64_t bits) {
  if (type.bits == 64)
    return bit_cast<double>(bits);
  if (type.bits == 32)
    return bit_cast<float>(uint32_t(bits));
  if (type.kind == Type::BFloat)
    return bit_cast<float>(uint32_t(bits << 16));
  // Its fields in those of an f32, whose exponent is biased by 112 more.
  float value = bit_cast<float>(uint32_t(bits & 0x7fff) << 13);
  value = (bits & 0x7c00) == 0x7c00
              ? bit_cast<float>(bit_cast<uint32_t>(value) | 0x7f800000)
              : value * 0x1p112f;
  return bits & 0x8000 ? -value : value;
}

static double roundInteger(double value, bool negative, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::floor(value);
  case Rounding::Down:
    return negative ? std::ceil(value) : std::floor(value);
  case Rounding::Up:
    return negative ? std::floor(value) : std::ceil(value);
  case Rounding::NearestAway:
    return std::floor(value + 0.5);
  }
  return value;
}

/// The largest float's field or infinity's.
static uint64_t overflow(Format format, bool negative, Rounding rounding) {
  bool finite = rounding == Rounding::Zero ||
                (rounding == Rounding::Down && !negative) ||
                (rounding == Rounding::Up && negative);
  return format.infinity() - finite;
}

static uint64_t fieldOf(Format format, double magnitude, bool negative,
                        Rounding rounding) {
  if (std::isinf(magnitude))
    return format.infinity();
  if (magnitude == 0)
    return 0;
  int exponent = std::max(std::ilogb(magnitude), format.smallest());
  double scaled = std::ldexp(magnitude, format.mantissaBits - exponent);
  auto mantissa = uint64_t(roundInteger(scaled, negative, rounding));
  uint64_t one = uint64_t(1) << format.mantissaBits;
  if (mantissa < one)
    return mantissa;
  // A mantissa that was rounded up to two carries into the exponent.
  uint64_t biased = exponent - format.smallest() + 1;
  uint64_t field = (biased << format.mantissaBits) + (mantissa - one);
  return field < format.infinity() ? field
                                   : overflow(format, negative, rounding);
}

uint64_t bitsOf(Type type, double value, Rounding rounding) {
  if (std::isnan(value))
    return type.bits == 64   ? 0x7ff8000000000000
           : type.bits == 32 ? 0x7fffffff
                             : 0x7fff;
  if (type.bits == 64)
    return bit_cast<uint64_t>(value);
  bool single = type.kind == Type::Float && type.bits == 32;
  if (single && rounding == Rounding::Nearest &&
      !(std::fabs(value) >= 0x1.ffffffp127))
    return bit_cast<uint32_t>(static_cast<float>(value));
  Format format = formatOf(type);
  bool negative = std::signbit(value);
  uint64_t field = fieldOf(format, std::fabs(value), negative, rounding);
  int width = format.exponentBits + format.mantissaBits;
  return (field | uint64_t(negative) << width) << format.dropped;
}

double flush(Type type, double value) {
  bool subnormal = type.bits < 64 &&
                   std::fabs(value) < std::ldexp(1, formatOf(type).smallest());
  return subnormal ? std::copysign(0.0, value) : value;
}

double sumToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double ofB = sum - a;
  double error = (a - (sum - ofB)) + (b - ofB);
  auto bits = bit_cast<uint64_t>(sum);
  if (error == 0 || bits & 1)
    return sum;
  return std::nextafter(sum, std::copysign(INFINITY, error));
}

double integerToOdd(bool negative, uint64_t magnitude) {
  if (magnitude >> 53)
    magnitude =
        (magnitude & ~uint64_t(0xfff)) | ((magnitude & 0xfff) ? 0x800 : 0);
  auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

uint64_t integerOf(Type type, double value, Rounding rounding) {
  if (std::isnan(value))
    return 0;
  bool negative = value < 0;
  double whole = roundInteger(std::fabs(value), negative, rounding);
  double limit = std::ldexp(1, type.bits - type.isSigned());
  if (negative) {
    if (!type.isSigned())
      return 0;
    return whole >= limit ? -(uint64_t(1) << (type.bits - 1))
                          : -static_cast<uint64_t>(whole);
  }
  if (whole >= limit)
    return maskTrailingOnes<uint64_t>(type.bits - type.isSigned());
  return static_cast<uint64_t>(whole);
}

} // namespace attn::ptx
