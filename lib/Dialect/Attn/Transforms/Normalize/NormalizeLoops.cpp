// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-normalize-loops: parallel loops of a specification begin at 0.
//
// Before:  scf.forall (%i) = (2) to (%n) step (3) { use(%i) }
// After:   %count = ceil((max(%n, 2) - 2) / 3)
//          scf.forall (%j) in (%count) {
//            %i = affine.apply %j * 3 + 2
//            use(%i)
//          }
//
// Later passes make such loops too, and number items from 0. A bound that is
// not known becomes at least 0: a loop of -2 times -3 items has none.
//
// Before: any. After: every scf.forall is normalized, and runs a number of
// times that is not negative.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace attn {
#define GEN_PASS_DEF_NORMALIZELOOPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// The larger one of two bounds.
static OpFoldResult larger(OpBuilder &b, Location loc, OpFoldResult x,
                           OpFoldResult y) {
  std::optional<int64_t> left = getConstantIntValue(x),
                         right = getConstantIntValue(y);
  if (left && right)
    return b.getIndexAttr(std::max(*left, *right));
  return arith::MaxSIOp::create(b, loc,
                                getValueOrCreateConstantIndexOp(b, loc, x),
                                getValueOrCreateConstantIndexOp(b, loc, y))
      .getResult();
}

/// An upper bound below the lower one means the same as one that equals it.
static void raiseUpperBounds(IRRewriter &rewriter, scf::ForallOp loop) {
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> upper;
  for (auto [from, to] :
       llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound()))
    upper.push_back(larger(rewriter, loop.getLoc(), from, to));
  SmallVector<Value> dynamic;
  SmallVector<int64_t> fixed;
  dispatchIndexOpFoldResults(upper, dynamic, fixed);
  rewriter.modifyOpInPlace(loop, [&] {
    loop.getDynamicUpperBoundMutable().assign(dynamic);
    loop.setStaticUpperBound(fixed);
  });
}

namespace {
struct NormalizeLoops : attn::impl::NormalizeLoopsBase<NormalizeLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops) {
      raiseUpperBounds(rewriter, loop);
      rewriter.setInsertionPoint(loop);
      if (failed(normalizeForallOp(rewriter, loop)))
        return signalPassFailure();
    }
  }
};
} // namespace
