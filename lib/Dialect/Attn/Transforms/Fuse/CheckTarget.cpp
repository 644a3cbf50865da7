// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-check-target: refuses what the target cannot run, by name and at the op.
//
//   %o = attn.sdpa %q, %k, %v scale 1.0 : (tensor<2x4xf8E5M2>, ...
//        ^ error: 'attn.sdpa' op expects elements of f16, bf16, f32 or f64 on
//          this target, but its query has 'f8E5M2'
//
// The IR does not change. Every op is looked at, so that a user sees all
// reasons at once. Before: attn-fuse and attn-absorb-heads have run. After:
// only attn.sdpa, attn.project, attn.merge_states, attn.finalize_state and what
// attn-lower-prologue takes are left of the graph, and for the first four
//   - all float tensors are f16, bf16, f32 or f64;
//   - heads, head dimensions and the sizes of weights are static;
//   - a head has at most 1024 elements (a tile of it stays in the caches);
//   - a decode_schedule that stands alone has a row for every query;
//   - schedules, which a user may have written, have 2, 4, 8 or 16 lanes.
// Batch and sequence lengths may be unknown.
//
// The limits are those of the CPU kernels; they are the same for all targets
// that exist by now.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Dialect/Attn/Utils/VectorOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_CHECKTARGET
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

static constexpr int64_t maxHeadDim = 1024;

static LogicalResult expectElement(Operation *op, StringRef name,
                                   Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (element.isF16() || element.isBF16() || element.isF32() || element.isF64())
    return success();
  return op->emitOpError()
         << "expects elements of f16, bf16, f32 or f64 on this target, but its "
         << name << " has " << element;
}

static LogicalResult expectStatic(Operation *op, const Twine &what,
                                  Value tensor, int dim) {
  if (dim < 0 || !cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim))
    return success();
  return op->emitOpError() << "expects " << what
                           << " to be static on this target, but got "
                           << tensor.getType();
}

/// Unknown heads of queries have as many of keys, which are unknown too.
static LogicalResult expectHeads(SdpaOp op) {
  auto isOpen = [](RankedTensorType type, SdpaOp::Dims dims) {
    return dims.head >= 0 && type.isDynamicDim(dims.head);
  };
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  if (isOpen(query, op.queryDims()) == isOpen(key, op.keyDims()))
    return success();
  return op.emitOpError()
         << "expects known numbers of heads of query and key, or none that is "
            "known, on this target, but got "
         << query << " and " << key;
}

static LogicalResult expectHead(SdpaOp op, StringRef name,
                                TypedValue<RankedTensorType> tensor,
                                SdpaOp::Dims dims) {
  if (failed(expectElement(op, name, tensor)) ||
      failed(expectStatic(op, "the head dimension of its " + name, tensor,
                          dims.feature)))
    return failure();
  int64_t size = tensor.getType().getDimSize(dims.feature);
  if (size > maxHeadDim)
    return op.emitOpError()
           << "expects a head dimension of at most " << maxHeadDim
           << " on this target, but its " << name << " has " << size;
  return success();
}

/// Ops of score functions that the kernels have vector code for.
static LogicalResult expectVectorOp(SdpaOp op, Operation &inner) {
  StringRef name = inner.getName().getStringRef();
  if (!hasVectorCode(&inner))
    return op.emitOpError()
           << "expects a score function that this target has vector code for, "
              "but it has '"
           << name << "'";
  // Narrow floats are only read and converted.
  bool computes = !readsCapture(&inner) && !isa<arith::TruncFOp>(inner);
  for (Type type : inner.getResultTypes())
    if (isa<FloatType>(type) && !type.isF32() && !type.isF64() &&
        (computes || type.getIntOrFloatBitWidth() != 16))
      return op.emitOpError()
             << "expects a score function to compute in f32 or f64 on this "
                "target, but '"
             << name << "' gives " << type;
  return success();
}

