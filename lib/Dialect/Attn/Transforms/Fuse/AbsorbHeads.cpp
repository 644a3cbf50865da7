// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-absorb-heads: split_heads and merge_heads become layouts of attn.sdpa.
//
// A joined tensor (B, S, H*D) viewed as (B, S, H, D) is the same memory; only
// the textbook order (B, H, S, D) would need a copy. The kernel reads either.
//
//   %q = attn.split_heads %x into 4 : tensor<?x?x64xf32> ->
//   tensor<?x4x?x16xf32> %o = attn.sdpa %q, ... : tensor<?x4x?x16xf32> %y =
//   attn.merge_heads %o : tensor<?x4x?x16xf32> -> tensor<?x?x64xf32>
// becomes
//   %q = tensor.expand_shape %x [[0], [1], [2, 3]] : into tensor<?x?x4x16xf32>
//   %o = attn.sdpa %q, ... {query_layout = bshd, out_layout = bshd}
//   %y = tensor.collapse_shape %o [[0], [1], [2, 3]] : into tensor<?x?x64xf32>
//
// Without a batch the same with one dimension less. The queries of two maps
// share a layout, and so do their keys: both are absorbed or none.
//
// After: no attn.split_heads and no attn.merge_heads. One that no attn.sdpa
// absorbs (another op reads the heads, or the context has other uses) becomes a
// reshape and a linalg.transpose, and a remark says that a copy remains.
#include "JoinedDimensions.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ABSORBHEADS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

/// (.., H, S, D) from (.., S, H, D), or back.
static SmallVector<int64_t> swapHeadAndSequence(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> swapped(sizes);
  std::swap(swapped[sizes.size() - 3], swapped[sizes.size() - 2]);
  return swapped;
}

static Value castTo(OpBuilder &builder, Location loc, RankedTensorType type,
                    Value value) {
  return value.getType() == type
             ? value
             : tensor::CastOp::create(builder, loc, type, value).getResult();
}

/// The input of `op` as (.., S, H, D): a view, no copy.
static Value viewWithHeads(OpBuilder &builder, SplitHeadsOp op) {
  RankedTensorType joined = op.getInput().getType();
  SmallVector<int64_t> view = swapHeadAndSequence(op.getType().getShape());
  // Either type may know sizes that the other does not.
  SmallVector<int64_t> known(joined.getShape());
  for (int64_t i = 0; i + 1 < joined.getRank(); ++i)
    known[i] = view[i] = ShapedType::isDynamic(view[i]) ? known[i] : view[i];
  known.back() = view.back() * view[view.size() - 2];
  Value input =
      castTo(builder, op.getLoc(), joined.clone(known), op.getInput());
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), joined.clone(view),
                                       input, joinLastTwo(view.size()));
}

/// Makes `op` out of (.., S, H, D): a view, no copy.
static void joinHeads(IRRewriter &rewriter, MergeHeadsOp op, Value view) {
  rewriter.setInsertionPoint(op);
  int64_t rank = cast<RankedTensorType>(view.getType()).getRank();
  Value joined = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), view,
                                                 joinLastTwo(rank));
  rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), joined));
}

/// Reads the joined tensors if all of `operands`, which share a layout, are
/// heads split in the same way.
static void absorbSplits(IRRewriter &rewriter, SdpaOp sdpa,
                         ArrayRef<OpOperand *> operands, Layout layout,
                         function_ref<void(Layout)> setLayout) {
  llvm::SmallSetVector<SplitHeadsOp, 2> splits;
  for (OpOperand *operand : operands)
    splits.insert(operand->get().getDefiningOp<SplitHeadsOp>());
  SplitHeadsOp first = splits.front();
  if (layout != Layout::HeadMajor ||
      !llvm::all_of(splits, [&](SplitHeadsOp split) {
        return split && first &&
               split.getInput().getType() == first.getInput().getType();
      }))
    return;
  for (SplitHeadsOp split : splits) {
    rewriter.setInsertionPoint(split);
    Value view = viewWithHeads(rewriter, split);
    rewriter.modifyOpInPlace(sdpa, [&] {
      for (OpOperand *operand : operands)
        if (operand->get() == split.getResult())
          operand->set(view);
    });
    if (split->use_empty())
      rewriter.eraseOp(split);
  }
  rewriter.modifyOpInPlace(sdpa, [&] { setLayout(Layout::SequenceMajor); });
}

