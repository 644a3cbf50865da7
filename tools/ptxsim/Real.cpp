// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of floats. It is done in f64 so that one rounding to the result's
// type gives what one rounding of the exact result would: sums keep what they
// lose in their last bit, products of two narrower floats are exact, and 53
// bits are enough for quotients and roots. Approximations are those nearest to
// the exact value; hardware's may differ by the manual's error.
#include "Decoder.h"
#include <cmath>

using namespace llvm;

namespace attn::ptx {

namespace {
struct RealModifiers {
  Rounding rounding = Rounding::Nearest;
  bool flushes = false, saturates = false, clampsNegative = false;
};
using RealFunction = double (*)(bool wide, const double *);
} // namespace

static RealModifiers takeRealModifiers(Decoder &decoder) {
  RealModifiers modifiers;
  StringRef mode = decoder.takeOneOf({"rn", "rz", "rm", "rp"});
  modifiers.rounding = mode == "rz"   ? Rounding::Zero
                       : mode == "rm" ? Rounding::Down
                       : mode == "rp" ? Rounding::Up
                                      : Rounding::Nearest;
  modifiers.flushes = decoder.take("ftz");
  modifiers.saturates = decoder.take("sat");
  modifiers.clampsNegative = decoder.take("relu");
  return modifiers;
}

static double clampResult(RealModifiers modifiers, double value) {
  if (modifiers.saturates)
    return value > 0 ? std::min(value, 1.0) : 0.0; // also of NaN
  return modifiers.clampsNegative && value < 0 ? 0.0 : value;
}

/// One float, or both of a pair.
static uint64_t computeReal(Type type, RealModifiers modifiers, unsigned arity,
                            const std::function<double(const double *)> &f,
                            const uint64_t *in) {
  uint64_t result = 0;
  for (unsigned element = 0; element < type.elements; ++element) {
    unsigned shift = element * type.bits;
    std::array<double, 3> values;
    for (unsigned i = 0; i < arity; ++i) {
      values[i] =
          realOf(type, type.elements == 1 ? in[i] : in[i] >> shift & 0xffff);
      if (modifiers.flushes)
        values[i] = flush(type, values[i]);
    }
    double value = clampResult(modifiers, f(values.data()));
    uint64_t bits = bitsOf(type, value, modifiers.rounding);
    if (modifiers.flushes)
      bits = bitsOf(type, flush(type, realOf(type, bits)));
    result |= bits << shift;
  }
  return result;
}

/// `exact` functions are right for every rounding; the others only to nearest.
static Action decodeRealFunction(Decoder &decoder, unsigned arity, bool exact,
                                 RealFunction function) {
  RealModifiers modifiers = takeRealModifiers(decoder);
  Type type = decoder.takeType();
  bool wide = type.bits == 64;
  if (modifiers.rounding != Rounding::Nearest && (wide || !exact))
    return decoder.fail("only rounding to nearest is supported");
  SmallVector<Type, 3> types(arity, type);
  std::function<double(const double *)> bound = [=](const double *in) {
    return function(wide, in);
  };
  return decoder.map(type, types, [=](const uint64_t *in) {
    return computeReal(type, modifiers, arity, bound, in);
  });
}

/// The other one if one is a NaN, unless `.NaN` stands there; -0 is below 0.
static Action decodeExtremum(Decoder &decoder, bool greater) {
  RealModifiers modifiers = takeRealModifiers(decoder);
  bool keepsNaN = decoder.take("NaN");
  Type type = decoder.takeType();
  auto choose = [=](const double *in) {
    double a = in[0], b = in[1];
    if (std::isnan(a) || std::isnan(b))
      return keepsNaN || std::isnan(b) ? (keepsNaN && std::isnan(b) ? b : a)
                                       : b;
    bool first = a == b ? std::signbit(a) != greater : (a > b) == greater;
    return first ? a : b;
  };
  return decoder.map(type, {type, type}, [=](const uint64_t *in) {
    return computeReal(type, modifiers, 2, choose, in);
  });
}

static Action decodeAdd(Decoder &decoder) {
  return decodeRealFunction(decoder, 2, true, [](bool wide, const double *in) {
    return wide ? in[0] + in[1] : sumToOdd(in[0], in[1]);
  });
}

static Action decodeSubtract(Decoder &decoder) {
  return decodeRealFunction(decoder, 2, true, [](bool wide, const double *in) {
    return wide ? in[0] - in[1] : sumToOdd(in[0], -in[1]);
  });
}

static Action decodeMultiply(Decoder &decoder) {
  return decodeRealFunction(
      decoder, 2, true, [](bool, const double *in) { return in[0] * in[1]; });
}

static Action decodeFma(Decoder &decoder) {
  return decodeRealFunction(decoder, 3, true, [](bool wide, const double *in) {
    return wide ? std::fma(in[0], in[1], in[2])
                : sumToOdd(in[0] * in[1], in[2]);
  });
}

static Action decodeDivide(Decoder &decoder) {
  decoder.takeOneOf({"approx", "full"});
  return decodeRealFunction(
      decoder, 2, false, [](bool, const double *in) { return in[0] / in[1]; });
}

/// A function of one float, often `.approx`.
template <double (*function)(double)>
static Action decodeUnary(Decoder &decoder) {
  decoder.take("approx");
  return decodeRealFunction(decoder, 1, false, [](bool, const double *in) {
    return function(in[0]);
  });
}

static double reciprocal(double x) { return 1 / x; }
static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
static double negative(double x) { return -x; }
static double absolute(double x) { return std::fabs(x); }
static double root(double x) { return std::sqrt(x); }
static double sine(double x) { return std::sin(x); }
static double cosine(double x) { return std::cos(x); }
static double power2(double x) { return std::exp2(x); }
static double logarithm2(double x) { return std::log2(x); }
static double hyperbolicTangent(double x) { return std::tanh(x); }

static Action decodeCopySign(Decoder &decoder) {
  Type type = decoder.takeType();
  uint64_t sign = uint64_t(1) << (type.bits - 1);
  return decoder.map(type, {type, type}, [sign](const uint64_t *in) {
    return (in[0] & sign) | (in[1] & ~sign);
  });
}

void addRealInstructions(DecodeTable &table) {
  table["add"] = decodeAdd;
  table["sub"] = decodeSubtract;
  table["mul"] = decodeMultiply;
  table["fma"] = decodeFma;
  table["mad"] = decodeFma;
  table["div"] = decodeDivide;
  table["min"] = [](Decoder &decoder) {
    return decodeExtremum(decoder, false);
  };
  table["max"] = [](Decoder &decoder) { return decodeExtremum(decoder, true); };
  table["neg"] = decodeUnary<negative>;
  table["abs"] = decodeUnary<absolute>;
  table["rcp"] = decodeUnary<reciprocal>;
  table["sqrt"] = decodeUnary<root>;
  table["rsqrt"] = decodeUnary<reciprocalRoot>;
  table["sin"] = decodeUnary<sine>;
  table["cos"] = decodeUnary<cosine>;
  table["ex2"] = decodeUnary<power2>;
  table["lg2"] = decodeUnary<logarithm2>;
  table["tanh"] = decodeUnary<hyperbolicTangent>;
  table["copysign"] = decodeCopySign;
}

} // namespace attn::ptx
