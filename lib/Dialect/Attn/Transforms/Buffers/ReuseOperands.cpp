// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops compute in the memory of an operand that nothing else reads.
//
// Before:  %e = tensor.empty(%n) : tensor<?x64xf32>
//          %y = linalg.generic ins(%gate, %up) outs(%e) { .. }
// After:   %y = linalg.generic ins(%gate, %up) outs(%gate) { .. }
//
// Bufferization writes each element where it was read, if it can, and takes new
// memory otherwise. A result that a caller gets stays apart, since it is
// computed in the caller's memory.
//
// Before: tensors; elementwise ops are linalg ops. After: the same.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Whether someone has memory for the value already.
static bool isPlaced(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp, tensor::InsertSliceOp,
               tensor::ParallelInsertSliceOp,
               bufferization::MaterializeInDestinationOp>(user) ||
           user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `operand` may be overwritten by the result for `init`.
static bool fits(linalg::LinalgOp op, OpOperand &operand, OpOperand &init) {
  Value value = operand.get();
  Operation *maker = value.getDefiningOp();
  return value.getType() == init.get().getType() && value.hasOneUse() &&
         maker && !maker->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tensor::ExtractSliceOp, tensor::EmptyOp>(maker) &&
         op.getMatchingIndexingMap(&operand).isIdentity() &&
         op.getMatchingIndexingMap(&init).isIdentity();
}

static void reuse(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumLoops() != op.getNumParallelLoops())
    return;
  OpOperand &init = op.getDpsInitsMutable()[0];
  auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
  if (!empty || op.payloadUsesValueFromOperand(&init) ||
      isPlaced(op->getResult(0)))
    return;
  for (OpOperand *input : op.getDpsInputOperands())
    if (fits(op, *input, init)) {
      init.set(input->get());
      if (empty->use_empty())
        empty.erase();
      return;
    }
}

namespace {
struct ReuseOperands : attn::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) { reuse(op); });
  }
};
} // namespace
