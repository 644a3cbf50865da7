// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic. Sources arrive extended to 64 bits, and a result is cut
// to its type: the same code serves all widths.
#include "Decoder.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace attn::ptx {

/// Bits 64 to 127 of a product.
static uint64_t highProduct(bool isSigned, uint64_t a, uint64_t b) {
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  if (isSigned)
    return uint64_t(Wide(int64_t(a)) * Wide(int64_t(b)) >> 64);
  return uint64_t(UnsignedWide(a) * b >> 64);
}

static bool lessInteger(Type type, uint64_t a, uint64_t b) {
  return type.isSigned() ? int64_t(a) < int64_t(b) : a < b;
}

/// By zero, all ones; the manual leaves it open.
static uint64_t divide(Type type, uint64_t a, uint64_t b) {
  if (b == 0)
    return ~uint64_t(0);
  if (!type.isSigned())
    return a / b;
  return b == ~uint64_t(0) ? -a : uint64_t(int64_t(a) / int64_t(b));
}

static uint64_t remainder(Type type, uint64_t a, uint64_t b) {
  return b == 0 ? a : a - divide(type, a, b) * b;
}

/// A function of sources that all have the result's type.
template <unsigned arity, typename Function>
static Action decodeUniform(Decoder &decoder, Function function) {
  Type type = decoder.takeType();
  SmallVector<Type, 3> types(arity, type);
  return decoder.map(type, types, [type, function](const uint64_t *in) {
    return function(type, in);
  });
}

/// mul and mad: `.wide` has a result of twice the width.
static Action decodeProduct(Decoder &decoder, bool adds) {
  StringRef part = decoder.takeOneOf({"lo", "hi", "wide"});
  if (part.empty())
    return decoder.fail("expected .lo, .hi or .wide");
  Type type = decoder.takeType(), result = type;
  if (part == "wide")
    result.bits *= 2;
  bool high = part == "hi";
  SmallVector<Type, 3> types(2, type);
  if (adds)
    types.push_back(result);
  return decoder.map(result, types, [=](const uint64_t *in) {
    uint64_t product = in[0] * in[1];
    if (high && type.bits == 64)
      product = highProduct(type.isSigned(), in[0], in[1]);
    else if (high)
      product >>= type.bits;
    return product + (adds ? in[2] : 0);
  });
}

static Action decodeAbsolute(Decoder &decoder) {
  return decodeUniform<1>(decoder, [](Type, const uint64_t *in) {
    return int64_t(in[0]) < 0 ? -in[0] : in[0];
  });
}

static Action decodeSum(Decoder &decoder, bool negate) {
  bool saturate = decoder.take("sat");
  return decodeUniform<2>(decoder, [=](Type type, const uint64_t *in) {
    uint64_t sum = in[0] + (negate ? -in[1] : in[1]);
    if (!saturate)
      return sum;
    // .sat is of s32 alone, whose sum 64 bits hold.
    return uint64_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  });
}

void addIntegerInstructions(DecodeTable &table) {
  table["add"] = [](Decoder &decoder) { return decodeSum(decoder, false); };
  table["sub"] = [](Decoder &decoder) { return decodeSum(decoder, true); };
  table["mul"] = [](Decoder &decoder) { return decodeProduct(decoder, false); };
  table["mad"] = [](Decoder &decoder) { return decodeProduct(decoder, true); };
  table["abs"] = decodeAbsolute;
  table["neg"] = [](Decoder &decoder) {
    return decodeUniform<1>(decoder,
                            [](Type, const uint64_t *in) { return -in[0]; });
  };
  table["div"] = [](Decoder &decoder) {
    return decodeUniform<2>(decoder, [](Type type, const uint64_t *in) {
      return divide(type, in[0], in[1]);
    });
  };
  table["rem"] = [](Decoder &decoder) {
    return decodeUniform<2>(decoder, [](Type type, const uint64_t *in) {
      return remainder(type, in[0], in[1]);
    });
  };
  table["min"] = [](Decoder &decoder) {
    return decodeUniform<2>(decoder, [](Type type, const uint64_t *in) {
      return lessInteger(type, in[1], in[0]) ? in[1] : in[0];
    });
  };
  table["max"] = [](Decoder &decoder) {
    return decodeUniform<2>(decoder, [](Type type, const uint64_t *in) {
      return lessInteger(type, in[0], in[1]) ? in[1] : in[0];
    });
  };
}

} // namespace attn::ptx
