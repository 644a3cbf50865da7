// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-check-dropout: refuses a function that drops weights and learns nothing.
//
//   func.func @f(%q, %k, %v, %seed) {
//     %kept = attn.dropout %weights by 0.1 seed %seed : ..
//             ^ error: 'attn.dropout' op stands in a function that learns
//               nothing, ..
//
// Dropout is for training; in a specification of inference it is a line that
// somebody forgot. A function that is to have it says so by the attribute
// `attn.dropout`.
//
// The IR does not change. Before: attn-normalize has run, which takes away
// dropouts of probability 0, and attn-differentiate, which takes away
// attn.gradient, has not.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {
#define GEN_PASS_DEF_CHECKDROPOUT
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool mayDrop(func::FuncOp function) {
  if (function->hasAttr("attn.dropout"))
    return true;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, "attn.gradient"))
      return true;
  return false;
}

namespace {
struct CheckDropout : attn::impl::CheckDropoutBase<CheckDropout> {
  void runOnOperation() override {
    if (mayDrop(getOperation()))
      return;
    getOperation()->walk([&](Operation *op) {
      auto sdpa = dyn_cast<SdpaOp>(op);
      if (!isa<DropoutOp>(op) && !(sdpa && sdpa.getSeed()))
        return;
      op->emitOpError("stands in a function that learns nothing, and drops "
                      "weights; leave dropout out for inference, or give the "
                      "function the attribute attn.dropout");
      signalPassFailure();
    });
  }
};
} // namespace
