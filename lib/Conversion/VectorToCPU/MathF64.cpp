// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The methods are those of fdlibm (Sun Microsystems, 1993), except for erf and
// power. Arguments are reduced as W. J. Cody and W. Waite do it ("Software
// Manual for the Elementary Functions", 1980): a constant is a sum of numbers
// with so few bits that a product with a whole number is exact. The polynomials
// were fitted with Remez's exchange in 60 digits; each says how far it is off.
// No branch depends on data, since the lanes of a vector would go both ways.
//
// Only products that are exact, or whose rounding does not matter, are fused:
// the code must give the same accuracy without FMA.
#include "MathF64.h"
#include <limits>

using namespace mlir;
using namespace attn::cpu;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double log2e = 0x1.71547652b82fep0;
/// ln 2 and log2(e), 32 and 26 bits and the rest.
static constexpr double ln2High = 0x1.62e42feep-1,
                        ln2Low = 0x1.a39ef35793c76p-33;
static constexpr double log2eHigh = 0x1.715476p0,
                        log2eLow = 0x1.4ae0bf85ddf44p-26;

// --- exp ---

namespace {
/// x = whole * ln 2 + rest.
struct Exponent {
  Value whole, rest;
};
} // namespace

/// For |x| up to 1000.
static Exponent reduceExponent(const Arithmetic &a, Value x) {
  Value whole = a.roundSmall(a.mul(x, a.real(log2e)));
  Value rest = a.fma(whole, a.real(-ln2High), x);
  return {whole, a.fma(whole, a.real(-ln2Low), rest)};
}

/// e^r - 1 for |r| up to ln(2) / 2; off by 2^-64 of e^r.
static Value expOfRest(const Arithmetic &a, Value r) {
  static constexpr double terms[] = {0.5,
                                     0.16666666666666685,
                                     0.04166666666666673,
                                     0.008333333333316668,
                                     0.001388888888885848,
                                     0.0001984126989724144,
                                     2.4801587373694566e-05,
                                     2.7557234049966045e-06,
                                     2.755723340218602e-07,
                                     2.5112306301308127e-08,
                                     2.0926926966929552e-09};
  return a.fma(a.mul(r, r), a.polynomial(terms, r), r);
}

/// exp(x + low). Scaled in two steps, since 2^k alone may be no normal number.
static Value expOfSum(const Arithmetic &a, Value x, Value low) {
  auto [k, rest] = reduceExponent(a, a.clamp(x, -746, 710));
  if (low)
    rest = a.add(rest, low);
  Value result = a.add(a.real(1), expOfRest(a, rest));
  Value half = a.roundSmall(a.mul(k, a.real(0.5)));
  result = a.mul(result, a.powerOfTwo(half));
  return a.mul(result, a.powerOfTwo(a.sub(k, half)));
}

Value f64::exp(const Arithmetic &a, Value x) { return expOfSum(a, x, {}); }

/// 2^k (e^r - 1) + 2^k - 1, scaled in two steps. From -60 down it is -1.
Value f64::expm1(const Arithmetic &a, Value x) {
  auto [k, rest] = reduceExponent(a, a.clamp(x, -60, 710));
  Value half = a.roundSmall(a.mul(k, a.real(0.5))), other = a.sub(k, half);
  Value power = a.powerOfTwo(half);
  Value one = a.powerOfTwo(a.negate(other)); // times 2^other
  Value result = a.fma(expOfRest(a, rest), power, a.sub(power, one));
  return a.withSignOf(a.mul(result, a.powerOfTwo(other)), x);
}

/// (1 - e^-2|x|) / (1 + e^-2|x|).
Value f64::tanh(const Arithmetic &a, Value x) {
  Value t = expm1(a, a.mul(a.abs(x), a.real(-2)));
  return a.withSignOf(a.div(t, a.add(t, a.real(2))), x);
}

// --- log ---

namespace {
/// x = 2^exponent * (1 + fraction), with 1 + fraction from sqrt(1/2) to
/// sqrt(2).
struct Parts {
  Value exponent, fraction;
};
} // namespace