/// A decode_schedule that stands alone has a row for every query, unless rows
/// are cut at documents.
static LogicalResult expectDecodeRows(SdpaOp op) {
  if (!op.getDecodeScheduleAttr() || op.getScheduleAttr() ||
      cutsRowsAtDocuments(op))
    return success();
  int64_t queries = op.getQuery().getType().getDimSize(op.queryDims().sequence),
          most = mostDecodeQueries(op);
  if (!ShapedType::isDynamic(queries) && queries <= most)
    return success();
  return op.emitOpError() << "expects at most " << most
                          << " queries per head where decode_schedule stands "
                             "alone, but got "
                          << (ShapedType::isDynamic(queries)
                                  ? std::string("an unknown number")
                                  : std::to_string(queries));
}

static LogicalResult check(SdpaOp op) {
  // The types of all other operands and results follow from these.
  if (failed(expectHeads(op)) ||
      failed(expectHead(op, "query", op.getQuery(), op.queryDims())) ||
      failed(expectHead(op, "key", op.getKey(), op.keyDims())))
    return failure();
  if (failed(expectHead(op, "value", op.getValue(), op.valueDims())))
    return failure();
  for (Operation &inner : op.getScoreFunction().getOps())
    if (failed(expectVectorOp(op, inner)))
      return failure();
  return expectDecodeRows(op);
}

static LogicalResult check(ProjectOp op) {
  return failure(failed(expectElement(op, "input", op.getInput())) ||
                 failed(expectElement(op, "weight", op.getWeight())));
}

/// The elements of a state follow from those of `out`, and are f32 or f64.
static LogicalResult check(FinalizeStateOp op) {
  return expectElement(op, "out", op.getOut());
}

static bool isStep(Operation *op) {
  return isa<ScoresOp, ScaleOp, SoftcapOp, ScoreModOp, AlibiOp, BiasOp, MaskOp,
             SoftmaxOp, SigmoidOp, SubtractWeightsOp, DropoutOp, ContextOp>(op);
}

/// Whether a context that is left depends on `op`, in the same attention; it is
/// reported instead.
static bool feedsContext(Operation *op) {
  SetVector<Operation *> dependent;
  ForwardSliceOptions sameAttention;
  sameAttention.filter = [op](Operation *other) {
    return other == op || !isa<ScoresOp>(other);
  };
  getForwardSlice(op, &dependent, sameAttention);
  return llvm::any_of(dependent, llvm::IsaPred<ContextOp>);
}

static LogicalResult refuseStep(Operation *op) {
  if (!isa<ContextOp>(op) && feedsContext(op))
    return success();
  auto reason = op->getAttrOfType<StringAttr>("attn.not_fused");
  return op->emitOpError()
         << "is not part of an attention that could be fused: "
         << (reason ? reason.getValue()
                    : StringRef("no attn.context depends on it"));
}

/// Transposes of one lane there are none, and of more than a register holds
/// they take more code than is worth it.
static LogicalResult expectLanes(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs())
    if (auto schedule = dyn_cast<CPUScheduleAttr>(attribute.getValue()))
      if (schedule.getLanes() < 2 || schedule.getLanes() > 16)
        return op->emitOpError()
               << "expects " << attribute.getName().getValue()
               << " to have 2, 4, 8 or 16 lanes on this target, but got "
               << schedule.getLanes();
  return success();
}

static LogicalResult check(Operation *op) {
  if (failed(expectLanes(op)))
    return failure();
  if (auto sdpa = dyn_cast<SdpaOp>(op))
    return check(sdpa);
  if (auto project = dyn_cast<ProjectOp>(op))
    return check(project);
  if (auto finalize = dyn_cast<FinalizeStateOp>(op))
    return check(finalize);
  if (isa<RopeOp, RmsNormOp, LayerNormOp, ScaleOp>(
          op)) // by itself a scale is arithmetic
    return expectElement(op, "input", op->getOperand(0));
  if (isStep(op))
    return refuseStep(op);
  if (isa<SplitHeadsOp, MergeHeadsOp>(op))
    return op->emitOpError()
           << "is left; run attn-absorb-heads before attn-check-target";
  return success();
}

namespace {
struct CheckTarget : attn::impl::CheckTargetBase<CheckTarget> {
  void runOnOperation() override {
    bool refused = false;
    getOperation()->walk([&](Operation *op) { refused |= failed(check(op)); });
    if (refused)
      signalPassFailure();
  }
};
} // namespace
