// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Picks the code of the operations that differ between processors.
//
// Before:  %w = math.exp2 %x : vector<16xf32>
//          %f = arith.extf %h : vector<8xbf16> to vector<8xf32>
// After:   with `scalef`: a polynomial and llvm.x86.avx512.mask.scalef.ps.512
//          without: the polynomial, and the power of two from its bits
//          %f = integer shifts
//
// Kernels are written with neutral ops (math.exp2, math.log, arith.extf,
// arith.truncf, and two of bf16 pairs below), so that the same tiles run on any
// processor: a feature that is off (all of them, with --generic-ops) costs an
// expansion into plain vector arithmetic, never a call of the C library and
// never an instruction that the processor lacks.
//
//   exp2  f32: minimax polynomial of degree 6 (Remez), 0.95 ulp on [-126, 127];
//         f64: Taylor polynomial of degree 13, 0.81 ulp. A quarter of an ulp
//         more without FMA. 0 for -inf, 1 for 0. With the flag `afn` f32 has a
//         polynomial of degree 4 with an error of 3.7e-6: results that are
//         rounded to bf16 want no more.
//   log   f32: MLIR's polynomial approximation (Cephes). f64: one step of
//         Halley's iteration from the f32 result; on [1, 2^127] 2 ulp of the
//         result, or of 1 where that is more.
//   f16   exact and rounded to nearest even, subnormals and NaN included
//         (F. Giesen, "float->half variants", 2012).
//   bf16  MLIR's expansion. (AVX512-BF16 rounds subnormals to 0.)
//   pairs vector.contract of two (lanes x 2) bf16 to lanes of f32: vdpbf16ps,
//         which takes subnormals as 0; without it two FMA, since the halves of
//         32 bits are f32 but for a shift or a mask. vector.interleave of two
//         vectors just rounded to bf16: vcvtne2ps2bf16 and one permutation.
//
// Before: any. After: no conversion that the target lacks, and no math op but
// math.roundeven beside scalef, an instruction there.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_LOWERVECTORMATH
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

namespace {
/// Arithmetic on scalars or vectors of one shape.
struct Emitter {
  OpBuilder &b;
  Location loc;
  Type shape; // a vector type, or the element

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(TypedAttr value) const {
    if (auto vector = dyn_cast<VectorType>(of(value.getType())))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, value));
    return arith::ConstantOp::create(b, loc, value);
  }
  Value real(double value) const {
    return constant(b.getFloatAttr(getElementTypeOrSelf(shape), value));
  }
  Value integer(int64_t value, unsigned width = 32) const {
    return constant(b.getIntegerAttr(b.getIntegerType(width), value));
  }
  template <typename Op> Value make(Value left, Value right) const {
    return Op::create(b, loc, left, right);
  }
  /// Fused where the processor can; math.fma would call the C library
  /// elsewhere.
  Value fma(Value a, Value x, Value c) const {
    if (isa<VectorType>(shape))
      return vector::FMAOp::create(b, loc, a, x, c);
    return LLVM::FMulAddOp::create(b, loc, a, x, c);
  }
  Value bits(Value value, unsigned width) const {
    return arith::BitcastOp::create(b, loc, of(b.getIntegerType(width)), value);
  }
  Value number(Value bits) const {
    return arith::BitcastOp::create(b, loc, shape, bits);
  }
  Value below(Value a, Value c) const { // unsigned
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, a, c);
  }
  Value select(Value condition, Value a, Value c) const {
    return arith::SelectOp::create(b, loc, condition, a, c);
  }
  /// sum c[i] x^i, by Horner's rule.
  Value polynomial(ArrayRef<double> coefficients, Value x) const {
    Value result = real(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, real(c));
    return result;
  }
};
} // namespace

/// Coefficients of 2^f on [-1/2, 1/2].
static SmallVector<double> exp2Coefficients(bool isF64, bool rough) {
  if (!isF64 && rough)
    return {1.0, 0.6931136250495911, 0.24020710587501526, 0.055976882576942444,
            0.009782912209630013};
  if (!isF64)
    return {1.0,
            0.6931471824645996,
            0.24022646248340607,
            0.05550328642129898,
            0.009618489071726799,
            0.0013399930903688073,
            0.0001534581242594868};
  SmallVector<double> taylor{1.0}; // (ln 2)^i / i!
  for (int i = 1; i <= 13; ++i)
    taylor.push_back(taylor.back() * 0.69314718055994530942 / i);
  return taylor;
}