/// For finite x above 0.
static Parts split(const Arithmetic &a, Value x) {
  constexpr int64_t one = 0x3ff0000000000000, rootHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t mantissa = (int64_t(1) << 52) - 1;
  Value subnormal = a.less(x, a.real(0x1p-1022));
  x = a.select(subnormal, a.mul(x, a.real(0x1p54)), x);
  Value shifted = a.make<arith::AddIOp>(a.bits(x), a.integer(one - rootHalf));
  // An integer below 2^52 and the exponent of 2^52 are the number 2^52 more.
  Value exponent = a.make<arith::ShRUIOp>(shifted, a.integer(52));
  exponent =
      a.number(a.make<arith::OrIOp>(exponent, a.integer(0x4330000000000000)));
  exponent = a.sub(exponent, a.real(0x1p52 + 1023));
  exponent = a.select(subnormal, a.sub(exponent, a.real(54)), exponent);
  Value bits = a.make<arith::AndIOp>(shifted, a.integer(mantissa));
  bits = a.make<arith::AddIOp>(bits, a.integer(rootHalf));
  return {exponent, a.sub(a.number(bits), a.real(1))};
}

namespace {
/// log(1 + f) = f - half + rest, with half = f^2 / 2.
struct Logarithm {
  Value half, rest;
};
} // namespace

/// By s = f / (2 + f): log(1 + f) = log(1 + s) - log(1 - s), odd in s. Off by
/// 2^-66.
static Logarithm logOfFraction(const Arithmetic &a, Value f) {
  static constexpr double terms[] = {0.6666666666666666,  0.4000000000000625,
                                     0.2857142856908583,  0.22222222646802373,
                                     0.1818177566519402,  0.15387090766411815,
                                     0.13250118028167165, 0.1325132930222103};
  Value s = a.div(f, a.add(f, a.real(2))), z = a.mul(s, s);
  Value half = a.mul(a.mul(f, f), a.real(0.5));
  Value sum = a.fma(z, a.polynomial(terms, z), half);
  return {half, a.mul(s, sum)};
}

/// `result` for finite x above 0, and what a logarithm is elsewhere.
static Value logAnywhere(const Arithmetic &a, Value x, Value result) {
  Value zero = a.real(0),
        nan = a.real(std::numeric_limits<double>::quiet_NaN());
  Value special = a.select(a.less(x, zero), nan, x); // +inf and NaN stay
  special = a.select(a.equal(x, zero), a.real(-infinity), special);
  Value regular = a.both(a.less(zero, x), a.less(x, a.real(infinity)));
  return a.select(regular, result, special);
}

/// log(x) + low.
static Value logOfSum(const Arithmetic &a, Value x, Value low) {
  auto [k, f] = split(a, x);
  auto [half, rest] = logOfFraction(a, f);
  Value small = a.mul(k, a.real(ln2Low));
  if (low)
    small = a.add(small, low);
  Value below = a.sub(a.sub(half, a.add(rest, small)), f);
  return logAnywhere(a, x, a.sub(a.mul(k, a.real(ln2High)), below));
}

Value f64::log(const Arithmetic &a, Value x) { return logOfSum(a, x, {}); }

// --- sums of two numbers ---

namespace {
/// A number to about 105 bits: high is the sum, rounded.
struct Sum {
  Value high, low;
};
} // namespace

/// Of numbers of which the first is not the smaller one (T. J. Dekker, 1971).
static Sum addOrdered(const Arithmetic &a, Value x, Value y) {
  Value sum = a.add(x, y);
  return {sum, a.sub(y, a.sub(sum, x))};
}

/// Of any numbers (D. E. Knuth).
static Sum addAny(const Arithmetic &a, Value x, Value y) {
  Value sum = a.add(x, y), second = a.sub(sum, x);
  Value first = a.sub(sum, second);
  return {sum, a.add(a.sub(x, first), a.sub(y, second))};
}

/// The upper 26 bits.
static Value upperHalf(const Arithmetic &a, Value x) {
  Value mask = a.integer(-(int64_t(1) << 27));
  return a.number(a.make<arith::AndIOp>(a.bits(x), mask));
}

/// By products of halves, since what FMA leaves is not known to be fused.
static Sum multiply(const Arithmetic &a, Value x, Value y) {
  Value product = a.mul(x, y);
  Value xHigh = upperHalf(a, x), xLow = a.sub(x, xHigh);
  Value yHigh = upperHalf(a, y), yLow = a.sub(y, yHigh);
  Value low = a.sub(a.mul(xHigh, yHigh), product);
  low = a.add(a.add(low, a.mul(xHigh, yLow)), a.mul(xLow, yHigh));
  return {product, a.add(low, a.mul(xLow, yLow))};
}

