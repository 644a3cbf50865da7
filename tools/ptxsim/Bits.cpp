// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic, shifts, fields of bits, permuted bytes.
#include "Decoder.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace attn::ptx {

/// Logic works on each bit, so predicates are integers of one bit.
template <unsigned arity, typename Function>
static Action decodeLogic(Decoder &decoder, Function function) {
  Type type = decoder.takeType();
  SmallVector<Type, 2> types(arity, type);
  return decoder.map(type, types, function);
}

/// Amounts above the width act as the width.
static Action decodeShiftLeft(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {type, u32}, [type](const uint64_t *in) {
    return in[1] >= type.bits ? 0 : in[0] << in[1];
  });
}

static Action decodeShiftRight(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {type, u32}, [type](const uint64_t *in) {
    uint64_t amount = std::min<uint64_t>(in[1], type.bits);
    if (type.isSigned())
      return uint64_t(int64_t(in[0]) >> std::min<uint64_t>(amount, 63));
    return amount > 63 ? 0 : in[0] >> amount;
  });
}

/// 32 bits out of the 64 of two registers.
static Action decodeFunnelShift(Decoder &decoder) {
  bool left = decoder.takeOneOf({"l", "r"}) == "l";
  bool wraps = decoder.takeOneOf({"wrap", "clamp"}) == "wrap";
  Type type = decoder.takeType();
  return decoder.map(type, {b32, b32, u32}, [=](const uint64_t *in) {
    uint64_t amount = wraps ? in[2] % 32 : std::min<uint64_t>(in[2], 32);
    uint64_t both = in[1] << 32 | in[0];
    return left ? (both << amount) >> 32 : both >> amount;
  });
}

/// Bytes of the sixteen half-bytes' choice; the fourth bit copies the sign.
static Action decodePermute(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {b32, b32, b32}, [](const uint64_t *in) {
    uint64_t bytes = in[1] << 32 | in[0], result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t choice = in[2] >> (4 * i);
      uint64_t byte = bytes >> (8 * (choice & 7)) & 0xff;
      if (choice & 8)
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
}

/// Any function of three bits: the fourth source is its table.
static Action decodeLogic3(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {b32, b32, b32, b32}, [](const uint64_t *in) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; ++i) {
      unsigned row =
          (in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1);
      result |= (in[3] >> row & 1) << i;
    }
    return result;
  });
}

static Action decodeExtractField(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {type, u32, u32}, [type](const uint64_t *in) {
    unsigned position = in[1] & 0xff, length = in[2] & 0xff;
    if (length == 0)
      return uint64_t(0);
    unsigned last = std::min(position + length - 1, type.bits - 1);
    uint64_t sign = type.isSigned() && (in[0] >> last & 1) ? ~uint64_t(0) : 0;
    uint64_t field = position < type.bits ? in[0] >> position : sign;
    uint64_t kept = position < type.bits
                        ? maskTrailingOnes<uint64_t>(last - position + 1)
                        : 0;
    return (field & kept) | (sign & ~kept);
  });
}

static Action decodeInsertField(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {type, type, u32, u32}, [](const uint64_t *in) {
    unsigned position = in[2] & 0xff, length = in[3] & 0xff;
    if (position > 63)
      return in[1];
    uint64_t mask = maskTrailingOnes<uint64_t>(std::min(length, 64u))
                    << position;
    return (in[1] & ~mask) | ((in[0] << position) & mask);
  });
}

static Action decodePopulationCount(Decoder &decoder) {
  return decoder.map(u32, {decoder.takeType()}, [](const uint64_t *in) {
    return uint64_t(popcount(in[0]));
  });
}

static Action decodeLeadingZeros(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(u32, {type}, [type](const uint64_t *in) {
    return uint64_t(countl_zero(in[0]) - (64 - type.bits));
  });
}

/// The place of the highest bit that is not the sign.
static Action decodeFindBit(Decoder &decoder) {
  bool amount = decoder.take("shiftamt");
  Type type = decoder.takeType();
  return decoder.map(u32, {type}, [=](const uint64_t *in) {
    uint64_t bits = type.isSigned() && int64_t(in[0]) < 0 ? ~in[0] : in[0];
    if (bits == 0)
      return ~uint64_t(0);
    uint64_t place = 63 - countl_zero(bits);
    return amount ? type.bits - 1 - place : place;
  });
}

static Action decodeReverse(Decoder &decoder) {
  Type type = decoder.takeType();
  return decoder.map(type, {type}, [type](const uint64_t *in) {
    return reverseBits(in[0]) >> (64 - type.bits);
  });
}

void addBitInstructions(DecodeTable &table) {
  table["and"] = [](Decoder &decoder) {
    return decodeLogic<2>(decoder,
                          [](const uint64_t *in) { return in[0] & in[1]; });
  };
  table["or"] = [](Decoder &decoder) {
    return decodeLogic<2>(decoder,
                          [](const uint64_t *in) { return in[0] | in[1]; });
  };
  table["xor"] = [](Decoder &decoder) {
    return decodeLogic<2>(decoder,
                          [](const uint64_t *in) { return in[0] ^ in[1]; });
  };
  table["not"] = [](Decoder &decoder) {
    return decodeLogic<1>(decoder, [](const uint64_t *in) { return ~in[0]; });
  };
  table["cnot"] = [](Decoder &decoder) {
    return decodeLogic<1>(
        decoder, [](const uint64_t *in) { return uint64_t(in[0] == 0); });
  };
  table["shl"] = decodeShiftLeft;
  table["shr"] = decodeShiftRight;
  table["shf"] = decodeFunnelShift;
  table["prmt"] = decodePermute;
  table["lop3"] = decodeLogic3;
  table["bfe"] = decodeExtractField;
  table["bfi"] = decodeInsertField;
  table["popc"] = decodePopulationCount;
  table["clz"] = decodeLeadingZeros;
  table["bfind"] = decodeFindBit;
  table["brev"] = decodeReverse;
}

} // namespace attn::ptx