/// 2^x = 2^k * 2^f with k = round(x) and f in [-1/2, 1/2]. Adding a large
/// number leaves k + bias in the low bits, which shifted are the number 2^k;
/// below the smallest exponent they are 0.
static Value exp2ByShift(const Emitter &e, Value input, bool rough = false) {
  bool isF64 = getElementTypeOrSelf(e.shape).isF64();
  unsigned width = isF64 ? 64 : 32, mantissa = isF64 ? 52 : 23;
  int64_t bias = isF64 ? 1023 : 127;
  Value lowest = e.real(-static_cast<double>(bias));
  Value magic = e.real(1.5 * static_cast<double>(int64_t(1) << mantissa) +
                       static_cast<double>(bias));
  Value inRange = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT,
                                        lowest, input);
  Value x = e.select(inRange, lowest, input); // NaN stays
  Value shifted = e.make<arith::AddFOp>(x, magic);
  Value whole = e.make<arith::SubFOp>(shifted, magic);
  Value fraction = e.make<arith::SubFOp>(x, whole);
  Value exponent =
      e.make<arith::ShLIOp>(e.bits(shifted, width), e.integer(mantissa, width));
  Value power = e.number(exponent);
  return e.make<arith::MulFOp>(
      e.polynomial(exp2Coefficients(isF64, rough), fraction), power);
}

/// The same with the instruction that multiplies by a power of two; it gives 0
/// where that power is 2^-inf, whatever the other factor is.
static Value exp2ByScalef(const Emitter &e, Value x, bool rough) {
  Value whole = math::RoundEvenOp::create(e.b, e.loc, x);
  Value fraction = e.make<arith::SubFOp>(x, whole);
  Value result = e.polynomial(exp2Coefficients(false, rough), fraction);
  Value all = arith::ConstantOp::create(e.b, e.loc, e.b.getI16IntegerAttr(-1));
  Value currentRounding =
      arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(4));
  auto call = LLVM::CallIntrinsicOp::create(
      e.b, e.loc, e.shape,
      StringAttr::get(e.b.getContext(), "llvm.x86.avx512.mask.scalef.ps.512"),
      ValueRange{result, whole, result, all, currentRounding});
  return call.getResult(0);
}

namespace {
struct LowerExp2 : OpConversionPattern<math::Exp2Op> {
  bool scalef;
  LowerExp2(MLIRContext *context, bool scalef)
      : OpConversionPattern(context), scalef(scalef) {}
  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e{rewriter, op.getLoc(), op.getType()};
    auto vector = dyn_cast<VectorType>(op.getType());
    bool wide = vector && vector.getElementType().isF32() &&
                vector.getShape() == ArrayRef<int64_t>{16};
    bool rough =
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    rewriter.replaceOp(op, scalef && wide
                               ? exp2ByScalef(e, adaptor.getOperand(), rough)
                               : exp2ByShift(e, adaptor.getOperand(), rough));
    return success();
  }
};

/// ln(x) = y + 2 (x - e^y) / (x + e^y) + O(d^3) for y within d of it.
struct LowerLogF64 : OpConversionPattern<math::LogOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(math::LogOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e{rewriter, op.getLoc(), op.getType()};
    Value x = adaptor.getOperand();
    Type narrow = e.of(rewriter.getF32Type());
    Value rough = arith::TruncFOp::create(rewriter, e.loc, narrow, x);
    rough = math::LogOp::create(rewriter, e.loc, rough);
    Value y = arith::ExtFOp::create(rewriter, e.loc, e.shape, rough);
    Value power =
        exp2ByShift(e, e.make<arith::MulFOp>(y, e.real(1.4426950408889634074)));
    Value difference = e.make<arith::SubFOp>(x, power);
    Value quotient =
        e.make<arith::DivFOp>(difference, e.make<arith::AddFOp>(x, power));
    rewriter.replaceOp(op, e.fma(e.real(2.0), quotient, y));
    return success();
  }
};

/// What MLIR's approximations are made of.
struct LowerFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e{rewriter, op.getLoc(), op.getType()};
    rewriter.replaceOp(op, e.fma(op.getA(), op.getB(), op.getC()));
    return success();
  }
};

