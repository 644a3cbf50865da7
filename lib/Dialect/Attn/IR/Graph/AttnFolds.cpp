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
} // namespace

void ScaleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<ComposeScales>(context);
}
void MaskOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ConjoinMasks>(context);
}