static Sum multiply(const Arithmetic &a, Sum x, Sum y) {
  Sum product = multiply(a, x.high, y.high);
  Value cross = a.add(a.mul(x.high, y.low), a.mul(x.low, y.high));
  return addOrdered(a, product.high, a.add(product.low, cross));
}

// --- functions by logarithms ---

/// What 1 + x loses, c, is c / (1 + x) of the logarithm.
Value f64::log1p(const Arithmetic &a, Value x) {
  Sum u = addAny(a, a.real(1), x);
  Value result = logOfSum(a, u.high, a.div(u.low, u.high));
  return a.withSignOf(result, x);
}

/// log(1 + f) * log2(e) with log(1 + f) in two numbers, the first of 26 bits,
/// so that powers of two are exact and neighbours of 1 accurate.
Value f64::log2(const Arithmetic &a, Value x) {
  auto [k, f] = split(a, x);
  auto [half, rest] = logOfFraction(a, f);
  Value high = upperHalf(a, a.sub(f, half));
  Value low = a.add(a.sub(a.sub(f, high), half), rest);
  Value small = a.add(a.mul(a.add(low, high), a.real(log2eLow)),
                      a.mul(low, a.real(log2eHigh)));
  Sum sum = addAny(a, k, a.mul(high, a.real(log2eHigh)));
  return logAnywhere(a, x, a.add(sum.high, a.add(sum.low, small)));
}

/// The sum of 2 s^(2i+1) / (2i+1) with s = f / (2 + f), to 2^-65 of itself:
/// the first two terms in two numbers each. Those behind are off by 2^-80.
static Sum accurateLog(const Arithmetic &a, Value x) {
  static constexpr double terms[] = {0.2,
                                     0.14285714285714188,
                                     0.11111111111145314,
                                     0.09090909084622666,
                                     0.07692308376947952,
                                     0.06666620199586724,
                                     0.058843374816676605,
                                     0.05211441926765394,
                                     0.055067297971750695};
  constexpr double third = 0x1.5555555555555p-2,
                   thirdLow = 0x1.5555555555555p-56;
  constexpr double high = 0x1.62e42fefa38p-1,
                   low = 0x1.ef35793c7673p-45; // ln 2
  auto [k, f] = split(a, x);
  Sum divisor = addOrdered(a, a.real(2), f);
  Value quotient = a.div(f, divisor.high);
  Sum product = multiply(a, quotient, divisor.high);
  Value left = a.sub(a.sub(f, product.high), product.low);
  left = a.sub(left, a.mul(quotient, divisor.low));
  Sum s{quotient, a.div(left, divisor.high)}, z = multiply(a, s, s);
  Sum factor =
      addOrdered(a, a.real(third), a.mul(z.high, a.polynomial(terms, z.high)));
  factor.low = a.add(factor.low, a.real(thirdLow));
  Sum behind = multiply(a, s, multiply(a, z, factor));
  Sum sum = addOrdered(a, s.high, behind.high);
  Value rest = a.add(sum.low, a.add(behind.low, s.low));
  Sum log = addAny(a, a.mul(k, a.real(high)), a.add(sum.high, sum.high));
  rest = a.add(a.add(rest, rest), a.mul(k, a.real(low)));
  return addOrdered(a, log.high, a.add(log.low, rest));
}

/// exp(y * log |x|), both in two numbers.
Value f64::power(const Arithmetic &a, Value x, Value y) {
  Value size = a.abs(x);
  Sum log = accurateLog(a, size);
  Value high = logAnywhere(a, size, log.high);
  // From there on the result is 0, 1 or infinite.
  y = a.clamp(y, -0x1p66, 0x1p66);
  Sum product = multiply(a, y, high);
  Value low = a.add(product.low, a.mul(y, log.low));
  Value inside = a.less(a.abs(product.high), a.real(1100));
  return expOfSum(a, product.high, a.select(inside, low, a.real(0)));
}

// --- erf ---

