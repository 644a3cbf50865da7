// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an attention and its state give has the sizes that are known.
//
// Before:  %o = attn.sdpa %q, %k, %v : (tensor<5x8xf32>, ..) -> tensor<5x?xf32>
// After:   %0 = attn.sdpa %q, %k, %v : (tensor<5x8xf32>, ..) -> tensor<5x8xf32>
//          %o = tensor.cast %0 : tensor<5x8xf32> to tensor<5x?xf32>
//
// Schedules and gradients look at the types of results.
//
// Before: attention is fused. After: the same; results of attn.sdpa and
// attn.finalize_state have no unknown size that other tensors of theirs tell.
#include "ShapeConstraints.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_REFINERESULTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static void refine(Operation *op, SizeClasses &classes) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape())
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [i, size] : llvm::enumerate(shape))
      if (int64_t known = classes.sizeOf({result, static_cast<int64_t>(i)});
          known >= 0)
        size = known;
    if (shape == type.getShape())
      continue;
    result.setType(type.clone(shape));
    Value cast = tensor::CastOp::create(b, op->getLoc(), type, result);
    result.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }
}

namespace {
struct RefineResults : attn::impl::RefineResultsBase<RefineResults> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<SdpaOp, FinalizeStateOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      // By itself: what others know is no fact where they do not run.
      SizeClasses classes;
      ShapeConstraints(classes).collect(op);
      if (!classes.failed)
        refine(op, classes);
    }
  }
};
} // namespace
