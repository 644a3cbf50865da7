// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "UnreadResults.h"

using namespace mlir;
using namespace attn;

void attn::dropUnreadResults(SdpaOp op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
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
    return;
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
}
