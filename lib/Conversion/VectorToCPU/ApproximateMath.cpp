// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-approximate-math: math ops of score functions become arithmetic.
//
//   %y = math.tanh %x : vector<8xf32>
// becomes multiplications, additions, comparisons and one division.
//
// LLVM makes a call of the C library, lane by lane, of a math op that is no
// instruction; that would take more time than the rest of the kernel. Errors
// are measured by tests (functions.py, vector_math.py), which docs/Spec.md
// quotes. For f64 see MathF64.cpp; for f32
//   tanh       x * P(x^2) / Q(x^2), fitted for this pass
//   sin, cos   what quarters of a turn leave, exactly up to 2^18 of them, and
//              polynomials fitted for this pass
//   exp, expm1, log, log2, log1p, erf
//              polynomials of MLIR's math-polynomial-approximation
//   pow        exp(y * log |x|), so its error grows with |y * log x|
// and for both
//   rsqrt      1 / sqrt(x)
//   floor, ceil, trunc, round, roundeven
//              exact, by adding and subtracting 2^23 or 2^52; rounding is an
//              instruction only since SSE4.1
//   fma        multiply and add, fused where the processor can
//
// Before: any. After: of the math dialect, only ops that are instructions or
// bit operations everywhere, and exp2, which attn-lower-vector-math makes for
// arguments that are no larger than an exponent (score functions have the
// square of exp2(x / 2)).
#include "MathF64.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn::cpu;

/// A least-squares fit of tanh(x) / x, weighted until the largest relative
/// error was smallest: 1.7e-8 without rounding, 2.9e-7 with. It ends where it
/// first is 1 on a number of few digits, with FMA and without: 1 + tanh(x) is 0
/// from there on.
static Value tanhF32(const Arithmetic &a, Value x) {
  constexpr double end = 7.9765625;
  x = a.clamp(x, -end, end);
  Value square = a.mul(x, x);
  Value p = a.polynomial({1.0, 0.12984618544578552, 0.002991777379065752,
                          9.936063179338817e-06, -1.4895709554707537e-08,
                          2.4073708304594987e-11},
                         square);
  Value q = a.polynomial(
      {1.0, 0.4631793797016144, 0.024051804095506668, 0.00023804140801075846},
      square);
  return a.div(a.mul(p, x), q);
}

/// sin(x + quarters * pi/2). pi/2 is three numbers of 14 bits: their products
/// with multiples of 256 quarters, and with the others, are exact up to 2^18
/// quarters, with FMA and without. Where an angle is too large for that, the
/// result is still one of a sine. Least-squares fits as above, off by 3e-9.
static Value sinF32(const Arithmetic &a, Value x, int64_t quarters) {
  Value k = a.roundSmall(a.mul(x, a.real(0.6366197723675814)));
  Value many = a.mul(a.roundSmall(a.mul(k, a.real(0x1p-8))), a.real(0x1p8));
  Value few = a.sub(k, many), rest = x;
  for (double part : {0x1.9218p0, 0x1.ed5p-14, 0x1.10bp-30})
    for (Value count : {many, few})
      rest = a.fma(count, a.real(-part), rest);
  rest = a.clamp(rest, -0.82, 0.82);
  Value square = a.mul(rest, rest);
  Value sine = a.polynomial(
      {1.0, -0.1666664597015995, 0.008331725293506337, -0.0001946478813642991},
      square);
  Value cosine = a.polynomial({1.0, -0.5, 0.041666641046005246,
                               -0.0013887082713315976, 2.440600111924743e-05},
                              square);
  Value quarter = a.make<arith::AddIOp>(a.bits(a.add(k, a.real(a.magic()))),
                                        a.integer(quarters));
  auto has = [&](int64_t bit) {
    Value masked = a.make<arith::AndIOp>(quarter, a.integer(bit));
    return a.below(a.integer(0), masked);
  };
  Value result = a.select(has(1), cosine, a.mul(rest, sine));
  return a.select(has(2), a.negate(result), result);
}

static Value sinOfF32(const Arithmetic &a, Value x) { return sinF32(a, x, 0); }
static Value cosOfF32(const Arithmetic &a, Value x) { return sinF32(a, x, 1); }

static Value powerF32(const Arithmetic &a, Value x, Value y) {
  Value log = math::LogOp::create(a.b, a.loc, a.abs(x));
  return math::ExpOp::create(a.b, a.loc, a.mul(y, log));
}

