// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-fuse-into-sums: sums of columns compute what they add up.
//
// Before:  %b = linalg.broadcast ins(%w : tensor<?xf32>) .. dimensions = [1]
//          // %x times %b
//          %p = linalg.generic .. ins(%x, %b : tensor<?x64xf32>, ..)
//          // the sum of its rows
//          %y = linalg.generic {iterators = ["reduction", "parallel"]}
//            ins(%p) outs(%zero : tensor<64xf32>)
// After:   %y = linalg.generic {iterators = ["reduction", "parallel"]}
//            ins(%x, %w) outs(%zero)
//
// Rows of a sum along rows share a loop with what they add up anyway. Columns
// do not: loops along them stand around those over the rows, and without this
// pass all of %p is written to memory first.
//
// Only elementwise ops and broadcasts that nothing else reads are taken in. A
// transpose is not: its elements would be read one by one.
//
// Before: linalg ops on tensors. After: the same, with fewer of them.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_FUSEINTOSUMS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Whether neighbours in the result are neighbours in an input, and the op
/// reduces what lies in front of them.
static bool reducesColumns(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  AffineMap result = op.getIndexingMapsArray().back();
  if (result.getNumResults() == 0)
    return false;
  AffineExpr last = result.getResults().back();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() > 0 && map.getResults().back() == last;
  });
}

/// The first input that can be computed where it is added up.
static OpOperand *findInput(linalg::GenericOp op, IRRewriter &rewriter) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    Operation *producer = input->get().getDefiningOp();
    if (!producer || !input->get().hasOneUse())
      continue;
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(producer)) {
      rewriter.setInsertionPoint(broadcast);
      if (failed(linalg::generalizeNamedOp(rewriter, broadcast)))
        continue;
    }
    // Where a loop has its bound from the result alone, as those of sums of
    // what lies in front, MLIR would keep the producer's result beside the sum.
    if (linalg::areElementwiseOpsFusable(input) &&
        linalg::getPreservedProducerResults(
            input->get().getDefiningOp<linalg::GenericOp>(), op, input)
            .empty())
      return input;
  }
  return nullptr;
}

namespace {
struct FuseIntoSums : attn::impl::FuseIntoSumsBase<FuseIntoSums> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> sums;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (reducesColumns(op))
        sums.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : sums)
      while (OpOperand *input = findInput(op, rewriter)) {
        Operation *producer = input->get().getDefiningOp();
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::ElementwiseOpFusionResult> fused =
            linalg::fuseElementwiseOps(rewriter, input);
        if (failed(fused))
          break;
        rewriter.replaceOp(op, fused->replacements.lookup(op.getResult(0)));
        rewriter.eraseOp(producer);
        op = cast<linalg::GenericOp>(fused->fusedOp);
      }
  }
};
} // namespace
