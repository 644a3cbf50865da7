// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses a mask that admits no pair, whatever the lengths and operands.
//
//   attn.sdpa .. where causal(top_left) and not causal(offset = 2)
//   ^ error: 'attn.sdpa' op has a mask that admits no pair of query and key,
//     because these terms contradict each other: causal(top_left), not ..
//
// Such a mask is a mistake of its author. The terms that are named are those
// without which the rest of the conjunction admits pairs.
//
// The IR does not change. Before: the fused level. After: the same.
#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace attn {
#define GEN_PASS_DEF_CHECKMASKS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool admitsNothing(Attribute mask) {
  MaskContext context;
  Formula formula = maskFormula(context, mask);
  return isNeverVisible(context, formula);
}

/// The formulas of the terms that the contradiction cannot do without.
static SmallVector<std::string> culprits(AllOfAttr mask) {
  SmallVector<std::string> texts;
  for (size_t i = 0; i < mask.getTerms().size(); ++i) {
    SmallVector<Attribute> rest(mask.getTerms());
    rest.erase(rest.begin() + i);
    if (admitsNothing(AllOfAttr::get(mask.getContext(), rest)))
      continue;
    MaskContext context;
    Formula term = maskFormula(context, mask.getTerms()[i]);
    texts.push_back(context.toString(term));
  }
  return texts;
}

namespace {
struct CheckMasks : attn::impl::CheckMasksBase<CheckMasks> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](SdpaOp op) {
      if (!op.getMask() || !admitsNothing(*op.getMask()))
        return WalkResult::advance();
      InFlightDiagnostic error =
          op.emitOpError("has a mask that admits no pair of query and key");
      if (auto all = dyn_cast<AllOfAttr>(*op.getMask())) {
        SmallVector<std::string> terms = culprits(all);
        if (!terms.empty())
          error << ", because these terms contradict each other: "
                << llvm::join(terms, "; ");
      }
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
