// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-replace-empty: what has no features gets one that is 0.
//
// Before:  %out, %lse = attn.sdpa %q, %k, %v .. returning(out, lse)
//            : (tensor<2x5x0xf32>, tensor<2x7x0xf32>, tensor<2x7x8xf32>) -> ..
// After:   %q1 = linalg.fill ins(0.0) outs(tensor.empty() : tensor<2x5x1xf32>)
//          %k1 = linalg.fill ins(0.0) outs(tensor.empty() : tensor<2x7x1xf32>)
//          %out, %lse = attn.sdpa %q1, %k1, %v .. returning(out, lse)
//            : (tensor<2x5x1xf32>, tensor<2x7x1xf32>, tensor<2x7x8xf32>) -> ..
//
// A sum of no products is 0, so without features all scores are 0, and without
// features of values lse and the state are those of the scores all the same. No
// view of a tensor that is known to be empty verifies, and so no tile of it; a
// feature of 0 changes no sum. Numbers of items that are only known to be 0
// when the kernel runs need no care: loops over them have no items.
//
// A bias or a boolean mask without elements goes: there is no pair for it.
//
// A projection of no inputs is its bias, or 0. Ops of which all results are
// empty compute nothing.
//
// Before: the fused level. After: among its ops, only keys and values of an
// attn.sdpa may have a size that is known to be 0, which is their length.
#include "EmptyResults.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_REPLACEEMPTY
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static bool isKnownEmpty(Value tensor) {
  return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(),
                            0);
}

/// The size of the last dimension, which features have.
static int64_t lastSizeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape().back();
}

static Value fillWithZero(OpBuilder &b, Location loc, Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, tensor).getResult(0);
}

namespace {
/// Changes operands and results in place.
struct EmptyReplacer {
  IRRewriter &rewriter;
  Operation *op;
  SmallVector<Value> empties; ///< like the results

  EmptyReplacer(IRRewriter &rewriter, Operation *op)
      : rewriter(rewriter), op(op) {
    rewriter.setInsertionPoint(op);
  }

  /// Makes the tensors that stand for empty results.
  void makeEmpties() { empties = emptyResults(rewriter, op); }

  /// Gives an operand without features `size` of them, which are 0.
  void widenOperand(OpOperand &operand, int64_t size) {
    if (lastSizeOf(operand.get()) != 0)
      return;
    Location loc = op->getLoc();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, operand.get());
    sizes.back() = rewriter.getIndexAttr(size);
    Value wide = tensor::EmptyOp::create(
        rewriter, loc, sizes, getElementTypeOrSelf(operand.get().getType()));
    wide = fillWithZero(rewriter, loc, wide);
    rewriter.modifyOpInPlace(op, [&] { operand.set(wide); });
  }

  /// The same for a result; nothing reads what is in it.
  void widenResult(Value result, int64_t size) {
    if (!result || lastSizeOf(result) != 0)
      return;
    auto type = cast<RankedTensorType>(result.getType());
    rewriter.replaceAllUsesWith(
        result, empties[cast<OpResult>(result).getResultNumber()]);
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = size;
    rewriter.modifyOpInPlace(op, [&] { result.setType(type.clone(shape)); });
  }
};
} // namespace

/// As many as the kernels of the op's schedules need.
static int64_t leastFeatures(SdpaOp op) {
  int64_t size = 1;
  for (ScheduleInterface schedule :
       {op.getScheduleAttr(), op.getDecodeScheduleAttr()})
    if (schedule)
      size = std::max(size, schedule.getFeatureMultiple());
  return size;
}

/// A bias or a boolean mask without elements says that there is no pair, for
/// which nothing else has to be looked up either.
static void dropTablesWithoutPairs(SdpaOp op) {
  bool noPairs = op.getBias() && isKnownEmpty(op.getBias());
  for (Value operand : op.getMaskOperands())
    noPairs |= getElementTypeOrSelf(operand.getType()).isInteger(1) &&
               isKnownEmpty(operand);
  if (!noPairs)
    return;
  op.getBiasMutable().clear();
  op.getMaskOperandsMutable().clear();
  op.removeMaskAttr();
}

static void widen(EmptyReplacer &replacer, SdpaOp op) {
  int64_t size = leastFeatures(op);
  for (OpOperand *operand :
       {&op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()})
    replacer.widenOperand(*operand, size);
  for (MutableOperandRange second :
       {op.getSecondQueryMutable(), op.getSecondKeyMutable()})
    for (OpOperand &operand : second)
      replacer.widenOperand(operand, size);
  replacer.widenResult(op.getOut(), size);
  replacer.widenResult(op.getAcc(), size);
}

/// A projection of no inputs.
static void projectNothing(EmptyReplacer &replacer, ProjectOp op) {
  if (op.getWeight().getType().getDimSize(op.depthDim()) != 0)
    return;
  IRRewriter &rewriter = replacer.rewriter;
  Value out = replacer.empties[0];
  if (!op.getBias())
    return rewriter.replaceOp(op, fillWithZero(rewriter, op.getLoc(), out));
  SmallVector<int64_t> added;
  for (int64_t dim = 0; dim + 1 < op.getType().getRank(); ++dim)
    added.push_back(dim);
  rewriter.replaceOp(op, linalg::BroadcastOp::create(rewriter, op.getLoc(),
                                                     op.getBias(), out, added)
                             .getResult());
}

static void replaceEmpty(IRRewriter &rewriter, Operation *op) {
  EmptyReplacer replacer(rewriter, op);
  replacer.makeEmpties();
  if (llvm::all_of(op->getResults(), isKnownEmpty))
    return rewriter.replaceOp(op, replacer.empties);
  if (auto sdpa = dyn_cast<SdpaOp>(op)) {
    dropTablesWithoutPairs(sdpa);
    widen(replacer, sdpa);
  } else if (auto merge = dyn_cast<MergeStatesOp>(op)) {
    replacer.widenOperand(merge->getOpOperand(2), 1); // acc of each state
    replacer.widenOperand(merge->getOpOperand(5), 1);
    replacer.widenResult(merge->getResult(2), 1);
  } else if (auto finalize = dyn_cast<FinalizeStateOp>(op)) {
    replacer.widenOperand(finalize.getAccMutable(), 1);
    replacer.widenResult(finalize.getOut(), 1);
  } else if (auto project = dyn_cast<ProjectOp>(op)) {
    projectNothing(replacer, project);
  }
}

/// What is known to be empty before a cast is so behind it.
static void dropCasts(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (auto cast = operand.get().getDefiningOp<tensor::CastOp>();
        cast && isa<RankedTensorType>(cast.getSource().getType()) &&
        isKnownEmpty(cast.getSource()))
      operand.set(cast.getSource());
}

namespace {
struct ReplaceEmpty : attn::impl::ReplaceEmptyBase<ReplaceEmpty> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!isa<SdpaOp, ProjectOp, MergeStatesOp, FinalizeStateOp, RopeOp,
               RmsNormOp, LayerNormOp, ScaleOp>(op))
        return;
      if (isa<SdpaOp>(op))
        dropCasts(op);
      if ((llvm::any_of(op->getResults(), isKnownEmpty) ||
           llvm::any_of(op->getOperands(), [](Value operand) {
             return isa<RankedTensorType>(operand.getType()) &&
                    isKnownEmpty(operand);
           })))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      replaceEmpty(rewriter, op);
  }
};
} // namespace
