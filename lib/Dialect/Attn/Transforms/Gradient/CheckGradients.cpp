// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-check-gradients: refuses gradients that no kernel computes, by name and
// at the op.
//
//   %g = attn.sdpa_grad %q, %k, %v .. : (tensor<2x4xbf16>, ..
//        ^ error: 'attn.sdpa_grad' op has no kernel on this target for elements
//          that are neither f16, bf16, f32 nor f64
//
// The IR does not change. It runs only where kernels are asked for: the fused
// level with any gradient can be looked at, and evaluated by attn-reference.
// Before: attn-differentiate has run. After: attn-tile-gradients can tile every
// attn.sdpa_grad.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_CHECKGRADIENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool hasKnownSize(Value tensor, int dim) {
  return dim < 0 || !cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
}

/// What of `op` no kernel computes; empty if there is one.
static std::string whatHasNoKernel(SdpaGradOp op) {
  for (Value matrix : {op.getQuery(), op.getKey(), op.getValue()}) {
    Type element = cast<RankedTensorType>(matrix.getType()).getElementType();
    if (!element.isF16() && !element.isBF16() && !element.isF32() &&
        !element.isF64())
      return "elements that are neither f16, bf16, f32 nor f64";
  }
  HeadDims q = op.queryDims(), k = op.keyDims(), v = op.valueDims();
  if (hasKnownSize(op.getQuery(), q.head) != hasKnownSize(op.getKey(), k.head))
    return "an unknown number of heads beside a known one";
  if (!hasKnownSize(op.getQuery(), q.feature) ||
      !hasKnownSize(op.getValue(), v.feature))
    return "an unknown number of features";
  return {};
}

namespace {
struct CheckGradients : attn::impl::CheckGradientsBase<CheckGradients> {
  void runOnOperation() override {
    bool refused = false;
    getOperation()->walk([&](SdpaGradOp op) {
      std::string what = whatHasNoKernel(op);
      if (what.empty())
        return;
      op.emitOpError() << "has no kernel on this target for " << what;
      refused = true;
    });
    if (refused)
      signalPassFailure();
  }
};
} // namespace
