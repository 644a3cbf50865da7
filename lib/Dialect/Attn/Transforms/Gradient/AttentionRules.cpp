// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of attn.sdpa, and of states.
//
// The terms of a state's maximum cancel, so that the gradient of each part of
// the keys is that of plain attention with out and lse of the whole: parts need
// nothing of each other. So the rule stands at attn.finalize_state, and walks
// through the merges to the attentions.
#include "Adjoints.h"
#include "ScoreTangents.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

namespace {
/// What is known of an attention when its gradient is taken.
struct Cotangents {
  Value dOut, out, lse; ///< out and lse: null where it needs none
  Value dLse, dWeights, weights;
};
} // namespace

/// Refuses functions with an op on the way from what is learned to the score
/// whose derivative is not known.
static LogicalResult checkScoreFunction(Adjoints &adjoints, SdpaOp op) {
  Region *function = scoreFunctionOf(op);
  if (!function)
    return success();
  for (Value capture : op.getCaptures())
    if (adjoints.isActive(capture) && !isa<RankedTensorType>(capture.getType()))
      return op.emitOpError("has a score function that captures a number whose "
                            "gradient is asked for; capture the tensor");
  Operation *unknown = findUnknownPartial(*function, [&](unsigned capture) {
    return adjoints.isActive(op.getCaptures()[capture]);
  });
  if (!unknown)
    return success();
  return op.emitOpError() << "has a score function with '"
                          << unknown->getName().getStringRef()
                          << "', whose gradient is not known";
}

/// The learned operands of an attention, and what the gradient op calls them.
static SmallVector<std::pair<std::string, Value>>
learnedOperands(Adjoints &adjoints, SdpaOp op) {
  SmallVector<std::pair<std::string, Value>> learned;
  auto consider = [&](const Twine &name, Value operand) {
    if (operand && adjoints.isActive(operand))
      learned.push_back({name.str(), operand});
  };
  consider("query", op.getQuery());
  consider("key", op.getKey());
  consider("value", op.getValue());
  consider("bias", op.getBias());
  for (auto [i, capture] : llvm::enumerate(op.getCaptures()))
    consider("capture_" + Twine(i), capture);
  consider("sinks", op.getSinks());
  consider("second_query", op.getSecondQuery());
  consider("second_key", op.getSecondKey());
  consider("lambda", op.getLambda());
  return learned;
}

static LogicalResult differentiate(Adjoints &adjoints, SdpaOp op,
                                   const Cotangents &known) {
  if (failed(checkScoreFunction(adjoints, op)))
    return failure();
  OpBuilder &b = adjoints.builder;
  Type query = getElementTypeOrSelf(op.getQuery());
  Type statistics = query.isF64() ? query : b.getF32Type();
  SmallVector<Attribute> wrt;
  SmallVector<Type> types;
  auto learned = learnedOperands(adjoints, op);
  if (learned.empty()) // a part of the keys that is constant
    return success();
  for (auto &[name, operand] : learned) {
    bool own = StringRef(name).ends_with("query") ||
               StringRef(name).ends_with("key") || name == "value";
    auto type = cast<RankedTensorType>(operand.getType());
    wrt.push_back(b.getStringAttr(name));
    types.push_back(own ? type : type.clone(statistics));
  }
  auto layout = [&](Layout which) {
    return LayoutAttr::get(b.getContext(), which);
  };
  auto grad = SdpaGradOp::create(
      b, op.getLoc(), types, op.getQuery(), op.getKey(), op.getValue(),
      op.getBias(), op.getMaskOperands(), op.getCaptures(), op.getSinks(),
      op.getSecondQuery(), op.getSecondKey(), op.getLambda(), op.getSeed(),
      known.out, known.lse, known.weights, known.dOut, known.dLse,
      known.dWeights, b.getArrayAttr(wrt), op.getScaleAttr(), op.getMaskAttr(),
      op.getDropoutAttr(), layout(op.getQueryLayout()),
      layout(op.getKeyLayout()), layout(op.getValueLayout()),
      layout(op.getOutLayout()), op.getNormalizationAttr(),
      /*schedule=*/ScheduleInterface());
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&grad.getScoreFunction(), mapping);
  for (auto [named, gradient] : llvm::zip(learned, grad.getGradients()))
    adjoints.add(named.second, gradient);
  return success();
}

/// The cotangent of an out, in the type of the value.
static Value ofOut(Adjoints &adjoints, Value out, Value value) {
  return adjoints.castElements(adjoints.orZeros(out),
                               getElementTypeOrSelf(value));
}

static LogicalResult follow(Adjoints &adjoints, SdpaOp op) {
  if (op.getScores() && adjoints.asAdded(op.getScores()))
    return op.emitOpError("has no gradient through its scores; those of out, "
                          "lse and weights are known");
  for (Value state : {op.getMaximum(), op.getSum(), op.getAcc()})
    if (state && adjoints.asAdded(state))
      return op.emitOpError("has no gradient through its state, except "
                            "through attn.finalize_state");
  bool needs = !op.isSigmoid() && !op.isDifferential();
  if (needs && op.getAcc())
    return op.emitOpError("has no gradient through its out where its state is "
                          "a result, too");
  Cotangents known;
  known.dOut = ofOut(adjoints, op.getOut(), op.getValue());
  if (needs) {
    known.out = op.getOut();
    known.lse = op.getLse();
    known.dLse = adjoints.of(op.getLse());
  }
  if (op.getWeights())
    known.dWeights = adjoints.of(op.getWeights());
  if (known.dWeights && needs)
    known.weights = op.getWeights();
  return differentiate(adjoints, op, known);
}

