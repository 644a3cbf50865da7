// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses a mask that admits no pair, whatever the lengths and operands.
//
//   attn.sdpa .. where causal(top_left) and not causal(offset = 2)
//   ^ error: 'attn.sdpa' op has a mask that admits no pair of query and key,
//     because these terms contradict each other: causal (k <= q); not causal
//     (k >= q + 3)
//
// Such a mask is a mistake of its author. The terms that are named admit
// nothing together, and something without any one of them.
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

/// `window`, `not causal`, `and`.
static std::string nameOf(Attribute term) {
  if (auto negation = dyn_cast<NotAttr>(term))
    return "not " + nameOf(negation.getTerm());
  if (isa<AllOfAttr>(term))
    return "and";
  if (isa<AnyOfAttr>(term))
    return "or";
  return term.getAbstractAttribute().getName().split('.').second.str();
}

static std::string describe(Attribute term) {
  MaskContext context;
  Formula formula = maskFormula(context, term);
  return nameOf(term) + " (" + context.toString(formula) + ")";
}

/// Terms that admit nothing together, of which none can be left out.
static SmallVector<Attribute> culprits(AllOfAttr mask) {
  SmallVector<Attribute> needed(mask.getTerms());
  for (size_t i = 0; i < needed.size();) {
    SmallVector<Attribute> rest(needed);
    rest.erase(rest.begin() + i);
    if (!rest.empty() && admitsNothing(AllOfAttr::get(mask.getContext(), rest)))
      needed = rest;
    else
      ++i;
  }
  return needed;
}

namespace {
struct CheckMasks : attn::impl::CheckMasksBase<CheckMasks> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](SdpaOp op) {
      if (!op.getMask() || !admitsNothing(*op.getMask()))
        return WalkResult::advance();
      InFlightDiagnostic error =
          op.emitOpError("has a mask that admits no pair of query and key");
      SmallVector<Attribute> terms{*op.getMask()};
      if (auto all = dyn_cast<AllOfAttr>(*op.getMask()))
        terms = culprits(all);
      error << (terms.size() > 1 ? ", because these terms contradict each other"
                                 : "")
            << ": " << llvm::join(llvm::map_range(terms, describe), "; ");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
