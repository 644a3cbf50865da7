// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Picks the code of the operations that differ between processors.
//
// Before:  %w = math.exp2 %x : vector<16xf32>
//          %f = arith.extf %h : vector<8xbf16> to vector<8xf32>
// After:   with `scalef`: a polynomial and llvm.x86.avx512.mask.scalef.ps.512
//          without: the polynomial, and the power of two from its bits
//          %f = integer shifts
//
// Kernels are written with neutral ops (math.exp2, arith.extf, arith.truncf,
// and two of bf16 pairs below), so that the same tiles run on any processor: a
// feature that is off (all of them, with --generic-ops) costs an expansion into
// plain vector arithmetic, never a call of the C library and never an
// instruction that the processor lacks.
//
//   exp2  f32: minimax polynomial of degree 5 that is 1 at 0, 2.0 ulp on
//         [-126, 127] (one of degree 6 has 0.95 and takes 2 % of attention's
//         time, while errors of its sums are larger); f64: Taylor polynomial of
//         degree 13, 0.81 ulp. A quarter of an ulp more without FMA. 0 for
//         -inf, 1 for 0. With the flag `afn` f32 has a polynomial of degree 4
//         with an error of 2.9e-6: results that are rounded to bf16 want no
//         more.
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
#include "attn/Conversion/VectorToCPU/Arithmetic.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_LOWERVECTORMATH
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using attn::cpu::Arithmetic;

/// Coefficients of 2^f on [-1/2, 1/2].
static SmallVector<double> exp2Coefficients(bool isF64, bool rough) {
  if (!isF64 && rough)
    return {1.0, 0.6931241750717163, 0.24024099111557007, 0.055906426161527634,
            0.009582852944731712};
  if (!isF64)
    return {1.0,
            0.6931470036506653,
            0.24022242426872253,
            0.05550733581185341,
            0.009671512991189957,
            0.001326472731307149};
  SmallVector<double> taylor{1.0}; // (ln 2)^i / i!
  for (int i = 1; i <= 13; ++i)
    taylor.push_back(taylor.back() * 0.69314718055994530942 / i);
  return taylor;
}

/// 2^x = 2^k * 2^f with k = round(x) and f in [-1/2, 1/2]; below the smallest
/// exponent 2^k is 0.
static Value exp2ByShift(const Arithmetic &a, Value input, bool rough) {
  Value lowest = a.real(-static_cast<double>(a.bias()));
  Value x = a.larger(lowest, input); // NaN stays
  Value offset = a.real(a.exponentOffset());
  Value shifted = a.add(x, offset), whole = a.sub(shifted, offset);
  Value fraction = a.sub(x, whole), power = a.powerFrom(shifted);
  auto coefficients = exp2Coefficients(a.element().isF64(), rough);
  return a.mul(a.polynomial(coefficients, fraction), power);
}

/// The same with the instruction that multiplies by a power of two; it gives 0
/// where that power is 2^-inf, whatever the other factor is.
static Value exp2ByScalef(const Arithmetic &a, Value x, bool rough) {
  Value whole = math::RoundEvenOp::create(a.b, a.loc, x);
  Value fraction = a.sub(x, whole);
  Value result = a.polynomial(exp2Coefficients(false, rough), fraction);
  Value all = arith::ConstantOp::create(a.b, a.loc, a.b.getI16IntegerAttr(-1));
  Value currentRounding =
      arith::ConstantOp::create(a.b, a.loc, a.b.getI32IntegerAttr(4));
  auto call = LLVM::CallIntrinsicOp::create(
      a.b, a.loc, a.shape,
      StringAttr::get(a.b.getContext(), "llvm.x86.avx512.mask.scalef.ps.512"),
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
    Arithmetic a{rewriter, op.getLoc(), op.getType()};
    auto vector = dyn_cast<VectorType>(op.getType());
    bool wide = vector && vector.getElementType().isF32() &&
                vector.getShape() == ArrayRef<int64_t>{16};
    bool rough =
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    rewriter.replaceOp(op, scalef && wide
                               ? exp2ByScalef(a, adaptor.getOperand(), rough)
                               : exp2ByShift(a, adaptor.getOperand(), rough));
    return success();
  }
};

/// The bits of a number without its sign, and the sign alone.
struct SignedBits {
  Value magnitude, sign;
  SignedBits(const Arithmetic &a, Value bits, int32_t signBit)
      : magnitude(a.make<arith::AndIOp>(bits, a.integer(~signBit))),
        sign(a.make<arith::AndIOp>(bits, a.integer(signBit))) {}
};

