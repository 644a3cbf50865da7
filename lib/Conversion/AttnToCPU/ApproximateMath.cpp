// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-approximate-math: math ops of score functions become arithmetic.
//
//   %y = math.tanh %x : vector<8xf32>
// becomes multiplications, additions, comparisons and one division.
//
// LLVM makes a call of the C library, lane by lane, of a math op that is no
// instruction; that would take more time than the rest of the kernel. Errors
// are measured by test/Integration/functions.py, which docs/Spec.md quotes.
//   tanh       x * P(x^2) / Q(x^2), fitted for this pass
//   exp, expm1, log, log2, log1p, erf, sin, cos
//              polynomials of MLIR's math-polynomial-approximation
//   rsqrt      1 / sqrt(x)
//   pow        exp(y * log |x|), so its error grows with |y * log x|
//   floor, ceil, trunc, round, roundeven
//              exact, by adding and subtracting 2^23; rounding is an
//              instruction only since SSE4.1
//   fma        multiply and add, fused where the processor can
//
// Before: any. After: of the math dialect, only ops that are instructions or
// bit operations everywhere, and exp2 of differences, which is no business of
// score functions (theirs is exp(x * ln 2)).
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace attn {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

namespace {
/// Arithmetic on f32, scalars or vectors.
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  Type type;

  Value number(double value) {
    auto attribute = b.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(vector, attribute));
    return arith::ConstantOp::create(b, loc, attribute);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value withSignOf(Value x, Value sign) {
    return math::CopySignOp::create(b, loc, x, sign);
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  /// From 2^23 on every float is an integer.
  Value roundEven(Value x) {
    Value limit = number(8388608.0), magic = withSignOf(limit, x);
    Value rounded = sub(add(x, magic), magic);
    return select(less(abs(x), limit), withSignOf(rounded, x), x);
  }
  Value floor(Value x) {
    Value r = roundEven(x);
    return select(less(x, r), sub(r, number(1)), r);
  }
  Value trunc(Value x) { return withSignOf(floor(abs(x)), x); }
  Value round(Value x) { // halves away from 0
    Value size = abs(x), below = floor(size);
    Value isHalf = less(sub(size, below), number(0.5));
    return withSignOf(select(isHalf, below, add(below, number(1))), x);
  }
  /// Coefficients by increasing power.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = math::FmaOp::create(b, loc, sum, x, number(c));
    return sum;
  }
  /// A least-squares fit of tanh(x) / x, weighted until the largest relative
  /// error was smallest: 1.7e-8 without rounding, 2.9e-7 with. Where the fit
  /// ends, tanh is 1 to within an ulp. A NaN passes both comparisons.
  Value tanh(Value x) {
    Value end = number(7.90531110763549805),
          begin = number(-7.90531110763549805);
    x = select(less(end, x), end, x);
    x = select(less(x, begin), begin, x);
    Value square = mul(x, x);
    Value p =
        polynomial(square, {1.0, 0.12984618544578552, 0.002991777379065752,
                            9.936063179338817e-06, -1.4895709554707537e-08,
                            2.4073708304594987e-11});
    Value q = polynomial(square, {1.0, 0.4631793797016144, 0.024051804095506668,
                                  0.00023804140801075846});
    return arith::DivFOp::create(b, loc, mul(p, x), q);
  }
  Value power(Value x, Value y) {
    Value log = math::LogOp::create(b, loc, abs(x));
    Value r = math::ExpOp::create(b, loc, mul(y, log));
    Value whole = equal(y, roundEven(y)), half = mul(y, number(0.5));
    Value negated = select(equal(half, roundEven(half)), r,
                           arith::NegFOp::create(b, loc, r));
    Value nan = number(std::numeric_limits<float>::quiet_NaN());
    r = select(less(x, number(0)), select(whole, negated, nan), r);
    return select(equal(y, number(0)), number(1), r);
  }
};

/// Replaces an op on f32 by what `expand` makes of its operands.
template <typename Op> struct Expand : OpRewritePattern<Op> {
  using Expansion = Value (*)(Arithmetic &, ValueRange);
  Expansion expansion;
  Expand(MLIRContext *context, Expansion expansion)
      : OpRewritePattern<Op>(context), expansion(expansion) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    Arithmetic arithmetic{rewriter, op.getLoc(), type};
    rewriter.replaceOp(op, expansion(arithmetic, op->getOperands()));
    return success();
  }
};

struct ApproximateMath : attn::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    static constexpr StringRef polynomials[] = {
        "math.exp",   "math.expm1", "math.log", "math.log2",
        "math.log1p", "math.erf",   "math.sin", "math.cos"};
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(polynomials, name);
    });
    using A = Arithmetic;
    using X = ValueRange;
    patterns.add<Expand<math::TanhOp>>(context,
                                       [](A &a, X x) { return a.tanh(x[0]); });
    patterns.add<Expand<math::RoundEvenOp>>(
        context, [](A &a, X x) { return a.roundEven(x[0]); });
    patterns.add<Expand<math::FloorOp>>(
        context, [](A &a, X x) { return a.floor(x[0]); });
    patterns.add<Expand<math::CeilOp>>(context, [](A &a, X x) -> Value {
      Value negated = arith::NegFOp::create(a.b, a.loc, x[0]);
      return arith::NegFOp::create(a.b, a.loc, a.floor(negated));
    });
    patterns.add<Expand<math::TruncOp>>(
        context, [](A &a, X x) { return a.trunc(x[0]); });
    patterns.add<Expand<math::RoundOp>>(
        context, [](A &a, X x) { return a.round(x[0]); });
    patterns.add<Expand<math::PowFOp>>(
        context, [](A &a, X x) { return a.power(x[0], x[1]); });
    patterns.add<Expand<math::RsqrtOp>>(context, [](A &a, X x) -> Value {
      Value root = math::SqrtOp::create(a.b, a.loc, x[0]);
      return arith::DivFOp::create(a.b, a.loc, a.number(1), root);
    });
    patterns.add<Expand<math::FmaOp>>(context, [](A &a, X x) -> Value {
      return LLVM::FMulAddOp::create(a.b, a.loc, x[0], x[1], x[2]);
    });
    // All other ops, of which a kernel has thousands, stay as they are.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