struct ExpandF16ToF32 : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF16())
      return failure();
    Emitter e{rewriter, op.getLoc(), op.getType()};
    Value half = arith::BitcastOp::create(
        rewriter, e.loc, e.of(rewriter.getI16Type()), adaptor.getIn());
    Value bits = arith::ExtUIOp::create(rewriter, e.loc,
                                        e.of(rewriter.getI32Type()), half);
    Value magnitude = e.make<arith::AndIOp>(bits, e.integer(0x7fff));
    Value sign = e.make<arith::ShLIOp>(
        e.make<arith::AndIOp>(bits, e.integer(0x8000)), e.integer(16));
    // The exponents' biases differ by 112; the product is exact.
    Value shifted = e.make<arith::ShLIOp>(magnitude, e.integer(13));
    Value scaled = e.make<arith::MulFOp>(e.number(shifted), e.real(0x1p112));
    Value special = e.make<arith::OrIOp>(shifted, e.integer(0x7f800000));
    Value result = e.select(e.below(magnitude, e.integer(0x7c00)),
                            e.bits(scaled, 32), special);
    rewriter.replaceOp(op, e.number(e.make<arith::OrIOp>(result, sign)));
    return success();
  }
};

struct ExpandF32ToF16 : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    Emitter e{rewriter, op.getLoc(), adaptor.getIn().getType()};
    Value bits = e.bits(adaptor.getIn(), 32);
    Value magnitude = e.make<arith::AndIOp>(bits, e.integer(0x7fffffff));
    Value sign = e.make<arith::ShRUIOp>(
        e.make<arith::AndIOp>(bits, e.integer(int32_t(0x80000000))),
        e.integer(16));
    // Normal: round the bits that fall off to even.
    Value odd = e.make<arith::AndIOp>(
        e.make<arith::ShRUIOp>(magnitude, e.integer(13)), e.integer(1));
    constexpr int32_t rebias = -(112 << 23) + 0xfff;
    Value normal = e.make<arith::ShRUIOp>(
        e.make<arith::AddIOp>(
            e.make<arith::AddIOp>(magnitude, e.integer(rebias)), odd),
        e.integer(13));
    // Subnormal: an addition rounds at the right place.
    constexpr int32_t half = 126 << 23;
    Value added = e.make<arith::AddFOp>(e.number(magnitude), e.real(0.5));
    Value subnormal = e.make<arith::SubIOp>(e.bits(added, 32), e.integer(half));
    Value isNaN = e.below(e.integer(0x7f800000), magnitude);
    Value large = e.select(isNaN, e.integer(0x7e00), e.integer(0x7c00));
    Value result =
        e.select(e.below(magnitude, e.integer(113 << 23)), subnormal, normal);
    result = e.select(e.below(magnitude, e.integer(143 << 23)), result, large);
    Value narrow =
        arith::TruncIOp::create(rewriter, e.loc, e.of(rewriter.getI16Type()),
                                e.make<arith::OrIOp>(result, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

/// Dot products of the bf16 pairs of each lane, added to f32.
bool isPairDot(vector::ContractionOp op) {
  auto acc = dyn_cast<VectorType>(op.getAccType());
  if (!acc || acc.getRank() != 1 || !acc.getElementType().isF32() ||
      op.getKind() != vector::CombiningKind::ADD)
    return false;
  MLIRContext *context = op.getContext();
  auto pairs =
      VectorType::get({acc.getDimSize(0), 2}, BFloat16Type::get(context));
  auto both = AffineMap::getMultiDimIdentityMap(2, context),
       lane = both.getMajorSubMap(1);
  return op.getLhsType() == pairs && op.getRhsType() == pairs &&
         op.getIndexingMapsArray() == ArrayRef<AffineMap>{both, both, lane};
}

/// Whether `type` is f32 and fills a register of 128, 256 or 512 bits.
bool fillsRegister(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && vector.getElementType().isF32() &&
         llvm::is_contained({4, 8, 16}, vector.getNumElements());
}

/// Two vectors of f32 rounded to bf16, the numbers of both in turn.
bool isPairPack(vector::InterleaveOp op) {
  return llvm::all_of(op->getOperands(), [](Value half) {
    auto rounded = half.getDefiningOp<arith::TruncFOp>();
    return rounded && getElementTypeOrSelf(rounded.getType()).isBF16() &&
           fillsRegister(rounded.getIn().getType());
  });
}

/// `name` with the number of bits of the f32 vectors that it works on.
Value callBF16(OpBuilder &b, Location loc, StringRef name, VectorType f32,
               Type result, ValueRange operands) {
  std::string full =
      ("llvm.x86.avx512bf16." + name + "." + Twine(32 * f32.getNumElements()))
          .str();
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(full),
                                       operands)
      .getResult(0);
}

struct LowerPairDot : OpConversionPattern<vector::ContractionOp> {
  bool bf16;
  LowerPairDot(MLIRContext *context, bool bf16)
      : OpConversionPattern(context), bf16(bf16) {}
  LogicalResult
  matchAndRewrite(vector::ContractionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<VectorType>(op.getType());
    auto flatten = [&](Value pairs) -> Value {
      auto flat =
          VectorType::get(2 * type.getNumElements(), rewriter.getBF16Type());
      return vector::ShapeCastOp::create(rewriter, loc, flat, pairs);
    };
    Value a = flatten(adaptor.getLhs()), b = flatten(adaptor.getRhs());
    if (bf16 && fillsRegister(type)) {
      rewriter.replaceOp(op, callBF16(rewriter, loc, "dpbf16ps", type, type,
                                      {adaptor.getAcc(), a, b}));
      return success();
    }
    Emitter e{rewriter, loc, type};
    auto bits = type.clone(rewriter.getI32Type());
    a = vector::BitCastOp::create(rewriter, loc, bits, a);
    b = vector::BitCastOp::create(rewriter, loc, bits, b);
    Value shift = e.integer(16), upper = e.integer(-65536); // the upper bits
    Value x = e.number(e.make<arith::ShLIOp>(a, shift));
    Value y = e.number(e.make<arith::ShLIOp>(b, shift));
    Value sum = e.fma(x, y, adaptor.getAcc());
    x = e.number(e.make<arith::AndIOp>(a, upper));
    y = e.number(e.make<arith::AndIOp>(b, upper));
    rewriter.replaceOp(op, e.fma(x, y, sum));
    return success();
  }
};

struct LowerPairPack : OpConversionPattern<vector::InterleaveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(vector::InterleaveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto first = op.getLhs().getDefiningOp<arith::TruncFOp>(),
         second = op.getRhs().getDefiningOp<arith::TruncFOp>();
    auto type = cast<VectorType>(first.getIn().getType());
    Value halves = callBF16(rewriter, op.getLoc(), "cvtne2ps2bf16", type,
                            op.getType(), {second.getIn(), first.getIn()});
    SmallVector<int64_t> inTurn;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
      inTurn.append({lane, type.getNumElements() + lane});
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, halves, halves, inTurn);
    return success();
  }
};

