// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses sizes that cannot be known before the kernel runs.
//
//   %n = scf.while .. ; %k = tensor.extract_slice %x[0, 0] [%n, 64] [1, 1]
//                            ^ error: 'tensor.extract_slice' op expects sizes
//                              that follow from the arguments, but got one that
//                              'scf.while' tells
//
// The work space has its size before the kernel runs. A size may be computed
// from sizes of arguments, from loop counters, and from numbers that an
// argument holds in its first element.
//
// The IR does not change. Before: the fused level, tensor.dim asks arguments
// where it can. After: the same.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_CHECKUNKNOWNSIZES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// The op that makes `size` unknown before the kernel runs; null if none does.
static Operation *unknownFrom(Value size,
                              llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (auto argument = dyn_cast<BlockArgument>(size)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    std::optional<SmallVector<Value>> counters;
    if (loop)
      counters = loop.getLoopInductionVars();
    bool counts = counters && llvm::is_contained(*counters, size);
    return isArgument(size) || counts ? nullptr : parent;
  }
  Operation *op = size.getDefiningOp();
  if (!seen.insert(op).second)
    return nullptr;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    // Ops on whole tensors have the sizes of their operands.
    Operation *maker = dim.getSource().getDefiningOp();
    return maker && isa<RegionBranchOpInterface>(maker) ? maker : nullptr;
  }
  if (auto element = dyn_cast<tensor::ExtractOp>(op)) {
    bool isFirst = llvm::all_of(element.getIndices(), [](Value index) {
      return isConstantIntValue(index, 0);
    });
    return isFirst && isArgument(element.getTensor()) ? nullptr : op;
  }
  if (op->getNumRegions() || !isPure(op))
    return op;
  for (Value operand : op->getOperands())
    if (Operation *unknown = unknownFrom(operand, seen))
      return unknown;
  return nullptr;
}

/// Sizes that `op` is told, of the tensor it makes.
static ValueRange sizesOf(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSizes();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getOutputShape();
  if (isa<tensor::EmptyOp, tensor::GenerateOp>(op))
    return op->getOperands();
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getDynamicSizes();
  return {};
}

namespace {
struct CheckUnknownSizes
    : attn::impl::CheckUnknownSizesBase<CheckUnknownSizes> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      for (Value size : sizesOf(op)) {
        llvm::SmallPtrSet<Operation *, 16> seen;
        Operation *unknown = unknownFrom(size, seen);
        if (!unknown)
          continue;
        op->emitOpError() << "expects sizes that follow from the arguments, "
                             "but got one that '"
                          << unknown->getName() << "' tells";
        return signalPassFailure();
      }
    });
  }
};
} // namespace
