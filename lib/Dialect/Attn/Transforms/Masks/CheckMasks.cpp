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
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace attn {
#define GEN_PASS_DEF_CHECKMASKS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Numbers of queries and keys, where they are known and not 0.
struct Lengths {
  std::optional<int64_t> queries, keys;

  static std::optional<int64_t> of(RankedTensorType type, int dim) {
    int64_t size = type.getDimSize(dim);
    return size > 0 ? std::optional(size) : std::nullopt;
  }
};
} // namespace

static bool admitsNothing(Attribute mask, const Lengths &lengths) {
  MaskContext context;
  std::vector<Formula> parts{maskFormula(context, mask)};
  if (lengths.queries)
    parts.push_back(lessThan(Linear::query(), Linear(*lengths.queries)));
  if (lengths.keys)
    parts.push_back(lessThan(Linear::key(), Linear(*lengths.keys)));
  return isNeverVisible(context, allOf(parts));
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
static SmallVector<Attribute> culprits(AllOfAttr mask, const Lengths &lengths) {
  SmallVector<Attribute> needed(mask.getTerms());
  for (size_t i = 0; i < needed.size();) {
    SmallVector<Attribute> rest(needed);
    rest.erase(rest.begin() + i);
    if (!rest.empty() &&
        admitsNothing(AllOfAttr::get(mask.getContext(), rest), lengths))
      needed = rest;
    else
      ++i;
  }
  return needed;
}

static void refuse(SdpaOp op, Lengths lengths) {
  if (admitsNothing(*op.getMask(), Lengths()))
    lengths = {};
  auto text = [](std::optional<int64_t> length, StringRef many, StringRef one) {
    return length ? std::to_string(*length) + " " + many.str() : one.str();
  };
  InFlightDiagnostic error =
      op.emitOpError("has a mask that admits no pair of ")
      << text(lengths.queries, "queries", "query") << " and "
      << text(lengths.keys, "keys", "key");
  SmallVector<Attribute> terms{*op.getMask()};
  if (auto all = dyn_cast<AllOfAttr>(*op.getMask()))
    terms = culprits(all, lengths);
  error << (terms.size() > 1 ? ", because these terms contradict each other"
                             : "")
        << ": " << llvm::join(llvm::map_range(terms, describe), "; ");
}

namespace {
struct CheckMasks : attn::impl::CheckMasksBase<CheckMasks> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](SdpaOp op) {
      Lengths lengths{
          Lengths::of(op.getQuery().getType(), op.queryDims().sequence),
          Lengths::of(op.getKey().getType(), op.keyDims().sequence)};
      if (!op.getMask() || !admitsNothing(*op.getMask(), lengths))
        return WalkResult::advance();
      refuse(op, lengths);
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