namespace {
/// The three tensors of a state.
struct State {
  Value maximum, sum, acc;

  bool operator==(const State &other) const {
    return maximum == other.maximum && sum == other.sum && acc == other.acc;
  }
};
} // namespace

/// The attentions over parts of the keys that a state is made of.
static LogicalResult collectParts(FinalizeStateOp op, const State &state,
                                  SmallVectorImpl<SdpaOp> &parts) {
  auto merge = state.acc.getDefiningOp<MergeStatesOp>();
  if (merge &&
      state == State{merge.getMaximum(), merge.getSum(), merge.getAcc()}) {
    State first{merge.getFirstMaximum(), merge.getFirstSum(),
                merge.getFirstAcc()},
        second{merge.getSecondMaximum(), merge.getSecondSum(),
               merge.getSecondAcc()};
    return success(succeeded(collectParts(op, first, parts)) &&
                   succeeded(collectParts(op, second, parts)));
  }
  auto part = state.acc.getDefiningOp<SdpaOp>();
  if (!part ||
      !(state == State{part.getMaximum(), part.getSum(), part.getAcc()}))
    return op.emitOpError("has no gradient, because its state is not of "
                          "attn.sdpa and attn.merge_states alone");
  parts.push_back(part);
  return success();
}

static LogicalResult follow(Adjoints &adjoints, FinalizeStateOp op) {
  SmallVector<SdpaOp> parts;
  if (failed(
          collectParts(op, {op.getMaximum(), op.getSum(), op.getAcc()}, parts)))
    return failure();
  Value dLse = adjoints.of(op.getLse());
  for (SdpaOp part : parts) {
    Cotangents known;
    known.dOut = ofOut(adjoints, op.getOut(), part.getValue());
    known.out = op.getOut();
    known.lse = op.getLse();
    known.dLse = dLse;
    if (failed(differentiate(adjoints, part, known)))
      return failure();
  }
  return success();
}

Ruled attn::followAttention(Adjoints &adjoints, Operation *op) {
  if (auto sdpa = dyn_cast<SdpaOp>(op))
    return follow(adjoints, sdpa);
  if (auto finalize = dyn_cast<FinalizeStateOp>(op))
    return follow(adjoints, finalize);
  if (isa<MergeStatesOp>(op))
    return op->emitOpError("has no gradient, except through "
                           "attn.finalize_state");
  return std::nullopt;
}

// --- residuals ---

static RankedTensorType lseType(SdpaOp op) {
  Type query = getElementTypeOrSelf(op.getQuery());
  Type element = query.isF64() ? query : Float32Type::get(op.getContext());
  SmallVector<int64_t> shape = op.scoresShape();
  shape.pop_back();
  return RankedTensorType::get(shape, element);
}

/// The same op with a result more, after out.
template <typename Op> static void returnLse(Op op, RankedTensorType type) {
  OpBuilder b(op);
  OperationState state(op.getLoc(), op->getName(), op->getOperands(), {},
                       op->getAttrs());
  state.types.push_back(op->getResult(0).getType());
  state.types.push_back(type);
  llvm::append_range(state.types, TypeRange(op->getResultTypes()).drop_front());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *made = b.create(state);
  if constexpr (std::is_same_v<Op, SdpaOp>)
    cast<SdpaOp>(made).getProperties().resultSegmentSizes[1] = 1;
  op->getResult(0).replaceAllUsesWith(made->getResult(0));
  for (unsigned i = 1; i < op->getNumResults(); ++i)
    op->getResult(i).replaceAllUsesWith(made->getResult(i + 1));
  op->erase();
}

/// Rounds the first result of `op` behind it, instead of in it.
static void roundBehind(Operation *op) {
  Value out = op->getResult(0);
  auto type = cast<RankedTensorType>(out.getType());
  if (type.getElementTypeBitWidth() != 16)
    return;
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  out.setType(type.clone(b.getF32Type()));
  auto rounded = arith::TruncFOp::create(b, op->getLoc(), type, out);
  out.replaceAllUsesExcept(rounded, rounded);
}

void attn::returnResiduals(Operation *function, bool isRounded) {
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    auto sdpa = dyn_cast<SdpaOp>(op);
    auto finalize = dyn_cast<FinalizeStateOp>(op);
    bool needs =
        sdpa ? !sdpa.getAcc() && !sdpa.isSigmoid() && !sdpa.isDifferential()
             : static_cast<bool>(finalize);
    if (!needs)
      continue;
    if (!isRounded)
      roundBehind(op);
    if (sdpa && !sdpa.getLse())
      returnLse(sdpa, lseType(sdpa));
    else if (finalize && !finalize.getLse())
      returnLse(finalize, finalize.getMaximum().getType());
  }
}
