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
#include "ShapeConstraints.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {
#define GEN_PASS_DEF_RESOLVESIZES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Per class of sizes the first argument, else the first result, that has it.
static llvm::DenseMap<unsigned, Dim> firstOfEach(func::FuncOp function,
                                                 SizeClasses &classes) {
  llvm::DenseMap<unsigned, Dim> first;
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t i = 0; i < type.getRank(); ++i)
        first.try_emplace(classes.find({value, i}), Dim{value, i});
  };
  llvm::for_each(function.getArguments(), add);
  for (Operation &op : function.front())
    llvm::for_each(op.getResults(), add);
  return first;
}

/// Whether `tensor`, of the function's block, is there at `b`.
static bool isBefore(Value tensor, OpBuilder &b) {
  Operation *maker = tensor.getDefiningOp();
  if (!maker)
    return true;
  Operation *user =
      maker->getBlock()->findAncestorOpInBlock(*b.getInsertionPoint());
  return user && maker->isBeforeInBlock(user);
}

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
    ShapeConstraints requirements(classes);
    function.walk([&](Operation *op) { requirements.collect(op); });
    if (classes.failed)
      return signalPassFailure();
    llvm::DenseMap<unsigned, Dim> first = firstOfEach(function, classes);
    for (tensor::DimOp size : sizes) {
      OpBuilder b(size);
      Value known = resolve(b, {size.getSource(), *size.getConstantIndex()},
                            classes, first);
      size.replaceAllUsesWith(known);
      size.erase();
    }
  }

  /// The size, computed at `b`.
  static Value resolve(OpBuilder &b, Dim asked, SizeClasses &classes,
                       const llvm::DenseMap<unsigned, Dim> &first) {
    Location loc = asked.first.getLoc();
    if (int64_t size = classes.sizeOf(asked); size >= 0)
      return arith::ConstantIndexOp::create(b, loc, size);
    auto [tensor, dim] = first.lookup(classes.find(asked));
    if (!tensor || !isBefore(tensor, b)) // it comes into being in a region
      return tensor::DimOp::create(b, loc, asked.first, asked.second);
    auto joined = tensor.getDefiningOp<tensor::ConcatOp>();
    if (!joined || joined.getDim() != static_cast<uint64_t>(dim))
      return tensor::DimOp::create(b, loc, tensor, dim);
    Value sum = arith::ConstantIndexOp::create(b, loc, 0);
    for (Value input : joined.getInputs())
      sum = arith::AddIOp::create(b, loc, sum,
                                  resolve(b, {input, dim}, classes, first));
    return sum;
  }
};
} // namespace
