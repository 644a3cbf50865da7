// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-raise-heads: transposes that split or merge heads become the ops that
// say so.
//
//   %e = tensor.expand_shape %x [[0], [1], [2, 3]]      (B x S x H x D)
//   %q = linalg.transpose %e permutation = [0, 2, 1, 3] (B x H x S x D)
//   %s = attn.scores %q, ..
// becomes
//   %j = tensor.collapse_shape %e [[0], [1], [2, 3]]    (B x S x H*D)
//   %q = attn.split_heads %j into H
//   %s = attn.scores %q, ..
// and behind an attention
//   %t = linalg.transpose %out permutation = [0, 2, 1, 3] (B x S x H x D)
// becomes
//   %m = attn.merge_heads %out
//   %t = tensor.expand_shape %m [[0], [1], [2, 3]]
//
// attn-absorb-heads makes layouts of them, so that nothing is copied; reshapes
// of reshapes fold. A transpose that anything else reads as well stays, and so
// does one of an unknown number of heads.
//
// Before: attn-raise-attention has run. After: the same, with fewer transposes.
#include "JoinedDimensions.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_RAISEHEADS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The op, if all that it does is to swap heads and sequence; `head` is the
/// dimension of heads in its input, counted from the end.
static linalg::TransposeOp swapOf(Operation *op, int64_t head) {
  auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op);
  if (!transpose || !transpose.hasPureTensorSemantics())
    return {};
  auto type = cast<RankedTensorType>(transpose.getInput().getType());
  int64_t rank = type.getRank();
  if (rank < 3 || rank > 4 || type.isDynamicDim(rank - head) ||
      type.isDynamicDim(rank - 1))
    return {};
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(swapped[rank - 3], swapped[rank - 2]);
  return transpose.getPermutation() == ArrayRef(swapped)
             ? transpose
             : linalg::TransposeOp();
}

/// Sizes can be asked of any tensor.
static bool readsHeads(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<ScoresOp, tensor::DimOp>(user))
    return true;
  if (auto context = dyn_cast<ContextOp>(user))
    return &use == &context.getValueMutable();
  auto sdpa = dyn_cast<SdpaOp>(user);
  return sdpa &&
         (&use == &sdpa.getQueryMutable() || &use == &sdpa.getKeyMutable() ||
          &use == &sdpa.getValueMutable());
}

/// Whether `op` is all that reads an attention.
static bool readsAttentionAlone(linalg::TransposeOp op) {
  Value input = op.getInput();
  return isa_and_nonnull<ContextOp, SdpaOp>(input.getDefiningOp()) &&
         llvm::all_of(input.getUsers(), [&](Operation *user) {
           return user == op || isa<tensor::DimOp>(user);
         });
}

static void split(linalg::TransposeOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  Value joined = tensor::CollapseShapeOp::create(rewriter, loc, op.getInput(),
                                                 joinLastTwo(rank));
  rewriter.replaceOpWithNewOp<SplitHeadsOp>(
      op, type, joined, rewriter.getI64IntegerAttr(type.getDimSize(rank - 3)));
}

static void merge(linalg::TransposeOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.back() *= type.getDimSize(rank - 1);
  Value joined =
      MergeHeadsOp::create(rewriter, loc, type.clone(shape), op.getInput());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, joined);
  sizes.back() = rewriter.getIndexAttr(type.getDimSize(rank - 2));
  sizes.push_back(rewriter.getIndexAttr(type.getDimSize(rank - 1)));
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, joined,
                                                     joinLastTwo(rank), sizes);
}

namespace {
struct RaiseHeads : attn::impl::RaiseHeadsBase<RaiseHeads> {
  void runOnOperation() override {
    SmallVector<linalg::TransposeOp> splits, merges;
    getOperation()->walk([&](linalg::TransposeOp op) {
      if (!op->use_empty() && swapOf(op, 2) &&
          llvm::all_of(op->getUses(), readsHeads))
        splits.push_back(op);
      else if (readsAttentionAlone(op) && swapOf(op, 3))
        merges.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::TransposeOp op : splits)
      split(op, rewriter);
    for (linalg::TransposeOp op : merges)
      merge(op, rewriter);
  }
};
} // namespace
