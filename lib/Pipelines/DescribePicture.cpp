// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a picture says of tiles. They are those of the program's own attention,
// and where two schedules share it, those for many queries.
//
// Before:  func.func @f_steps(..) attributes {attn.picture = #attn.picture<..>}
// After:   the same, with query_tile = 128, key_tile = 96, bounds = "visit: ..
#include "DescribePicture.h"
#include "Explain/ExplainFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;

/// The lines of a set of tiles, as --explain has them, behind `what`.
static std::string linesOf(StringRef what, const MaskContext &context,
                           const KeySet &set) {
  std::string lines;
  if (set.parts.empty())
    return lines;
  SmallVector<StringRef> parts;
  std::string text = toString(context, set);
  StringRef(text).split(parts, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    lines += (what + ": " + part.trim() + "\n").str();
  return lines;
}

static AttentionFacts factsOfFunction(func::FuncOp function) {
  SdpaOp attention;
  function.walk([&](SdpaOp op) { attention = op; });
  return factsOf(attention, {}).front();
}

namespace {
struct DescribePicture : PassWrapper<DescribePicture, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DescribePicture)

  StringRef getArgument() const override { return "attn-describe-picture"; }

  void runOnOperation() override {
    func::FuncOp shown, steps;
    // Asking for a size leaves ops behind.
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    for (auto function : copy->getOps<func::FuncOp>())
      if (function->hasAttr(PortAttr::functionAttr) &&
          !PictureAttr::of(function))
        shown = function;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (PictureAttr::of(function))
        steps = function;
    if (!shown || !steps)
      return;
    AttentionFacts facts = factsOfFunction(shown);
    PictureAttr picture = PictureAttr::of(steps);
    const MaskContext &context = facts.ranges.context;
    std::string bounds =
        linesOf("visit", context, facts.ranges.visit) +
        linesOf("test the mask", context, facts.ranges.notFull);
    steps->setAttr(PictureAttr::functionAttr,
                   PictureAttr::get(&getContext(), picture.getPorts(),
                                    picture.getScale(),
                                    picture.getNormalization(),
                                    facts.schedule.getQueryTile(),
                                    facts.schedule.getKeyTile(), bounds));
  }
};
} // namespace

std::unique_ptr<Pass> attn::createDescribePicture() {
  return std::make_unique<DescribePicture>();
}