/// x^y from |x|^y, as C defines it.
static Value signedPower(const Arithmetic &a, Value x, Value y, Value power) {
  Value one = a.real(1), zero = a.real(0), half = a.mul(y, a.real(0.5));
  Value nan = a.real(std::numeric_limits<double>::quiet_NaN());
  Value lowest = a.real(-std::numeric_limits<double>::infinity());
  power = a.select(a.equal(a.abs(x), one), one, power); // also to infinity
  Value whole = a.equal(y, a.roundEven(y));
  Value even = a.equal(half, a.roundEven(half));
  Value isRoot = a.both(a.less(lowest, x), a.less(x, zero));
  Value ofNegative = a.select(whole, a.select(even, power, a.negate(power)),
                              a.select(isRoot, nan, power));
  Value negative = a.less(a.withSignOf(one, x), zero); // -0 too
  Value result = a.select(negative, ofNegative, power);
  Value numbers = a.both(a.equal(x, x), a.equal(y, y));
  result = a.select(numbers, result, nan);
  result = a.select(a.equal(x, one), one, result);
  return a.select(a.equal(y, zero), one, result);
}

namespace {
using Expansion = Value (*)(const Arithmetic &, ValueRange);

/// Replaces an op by what the expansion for its type makes of its operands.
template <typename Op> struct Expand : OpRewritePattern<Op> {
  Expansion f32, f64; // may be null
  Expand(MLIRContext *context, Expansion f32, Expansion f64)
      : OpRewritePattern<Op>(context), f32(f32), f64(f64) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Arithmetic a{rewriter, op.getLoc(), op.getType(), op.getFastmath()};
    Expansion expansion = a.element().isF64()   ? f64
                          : a.element().isF32() ? f32
                                                : nullptr;
    if (!expansion)
      return rewriter.notifyMatchFailure(op, "has no expansion for its type");
    rewriter.replaceOp(op, expansion(a, op->getOperands()));
    return success();
  }
};

template <Value (*function)(const Arithmetic &, Value)>
Value ofOne(const Arithmetic &a, ValueRange x) {
  return function(a, x[0]);
}
template <Value (Arithmetic::*function)(Value) const>
Value stepOf(const Arithmetic &a, ValueRange x) {
  return (a.*function)(x[0]);
}
template <Value (*power)(const Arithmetic &, Value, Value)>
Value powerOf(const Arithmetic &a, ValueRange x) {
  return signedPower(a, x[0], x[1], power(a, x[0], x[1]));
}

/// For f32 most are MLIR's.
void addFunctions(RewritePatternSet &patterns) {
  static constexpr StringRef polynomials[] = {"math.exp",   "math.expm1",
                                              "math.log",   "math.log2",
                                              "math.log1p", "math.erf"};
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained(polynomials, name);
  });
  MLIRContext *context = patterns.getContext();
  patterns.add<Expand<math::ExpOp>>(context, nullptr, ofOne<f64::exp>);
  patterns.add<Expand<math::ExpM1Op>>(context, nullptr, ofOne<f64::expm1>);
  patterns.add<Expand<math::LogOp>>(context, nullptr, ofOne<f64::log>);
  patterns.add<Expand<math::Log2Op>>(context, nullptr, ofOne<f64::log2>);
  patterns.add<Expand<math::Log1pOp>>(context, nullptr, ofOne<f64::log1p>);
  patterns.add<Expand<math::ErfOp>>(context, nullptr, ofOne<f64::erf>);
  patterns.add<Expand<math::SinOp>>(context, ofOne<sinOfF32>, ofOne<f64::sin>);
  patterns.add<Expand<math::CosOp>>(context, ofOne<cosOfF32>, ofOne<f64::cos>);
  patterns.add<Expand<math::TanhOp>>(context, ofOne<tanhF32>, ofOne<f64::tanh>);
  patterns.add<Expand<math::PowFOp>>(context, powerOf<powerF32>,
                                     powerOf<f64::power>);
}

/// What is the same for every type.
void addSteps(RewritePatternSet &patterns) {
  auto add = [&](auto op, Expansion expansion) {
    patterns.add<Expand<decltype(op)>>(patterns.getContext(), expansion,
                                       expansion);
  };
  add(math::RoundEvenOp(), stepOf<&Arithmetic::roundEven>);
  add(math::FloorOp(), stepOf<&Arithmetic::floor>);
  add(math::CeilOp(), stepOf<&Arithmetic::ceil>);
  add(math::TruncOp(), stepOf<&Arithmetic::trunc>);
  add(math::RoundOp(), stepOf<&Arithmetic::round>);
  add(math::RsqrtOp(), [](const Arithmetic &a, ValueRange x) -> Value {
    return a.div(a.real(1), math::SqrtOp::create(a.b, a.loc, x[0]));
  });
  add(math::FmaOp(), [](const Arithmetic &a, ValueRange x) {
    return a.fma(x[0], x[1], x[2]);
  });
}

struct ApproximateMath : attn::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    // All other ops, of which a kernel has thousands, stay as they are.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    addFunctions(patterns);
    addSteps(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