struct LowerVectorMath : attn::impl::LowerVectorMathBase<LowerVectorMath> {
  using LowerVectorMathBase::LowerVectorMathBase;

  /// Whether the target has an instruction for a conversion.
  bool converts(Operation *op) const {
    Type from = getElementTypeOrSelf(op->getOperand(0)),
         to = getElementTypeOrSelf(op->getResult(0));
    if (from.isF16() || to.isF16())
      return f16;
    return !from.isBF16() && !(to.isBF16() && !bf16);
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<LowerExp2>(context, scalef);
    patterns.add<LowerPairDot>(context, bf16);
    patterns.add<LowerLogF64, LowerPairPack, ExpandF16ToF32, ExpandF32ToF16>(
        context);
    arith::populateExpandBFloat16Patterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<math::Exp2Op>();
    target.addDynamicallyLegalOp<math::LogOp>([](math::LogOp op) {
      return !getElementTypeOrSelf(op.getType()).isF64();
    });
    target.addDynamicallyLegalOp<vector::ContractionOp>(
        [](vector::ContractionOp op) { return !isPairDot(op); });
    target.addDynamicallyLegalOp<vector::InterleaveOp>(
        [&](vector::InterleaveOp op) { return !bf16 || !isPairPack(op); });
    target.addDynamicallyLegalOp<arith::ExtFOp, arith::TruncFOp>(
        [&](Operation *op) { return converts(op); });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();

    RewritePatternSet approximations(context);
    populateMathPolynomialApproximationPatterns(
        approximations, [](StringRef name) { return name == "math.log"; });
    approximations.add<LowerFma>(context);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(approximations))))
      signalPassFailure();
  }
};
} // namespace
