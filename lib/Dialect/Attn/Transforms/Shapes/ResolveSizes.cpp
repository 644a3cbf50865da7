// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tensors are read from the arguments.
//
// Before:  %sum = arith.addf %out, %q : tensor<?x64xf32>
//          %rows = tensor.dim %sum, %c0
// After:   %rows = tensor.dim %q, %c0
//
// Which sizes are the same follows from the ops (SizeRequirements). Whoever
// asks for a size then needs no tensor: @NAME.flops computes none, and the work
// space can be sized before the kernel runs.
//
// Before: the fused level. After: tensor.dim asks arguments, except for sizes
// that no argument has.
#include "SizeRequirements.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

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
    SizeClasses classes;
    SizeRequirements requirements(classes);
    function.walk([&](Operation *op) { requirements.collect(op); });
    if (classes.failed)
      return signalPassFailure();
    llvm::DenseMap<unsigned, Dim> arguments;
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t i = 0; i < type.getRank(); ++i)
          arguments.try_emplace(classes.find({argument, i}), Dim{argument, i});
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    for (tensor::DimOp size : sizes) {
      Dim asked{size.getSource(), *size.getConstantIndex()};
      Location loc = size.getLoc();
      Value known;
      if (int64_t value = classes.sizeOf(asked); value >= 0)
        known = arith::ConstantIndexOp::create(b, loc, value);
      else if (auto found = arguments.find(classes.find(asked));
               found != arguments.end())
        known = tensor::DimOp::create(b, loc, found->second.first,
                                      found->second.second);
      else
        continue;
      size.replaceAllUsesWith(known);
      size.erase();
    }
  }
};
} // namespace
