// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-sequence-inner-loops: a parallel loop inside of another runs in order.
//
// Before:  scf.forall (%b) in (%n) { scf.forall (%h) in (8) { body } }
// After:   scf.forall (%b) in (%n) { scf.for %h = %c0 to %c8 step %c1 { body }
// }
//
// Items run on the threads of one pool, and cannot start others. Such loops
// come from a specification that has one of its own, around an attention for
// instance. The same holds for the bodies of linalg ops and of scf.parallel.
//
// Before: scf.forall on buffers. After: no scf.forall in a loop of these.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_SEQUENCEINNERLOOPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

static bool isInner(scf::ForallOp loop) {
  return loop->getParentOfType<scf::ForallOp>() ||
         loop->getParentOfType<scf::ParallelOp>() ||
         loop->getParentOfType<linalg::LinalgOp>();
}

namespace {
struct SequenceInnerLoops
    : attn::impl::SequenceInnerLoopsBase<SequenceInnerLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> inner;
    getOperation()->walk([&](scf::ForallOp loop) { // inner loops come first
      if (isInner(loop))
        inner.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : inner) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::forallToForLoop(rewriter, loop)))
        return signalPassFailure();
    }
  }
};
} // namespace