/// Writes the joined tensor if the context is only merged. (A state that is
/// returned has the layout of out, and its users know bhsd.)
static void absorbMerge(IRRewriter &rewriter, SdpaOp sdpa) {
  Value out = sdpa.getOut();
  if (sdpa.getOutLayout() != Layout::HeadMajor || out.use_empty() ||
      sdpa.getAcc() ||
      !llvm::all_of(out.getUsers(), llvm::IsaPred<MergeHeadsOp>))
    return;
  rewriter.modifyOpInPlace(sdpa, [&] {
    auto type = sdpa.getOut().getType();
    out.setType(type.clone(swapHeadAndSequence(type.getShape())));
    sdpa.setOutLayout(Layout::SequenceMajor);
  });
  for (Operation *user : llvm::make_early_inc_range(out.getUsers()))
    joinHeads(rewriter, cast<MergeHeadsOp>(user), out);
}

/// A copy of `value` with head and sequence swapped.
static Value transpose(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(order[type.getRank() - 3], order[type.getRank() - 2]);
  std::swap(sizes[type.getRank() - 3], sizes[type.getRank() - 2]);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, value, empty, order)
      .getResult()[0];
}

static void remarkCopy(Operation *op, const char *why) {
  remark::missed(
      op->getLoc(),
      remark::RemarkOpts::name("HeadsCopied").category("attn-absorb-heads"))
      << op->getName().getStringRef().str() + " copies: " + why;
}

static const char *whyCopied(SplitHeadsOp op) {
  for (Operation *user : op->getUsers())
    if (auto sdpa = dyn_cast<SdpaOp>(user); sdpa && sdpa.isDifferential())
      return "the other map of its attn.sdpa does not have heads that are "
             "split "
             "in the same way";
  return "its heads are read by an op other than attn.sdpa";
}

static void copySplit(IRRewriter &rewriter, SplitHeadsOp op) {
  remarkCopy(op, whyCopied(op));
  rewriter.setInsertionPoint(op);
  Value view = viewWithHeads(rewriter, op);
  Value heads = transpose(rewriter, op.getLoc(), view);
  rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), heads));
}

static const char *whyCopied(MergeHeadsOp op) {
  auto sdpa = op.getInput().getDefiningOp<SdpaOp>();
  if (!sdpa)
    return "its heads are not the context of an attn.sdpa";
  return sdpa.getAcc() ? "the attn.sdpa also returns its state, which has the "
                         "layout of the context"
                       : "the heads have other uses";
}

static void copyMerge(IRRewriter &rewriter, MergeHeadsOp op) {
  remarkCopy(op, whyCopied(op));
  rewriter.setInsertionPoint(op);
  joinHeads(rewriter, op, transpose(rewriter, op.getLoc(), op.getInput()));
}

static void absorb(IRRewriter &rewriter, SdpaOp op) {
  SmallVector<OpOperand *> queries{&op.getQueryMutable()},
      keys{&op.getKeyMutable()};
  if (op.isDifferential()) {
    queries.push_back(&*op.getSecondQueryMutable().begin());
    keys.push_back(&*op.getSecondKeyMutable().begin());
  }
  absorbSplits(rewriter, op, queries, op.getQueryLayout(),
               [&](Layout layout) { op.setQueryLayout(layout); });
  absorbSplits(rewriter, op, keys, op.getKeyLayout(),
               [&](Layout layout) { op.setKeyLayout(layout); });
  absorbSplits(rewriter, op, &op.getValueMutable(), op.getValueLayout(),
               [&](Layout layout) { op.setValueLayout(layout); });
  absorbMerge(rewriter, op);
}

namespace {
struct AbsorbHeads : attn::impl::AbsorbHeadsBase<AbsorbHeads> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Rewriting one op erases others, so no walk may be under way.
    forEach<SdpaOp>([&](SdpaOp op) { absorb(rewriter, op); });
    forEach<SplitHeadsOp>([&](SplitHeadsOp op) { copySplit(rewriter, op); });
    forEach<MergeHeadsOp>([&](MergeHeadsOp op) { copyMerge(rewriter, op); });
  }

  template <typename OpT> void forEach(function_ref<void(OpT)> rewrite) {
    SmallVector<OpT> ops;
    getOperation()->walk([&](OpT op) { ops.push_back(op); });
    for (OpT op : ops)
      rewrite(op);
  }
};
} // namespace
