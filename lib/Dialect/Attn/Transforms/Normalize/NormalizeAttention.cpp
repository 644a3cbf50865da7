// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-normalize: brings the textbook steps to one canonical form.
//
// People write the scale of attention as a product or as a quotient, and with
// whatever their framework calls a constant tensor. After this pass it is
// always attn.scale, so that attn-fuse knows one form:
//
//   %d = arith.constant dense<8.0> : tensor<2x3xf32>
//   %s = arith.divf %scores, %d : tensor<2x3xf32>
// becomes
//   %s = attn.scale %scores by 1.250000e-01 : tensor<2x3xf32>
//
// Constant tensors are a dense splat, tensor.splat of a constant (sizes may be
// dynamic) and linalg.fill with a constant. A quotient becomes the product with
// the reciprocal, taken in f64.
//
// A scale of a joined tensor moves below attn.split_heads, where attn-fuse
// looks for it; the canonical forms of the attn ops then merge scale with scale
// and mask with mask.
//
// A linalg.softmax becomes the ops that it is made of; of numbers of 16 bits in
// f32, as sums of 16 bits lose most of a long row.
//
// An attn.mask_fn becomes an attn.mask with the term `predicate`
// (NormalizeMasks.cpp).
//
// After: no product or quotient of a float tensor with a finite constant other
// than 0 whose reciprocal is finite too where it is a divisor.
//
// Not handled: a constant divided by a tensor; factors that differ per element
// (those are no scale); constants that only fold after inlining or
// canonicalization, which therefore should run before.
#include "FloatConstant.h"
#include "NormalizeMasks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_NORMALIZEATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

/// What `op` multiplies its other operand by, and that operand.
struct ConstantProduct {
  Value input;
  double factor;
};
static std::optional<ConstantProduct> productWithConstant(Operation *op) {
  if (!isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (std::optional<double> c = floatConstant(right))
    return ConstantProduct{left, isa<arith::DivFOp>(op) ? 1.0 / *c : *c};
  if (isa<arith::MulFOp>(op))
    if (std::optional<double> c = floatConstant(left))
      return ConstantProduct{right, *c};
  return std::nullopt;
}

static void scaleFromArith(Operation *op, IRRewriter &rewriter) {
  std::optional<ConstantProduct> product = productWithConstant(op);
  // Of two constants the folder makes one; it is no scale of anything.
  if (!product || floatConstant(product->input))
    return;
  if (!std::isfinite(product->factor) || product->factor == 0) {
    remark::missed(
        op->getLoc(),
        remark::RemarkOpts::name("NotAScale").category("attn-normalize"))
        << "not a scale: the factor " +
               llvm::formatv("{0}", product->factor).str() +
               " is 0 or not finite";
    return;
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<ScaleOp>(op, product->input,
                                       APFloat(product->factor));
}

namespace {
/// split_heads(scale(x)) is scale(split_heads(x)).
struct MoveScaleBelowSplit : OpRewritePattern<SplitHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitHeadsOp op,
                                PatternRewriter &rewriter) const override {
    auto scale = op.getInput().getDefiningOp<ScaleOp>();
    if (!scale)
      return rewriter.notifyMatchFailure(op, "no scale above");
    Value heads = SplitHeadsOp::create(rewriter, op.getLoc(), op.getType(),
                                       scale.getInput(), op.getHeadsAttr());
    rewriter.replaceOpWithNewOp<ScaleOp>(op, heads, scale.getFactorAttr());
    return success();
  }
};

/// A reduction that begins with another number.
static void beginWith(PatternRewriter &rewriter, Value reduced,
                      const APFloat &number) {
  auto reduction = reduced.getDefiningOp<linalg::LinalgOp>();
  auto fill = reduction.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(fill);
  auto type = cast<FloatType>(fill.value().getType());
  Value start =
      arith::ConstantFloatOp::create(rewriter, fill.getLoc(), type, number);
  rewriter.modifyOpInPlace(fill, [&] { fill->setOperand(0, start); });
}

/// A row of -inf alone gets 0 and not NaN: its maximum counts as the lowest
/// number, from which each element is infinitely far, and its sum as the least
/// one. Next to the sum of another row, 1 or more, that one is nothing.
static void admitEmptyRows(PatternRewriter &rewriter, Value weights) {
  auto quotient = weights.getDefiningOp<linalg::LinalgOp>();
  Value powers = quotient.getDpsInputs()[0], sum = quotient.getDpsInputs()[1];
  Value maximum = powers.getDefiningOp<linalg::LinalgOp>().getDpsInputs()[1];
  const llvm::fltSemantics &kind =
      cast<FloatType>(getElementTypeOrSelf(weights)).getFloatSemantics();
  beginWith(rewriter, maximum, APFloat::getLargest(kind, /*Negative=*/true));
  beginWith(rewriter, sum, APFloat::getSmallestNormalized(kind));
}

/// linalg.softmax as maximum, exponentials, sum and quotient.
struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = dyn_cast<RankedTensorType>(op.getInputOperandType());
    if (!type || !isa<FloatType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not on tensors of floats");
    if (!type.getElementType().isF16() && !type.getElementType().isBF16()) {
      FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
      if (failed(results))
        return rewriter.notifyMatchFailure(op, "has no decomposition");
      admitEmptyRows(rewriter, results->front());
      rewriter.replaceOp(op, *results);
      return success();
    }
    auto wide = type.clone(rewriter.getF32Type());
    Value input = arith::ExtFOp::create(rewriter, loc, wide, op.getInput());
    Value out = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInput()),
        rewriter.getF32Type());
    auto softmax = linalg::SoftmaxOp::create(rewriter, loc, wide, input, out,
                                             op.getDimension());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type,
                                                 softmax.getResult()[0]);
    return success();
  }
};

struct NormalizeAttention
    : attn::impl::NormalizeAttentionBase<NormalizeAttention> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::MulFOp, arith::DivFOp>(op))
        scaleFromArith(op, rewriter);
    });
    normalizeMasks(getOperation(), rewriter);
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveScaleBelowSplit, DecomposeSoftmax>(&getContext());
    ScaleOp::getCanonicalizationPatterns(patterns, &getContext());
    MaskOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
