// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-heads-to-batch: an unknown number of heads becomes a batch of one head.
//
// A kernel is made for a number of heads. Where queries, keys and values are
// (H, S, D) and H is unknown, they may as well be entries of a batch, whose
// size a call may choose: that is what (batch, words, features) means.
//
// Before:  %o = attn.sdpa %q, %k, %v : (tensor<?x?x16xf32>, ..)
// After:   %q4 = tensor.expand_shape %q [[0, 1], [2], [3]] .. into
//            tensor<?x1x?x16xf32>
//          %o4 = attn.sdpa %q4, %k4, %v4 : (tensor<?x1x?x16xf32>, ..)
//          %o = tensor.collapse_shape %o4 [[0, 1], [2], [3]]
//
// Biases and matrices of pairs get the dimension, too, and score functions see
// the batch entry for the head. Rows and numbers of a mask are those of the
// leading dimension as before. There are as many key heads as query heads then.
//
// Not where a head is more than a place: sinks, lambdas, the counter of a
// dropout; nor with a state, nor in the layout bshd, where heads do not lead.
// Such ops keep their heads, which attn-check-target refuses.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace attn {
#define GEN_PASS_DEF_HEADSTOBATCH
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Whether its heads are unknown, and nothing but places.
static bool isOpen(SdpaOp op) {
  if (op.getQuery().getType().getRank() != 3 || op.getSinks() ||
      op.isDifferential() || op.getSeed() || op.getAcc() ||
      op.getScheduleAttr() || op.getDecodeScheduleAttr())
    return false;
  auto leads = [](RankedTensorType type, SdpaOp::Dims dims) {
    return dims.head == 0 && type.isDynamicDim(0);
  };
  return leads(op.getQuery().getType(), op.queryDims()) &&
         leads(op.getKey().getType(), op.keyDims()) &&
         leads(op.getValue().getType(), op.valueDims()) &&
         leads(op.getOut().getType(), op.outDims());
}

/// With a dimension of 1 behind the first one.
static RankedTensorType withHead(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 1, 1);
  return RankedTensorType::get(shape, type.getElementType());
}

/// [[0, 1], [2], ..]: the dimensions of a tensor of rank `rank` as one less.
static SmallVector<ReassociationIndices> joinedDims(int64_t rank) {
  SmallVector<ReassociationIndices> all{{0, 1}};
  for (int64_t dim = 2; dim < rank; ++dim)
    all.push_back({dim});
  return all;
}

/// The operands that have heads.
static SmallVector<OpOperand *> ofHeads(SdpaOp op) {
  llvm::SmallPtrSet<OpOperand *, 4> captures;
  for (OpOperand &capture : op.getCapturesMutable())
    captures.insert(&capture);
  SmallVector<OpOperand *> found;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (type && type.getRank() == 3 && !captures.contains(&operand))
      found.push_back(&operand);
  }
  return found;
}

static void toBatch(SdpaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  for (OpOperand *operand : ofHeads(op)) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, loc, operand->get());
    sizes.insert(sizes.begin() + 1, b.getIndexAttr(1));
    auto type = cast<RankedTensorType>(operand->get().getType());
    operand->set(tensor::ExpandShapeOp::create(
        b, loc, withHead(type), operand->get(), joinedDims(4), sizes));
  }
  if (Region *function = scoreFunctionOf(op)) {
    Block &block = function->front();
    block.getArgument(ScoreArgument::Head)
        .replaceAllUsesWith(block.getArgument(ScoreArgument::Batch));
  }
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(withHead(type));
    auto joined = tensor::CollapseShapeOp::create(
        b, loc, type, result, joinedDims(type.getRank() + 1));
    result.replaceAllUsesExcept(joined, joined);
  }
}

namespace {
struct HeadsToBatch : attn::impl::HeadsToBatchBase<HeadsToBatch> {
  void runOnOperation() override {
    getOperation()->walk([](SdpaOp op) {
      if (isOpen(op))
        toBatch(op);
    });
  }
};
} // namespace
