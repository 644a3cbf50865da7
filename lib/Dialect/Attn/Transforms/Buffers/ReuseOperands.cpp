// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops, and products with an epilogue, compute in the memory of an
// operand that nothing else reads.
//
// Before:  %e = tensor.empty(%n) : tensor<?x64xf32>
//          %y = linalg.generic ins(%gate, %up) outs(%e) { .. }
// After:   %y = linalg.generic ins(%gate, %up) outs(%gate) { .. }
//
// Before:  %y = scf.forall .. shared_outs(%o = %e) {
//            %g = tensor.extract_slice %gate[%i, 0] ..
//            %part = tensor.extract_slice %o[%i, 0] ..
//            attn.project_tile .. with %g epilogue { .. } outs(%part)
// After:   %y = scf.forall .. shared_outs(%o = %gate) {
//            %part = tensor.extract_slice %o[%i, 0] ..
//            attn.project_tile .. with %part epilogue { .. } outs(%part)
//
// Bufferization writes each element where it was read, if it can, and takes new
// memory otherwise. A result that a caller gets stays apart, since it is
// computed in the caller's memory. A product does so only if its weight comes
// in panels: with a matrix it may compute columns and rows twice.
//
// Before: tensors; elementwise ops are linalg ops. After: the same.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Whether someone has memory for the value already.
static bool isPlaced(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp, tensor::InsertSliceOp,
               tensor::ParallelInsertSliceOp,
               bufferization::MaterializeInDestinationOp>(user) ||
           user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `value` has memory of its own that another tensor of `type` can take
/// over.
static bool isOwned(Value value, Type type) {
  Operation *maker = value.getDefiningOp();
  return value.getType() == type && maker &&
         !maker->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tensor::ExtractSliceOp, tensor::EmptyOp>(maker);
}

/// Whether `operand` may be overwritten by the result for `init`.
static bool fits(linalg::LinalgOp op, OpOperand &operand, OpOperand &init) {
  return isOwned(operand.get(), init.get().getType()) &&
         operand.get().hasOneUse() &&
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

// --- products ---

/// The only product of a loop that has one result, which it inserts.
static ProjectTileOp productOf(scf::ForallOp loop) {
  if (loop.getNumResults() != 1)
    return {};
  Block &yields = *loop.getTerminator().getBody();
  auto insert = llvm::hasSingleElement(yields)
                    ? dyn_cast<tensor::ParallelInsertSliceOp>(yields.front())
                    : tensor::ParallelInsertSliceOp();
  auto tile = insert ? insert.getSource().getDefiningOp<ProjectTileOp>()
                     : ProjectTileOp();
  bool inPanels =
      tile && cast<ShapedType>(tile.getWeight().getType()).getRank() == 3;
  return inPanels ? tile : ProjectTileOp();
}

static bool isSamePart(tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
  return a.getType() == b.getType() &&
         a.getMixedOffsets() == b.getMixedOffsets() &&
         a.getMixedSizes() == b.getMixedSizes() &&
         a.getMixedStrides() == b.getMixedStrides();
}

/// Whether `part`, in `loop`, is the last that reads its source: all others are
/// in front of the loop, and what they give is no part of it.
static bool isLastReader(tensor::ExtractSliceOp part, scf::ForallOp loop) {
  return llvm::all_of(part.getSource().getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == part || isa<tensor::DimOp>(user))
      return true;
    Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    bool onlyReads = user != ancestor || (isa<linalg::LinalgOp>(user) &&
                                          !destination.isDpsInit(&use));
    return onlyReads && ancestor && ancestor->isBeforeInBlock(loop);
  });
}

/// The product computes where a tensor lies that its epilogue reads.
static void reuse(scf::ForallOp loop) {
  ProjectTileOp tile = productOf(loop);
  if (!tile || isPlaced(loop->getResult(0)) ||
      !loop.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
    return;
  auto out = tile.getOut().getDefiningOp<tensor::ExtractSliceOp>();
  if (!out || out.getSource() != loop.getRegionIterArgs()[0])
    return;
  for (OpOperand &capture : tile.getCapturesMutable()) {
    auto part = capture.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!part || !part->hasOneUse() || !isSamePart(part, out) ||
        part.getSource().getParentBlock() != loop->getBlock() ||
        !isOwned(part.getSource(), loop->getResult(0).getType()) ||
        !isLastReader(part, loop))
      continue;
    loop.getOutputsMutable()[0].set(part.getSource());
    capture.set(out);
    part->erase();
    return;
  }
}

namespace {
struct ReuseOperands : attn::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) { reuse(op); });
    getOperation()->walk([](scf::ForallOp loop) { reuse(loop); });
  }
};
} // namespace