/// `half` holds the 16 bits of f16.
Value expandF16ToF32(const Arithmetic &a, Value half) {
  Value bits = arith::ExtUIOp::create(a.b, a.loc, a.of(a.b.getI32Type()), half);
  SignedBits parts(a, bits, 0x8000);
  // The exponents' biases differ by 112; the product is exact.
  Value shifted = a.make<arith::ShLIOp>(parts.magnitude, a.integer(13));
  Value scaled = a.mul(a.number(shifted), a.real(0x1p112));
  Value special = a.make<arith::OrIOp>(shifted, a.integer(0x7f800000));
  Value result = a.select(a.below(parts.magnitude, a.integer(0x7c00)),
                          a.bits(scaled), special);
  Value sign = a.make<arith::ShLIOp>(parts.sign, a.integer(16));
  return a.number(a.make<arith::OrIOp>(result, sign));
}

/// The 16 bits of f16.
Value expandF32ToF16(const Arithmetic &a, Value number) {
  auto [magnitude, sign] =
      SignedBits(a, a.bits(number), std::numeric_limits<int32_t>::min());
  // Normal: round the bits that fall off to even.
  Value odd = a.make<arith::AndIOp>(
      a.make<arith::ShRUIOp>(magnitude, a.integer(13)), a.integer(1));
  constexpr int32_t rebias = -(112 << 23) + 0xfff;
  Value normal = a.make<arith::ShRUIOp>(
      a.make<arith::AddIOp>(a.make<arith::AddIOp>(magnitude, a.integer(rebias)),
                            odd),
      a.integer(13));
  // Subnormal: an addition rounds at the right place.
  constexpr int32_t half = 126 << 23;
  Value added = a.add(a.number(magnitude), a.real(0.5));
  Value subnormal = a.make<arith::SubIOp>(a.bits(added), a.integer(half));
  Value isNaN = a.below(a.integer(0x7f800000), magnitude);
  Value large = a.select(isNaN, a.integer(0x7e00), a.integer(0x7c00));
  Value result =
      a.select(a.below(magnitude, a.integer(113 << 23)), subnormal, normal);
  result = a.select(a.below(magnitude, a.integer(143 << 23)), result, large);
  sign = a.make<arith::ShRUIOp>(sign, a.integer(16));
  return arith::TruncIOp::create(a.b, a.loc, a.of(a.b.getI16Type()),
                                 a.make<arith::OrIOp>(result, sign));
}

struct LowerExtF16 : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF16())
      return failure();
    Arithmetic a{rewriter, op.getLoc(), op.getType()};
    Value half = arith::BitcastOp::create(
        rewriter, a.loc, a.of(rewriter.getI16Type()), adaptor.getIn());
    rewriter.replaceOp(op, expandF16ToF32(a, half));
    return success();
  }
};

struct LowerTruncF16 : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    Arithmetic a{rewriter, op.getLoc(), adaptor.getIn().getType()};
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(
        op, op.getType(), expandF32ToF16(a, adaptor.getIn()));
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

/// Two vectors of f32 rounded to bf16, interleaved.
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
    Value left = flatten(adaptor.getLhs()), right = flatten(adaptor.getRhs());
    if (bf16 && fillsRegister(type)) {
      rewriter.replaceOp(op, callBF16(rewriter, loc, "dpbf16ps", type, type,
                                      {adaptor.getAcc(), left, right}));
      return success();
    }
    Arithmetic a{rewriter, loc, type};
    auto bits = type.clone(rewriter.getI32Type());
    left = vector::BitCastOp::create(rewriter, loc, bits, left);
    right = vector::BitCastOp::create(rewriter, loc, bits, right);
    Value shift = a.integer(16), upper = a.integer(-65536); // the upper bits
    Value x = a.number(a.make<arith::ShLIOp>(left, shift));
    Value y = a.number(a.make<arith::ShLIOp>(right, shift));
    Value sum = a.fma(x, y, adaptor.getAcc());
    x = a.number(a.make<arith::AndIOp>(left, upper));
    y = a.number(a.make<arith::AndIOp>(right, upper));
    rewriter.replaceOp(op, a.fma(x, y, sum));
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
    SmallVector<int64_t> interleaved;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
      interleaved.append({lane, type.getNumElements() + lane});
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, halves, halves,
                                                   interleaved);
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
    patterns.add<LowerPairPack, LowerExtF16, LowerTruncF16>(context);
    arith::populateExpandBFloat16Patterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<math::Exp2Op>();
    target.addDynamicallyLegalOp<vector::ContractionOp>(
        [](vector::ContractionOp op) { return !isPairDot(op); });
    target.addDynamicallyLegalOp<vector::InterleaveOp>(
        [&](vector::InterleaveOp op) { return !bf16 || !isPairPack(op); });
    target.addDynamicallyLegalOp<arith::ExtFOp, arith::TruncFOp>(
        [&](Operation *op) { return converts(op); });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
