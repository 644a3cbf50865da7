// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds and canonical forms of the graph ops.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace attn;

/// A scale by 1 is its input.
OpFoldResult ScaleOp::fold(FoldAdaptor) {
  if (getFactor().isExactlyValue(1.0))
    return getInput();
  return {};
}

/// A dropout of nothing is its input.
OpFoldResult DropoutOp::fold(FoldAdaptor) {
  if (getProbability().isZero())
    return getWeights();
  return {};
}

namespace {
/// scale(scale(x, a), b) is scale(x, a*b), unless the inner one has other uses
/// or the product leaves the range of an f64.
struct ComposeScales : OpRewritePattern<ScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScaleOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ScaleOp>();
    if (!inner || !inner->hasOneUse())
      return failure();
    double factor =
        op.getFactor().convertToDouble() * inner.getFactor().convertToDouble();
    if (!std::isnormal(factor))
      return failure();
    rewriter.replaceOpWithNewOp<ScaleOp>(op, inner.getInput(), APFloat(factor));
    return success();
  }
};

/// mask(mask(x, a), b) is mask(x, a and b), unless the inner one has other
/// uses.
struct ConjoinMasks : OpRewritePattern<MaskOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getScores().getDefiningOp<MaskOp>();
    if (!inner || !inner->hasOneUse() ||
        !whyNotConjoin(inner.getMask(), op.getMask()).empty())
      return failure();
    SmallVector<Value> operands(inner.getMaskOperands());
    Attribute mask =
        conjoinMasks(inner.getMask(), operands.size(), op.getMask());
    llvm::append_range(operands, op.getMaskOperands());
    rewriter.replaceOpWithNewOp<MaskOp>(op, op.getType(), inner.getScores(),
                                        mask, operands);
    return success();
  }
};

/// Results of an attention, behind out, that nothing reads are not computed.
struct DropUnreadResults : OpRewritePattern<SdpaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SdpaOp op,
                                PatternRewriter &rewriter) const override {
    auto isRead = [](Value result) { return result && !result.use_empty(); };
    // Maximum, sum and acc are one state.
    bool state =
        isRead(op.getMaximum()) || isRead(op.getSum()) || isRead(op.getAcc());
    auto segments = op.getProperties().resultSegmentSizes;
    SmallVector<Value> kept{op.getOut()};
    Value others[] = {op.getLse(),     op.getWeights(), op.getScores(),
                      op.getMaximum(), op.getSum(),     op.getAcc()};
    for (auto [i, result] : llvm::enumerate(others)) {
      bool keeps = result && (i < 3 ? isRead(result) : state);
      segments[i + 1] = keeps;
      if (keeps)
        kept.push_back(result);
    }
    if (kept.size() == op->getNumResults())
      return failure();
    OperationState made(op.getLoc(), op->getName(), op->getOperands(),
                        TypeRange(ValueRange(kept)), op->getAttrs());
    made.addRegion()->takeBody(op.getScoreFunction());
    auto less = cast<SdpaOp>(rewriter.create(made));
    less.getProperties().resultSegmentSizes = segments;
    if (!less.getScores())
      less.removeScoresStageAttr();
    for (auto [from, to] : llvm::zip_equal(kept, less->getResults()))
      rewriter.replaceAllUsesWith(from, to);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void SdpaOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropUnreadResults>(context);
}
void ScaleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<ComposeScales>(context);
}
void MaskOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ConjoinMasks>(context);
}
