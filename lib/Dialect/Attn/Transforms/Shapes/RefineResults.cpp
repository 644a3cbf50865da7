// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an attention and its state give has the sizes that are known, and so has
// what a projection takes and gives.
//
// Before:  %o = attn.sdpa %q, %k, %v : (tensor<5x8xf32>, ..) -> tensor<5x?xf32>
// After:   %0 = attn.sdpa %q, %k, %v : (tensor<5x8xf32>, ..) -> tensor<5x8xf32>
//          %o = tensor.cast %0 : tensor<5x8xf32> to tensor<5x?xf32>
//
// Schedules and gradients look at the types of results; the gradient of a
// projection is projections of its operands.
//
// Before: attention is fused. After: the same; results of attn.sdpa,
// attn.finalize_state and attn.project, and operands of the last, have no
// unknown size that other tensors of theirs tell.
#include "ShapeConstraints.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_REFINERESULTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The type of `value` with the sizes that are known; null if that is its own.
static RankedTensorType refined(Value value, SizeClasses &classes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, size] : llvm::enumerate(shape))
    if (int64_t known = classes.sizeOf({value, static_cast<int64_t>(i)});
        known >= 0)
      size = known;
  return shape == type.getShape() ? RankedTensorType() : type.clone(shape);
}

static void refine(Operation *op, SizeClasses &classes) {
  OpBuilder b(op);
  if (isa<ProjectOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (RankedTensorType type = refined(operand.get(), classes))
        operand.set(
            tensor::CastOp::create(b, op->getLoc(), type, operand.get()));
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults())
    if (RankedTensorType type = refined(result, classes)) {
      Type before = result.getType();
      result.setType(type);
      Value cast = tensor::CastOp::create(b, op->getLoc(), before, result);
      result.replaceAllUsesExcept(cast, cast.getDefiningOp());
    }
}

namespace {
struct RefineResults : attn::impl::RefineResultsBase<RefineResults> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<SdpaOp, FinalizeStateOp, ProjectOp>(op))
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