/// Below 1 x * P(x^2), off by 2^-62 of itself, from there on
/// 1 - exp(-x^2) * Q(1 / (x + 2)), off by 2^-60; from 6 on it is 1.
Value f64::erf(const Arithmetic &a, Value x) {
  static constexpr double small[] = {
      0.1283791670955126,     -0.3761263890318375,     0.11283791670954858,
      -0.02686617064507296,   0.00522397762478137,     -0.0008548326978765149,
      0.00012055331037551108, -1.4925593518728226e-05, 1.6460972954153765e-06,
      -1.635002619207727e-07, 1.4657883530919653e-08,  -1.136567067182716e-09,
      5.945255584223488e-11};
  static constexpr double large[] = {
      -3.130584650902345e-06, 0.5643774123806398,  1.1232651860199918,
      2.0584953069090974,     1.897470907119437,   9.88789146410272,
      -41.117887822076476,    161.22607161134312,  -510.8243340818272,
      994.788809314883,       -1153.0299470869957, 748.0159379277513,
      -212.1330630637882};
  Value size = a.clamp(a.abs(x), 0, 6), square = a.mul(size, size);
  Value near = a.fma(size, a.polynomial(small, square), size);
  Value t = a.div(a.real(1), a.add(size, a.real(2)));
  Value tail = a.mul(exp(a, a.negate(square)), a.polynomial(large, t));
  Value far = a.sub(a.real(1), tail);
  return a.withSignOf(a.select(a.less(size, a.real(1)), near, far), x);
}

// --- sin and cos ---

namespace {
/// x = quarter * pi/2 + angle, the quarter in the low bits of an integer.
struct Angle {
  Value quarter;
  Sum angle;
};
} // namespace

/// pi/2 is three numbers of 33 bits, and a rest. Products with them are exact
/// up to 2^20 quarters.
static Angle reduceAngle(const Arithmetic &a, Value x) {
  Value k = a.roundSmall(a.mul(x, a.real(0x1.45f306dc9c883p-1)));
  Value rest = a.sub(x, a.mul(k, a.real(0x1.921fb544p0)));
  Sum second = addAny(a, rest, a.mul(k, a.real(-0x1.0b4611a6p-34)));
  Sum third = addAny(a, second.high, a.mul(k, a.real(-0x1.3198a2ep-69)));
  Value low = a.add(second.low, third.low);
  low = a.fma(k, a.real(-0x1.b839a252049c1p-104), low);
  return {a.bits(a.add(k, a.real(a.magic()))), addOrdered(a, third.high, low)};
}

/// For an angle up to pi/4; off by 2^-58.
static Value sinOfAngle(const Arithmetic &a, Sum angle) {
  static constexpr double terms[] = {
      0.008333333333322413, -0.00019841269829807656, 2.7557313691825584e-06,
      -2.5050758097287613e-08, 1.5896794488889146e-10};
  auto [x, low] = angle;
  Value z = a.mul(x, x), cube = a.mul(z, x);
  Value rest =
      a.sub(a.mul(low, a.real(0.5)), a.mul(cube, a.polynomial(terms, z)));
  rest = a.sub(a.mul(z, rest), low);
  return a.sub(x, a.add(rest, a.mul(cube, a.real(0.16666666666666632))));
}

/// The same; off by 2^-64.
static Value cosOfAngle(const Arithmetic &a, Sum angle) {
  static constexpr double terms[] = {
      0.0416666666666666,      -0.001388888888887413,  2.4801587289484878e-05,
      -2.7557314352962825e-07, 2.0875723345847473e-09, -1.1359651110076647e-11};
  auto [x, low] = angle;
  Value z = a.mul(x, x), half = a.mul(z, a.real(0.5));
  Value first = a.sub(a.real(1), half);
  Value lost = a.sub(a.sub(a.real(1), first), half);
  Value rest = a.mul(z, a.mul(z, a.polynomial(terms, z)));
  return a.add(first, a.add(lost, a.sub(rest, a.mul(x, low))));
}

/// sin(x + quarters * pi/2). An angle without digits behind the point, from
/// 2^50 on, has no sine.
static Value sinOf(const Arithmetic &a, Value x, int64_t quarters) {
  Value known = a.less(a.abs(x), a.real(0x1p50));
  x = a.select(known, x, a.real(std::numeric_limits<double>::quiet_NaN()));
  Angle reduced = reduceAngle(a, x);
  Value quarter = a.make<arith::AddIOp>(reduced.quarter, a.integer(quarters));
  auto has = [&](int64_t bit) {
    Value masked = a.make<arith::AndIOp>(quarter, a.integer(bit));
    return a.below(a.integer(0), masked);
  };
  Value result = a.select(has(1), cosOfAngle(a, reduced.angle),
                          sinOfAngle(a, reduced.angle));
  return a.select(has(2), a.negate(result), result);
}

Value f64::sin(const Arithmetic &a, Value x) {
  return a.select(a.equal(x, a.real(0)), x, sinOf(a, x, 0)); // -0 too
}
Value f64::cos(const Arithmetic &a, Value x) { return sinOf(a, x, 1); }
