// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tensors are read from the arguments.
//
// Before:  %sum = arith.addf %out, %q : tensor<?x64xf32>
//          %rows = tensor.dim %sum, %c0
// After:   %rows = tensor.dim %q, %c0
//
// Which sizes are the same follows from the ops (ShapeConstraints). Whoever
// asks for a size then needs no tensor: @NAME.flops computes none, and the work
// space can be sized before the kernel runs.
//
// A size that no argument has is asked of the first tensor that has it, which
// the op knows by which it comes into being: the length of past and new keys of
// their tensor.concat, and not of what is computed from that.
//
// Before: the fused level. After: tensor.dim asks arguments, or the first
// tensor that has the size.
#include "SizeFinder.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_RESOLVESIZES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct ResolveSizes : attn::impl::ResolveSizesBase<ResolveSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<tensor::DimOp> sizes;
    function.walk([&](tensor::DimOp size) {
      if (!isa<BlockArgument>(size.getSource()) && size.getConstantIndex() &&
          isa<RankedTensorType>(size.getSource().getType()))
        sizes.push_back(size);
    });
    if (sizes.empty())
      return;
    SizeFinder finder(function);
    if (finder.failed())
      return signalPassFailure();
    for (tensor::DimOp size : sizes) {
      OpBuilder b(size);
      Value known =
          finder.find(b, {size.getSource(), *size.getConstantIndex()});
      if (!known)
        continue;
      size.replaceAllUsesWith(known);
      size.erase();
    }
  }
};
} // namespace
