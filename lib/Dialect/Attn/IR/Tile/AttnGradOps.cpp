// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the tile ops of gradients. Numbers are those of
// docs/SpecTiles.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

LogicalResult
GradStateType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t,
                      int64_t, int64_t, Type element) {
  if (!element.isF32() && !element.isF64())
    return emitError() << "expects a state of f32 or f64, but got " << element;
  return success();
}

/// Lanes hold queries, and products are of single numbers.
static LogicalResult expectPrefill(Operation *op, ScheduleInterface schedule) {
  if (schedule.getKind() == Kind::Prefill && !schedule.usesDot())
    return success();
  return op->emitOpError("expects a schedule of kind prefill with products = "
                         "fma");
}

/// One number per row, in the state's type.
static LogicalResult expectRow(Operation *op, StringRef name, Value value,
                               Type element) {
  auto type = cast<ShapedType>(value.getType());
  if (type.getRank() == 1 && type.getElementType() == element)
    return success();
  return op->emitOpError() << "expects " << name
                           << " to have rank 1 and elements of " << element
                           << ", but got " << type;
}

LogicalResult InitGradOp::verify() {
  GradStateType state = getState().getType();
  if (failed(expectMatrix(*this, "the query tile", getQuery(),
                          state.getKeyDim())) || // C1
      failed(expectMatrix(*this, "out", getOut(),
                          state.getValueDim())) || // C1
      failed(expectMatrix(*this, "the cotangent of out", getDOut(),
                          state.getValueDim())) ||                     // C1
      failed(expectRow(*this, "lse", getLse(), state.getElement())) || // C2
      (getDLse() && failed(expectRow(*this, "the cotangent of lse", getDLse(),
                                     state.getElement())))) // C2
    return failure();
  return expectPrefill(*this, getSchedule()); // C3
}
void InitGradOp::getEffects(Effects &effects) {
  tileEffects(*this, MutableOperandRange(*this, 0, 0), effects);
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

bool GradStepOp::isLearned(unsigned capture) {
  std::string name = "capture_" + std::to_string(capture);
  return getBy() && llvm::any_of(getBy()->getAsRange<StringAttr>(),
                                 [&](StringAttr by) { return by == name; });
}

/// C7: the function, with a derivative by the score and by each read.
static LogicalResult verifyDerivatives(GradStepOp op, Type element) {
  OperandRange captures = op.getCaptures();
  unsigned derivatives = 0;
  if (Region *function = scoreFunctionOf(op)) {
    if (captures.size() < 2 || !captures[0].getType().isIndex() ||
        !captures[1].getType().isIndex())
      return op.emitOpError("expects a score function of a batch entry and a "
                            "head, both of type index");
    captures = captures.drop_front(2);
    derivatives = 1;
    for (Operation &inner : function->getOps())
      derivatives += readsLearned(
          &inner, [&](unsigned capture) { return op.isLearned(capture); });
  }
  return verifyScoreFunction(op, captures.getTypes(), element, derivatives);
}

/// C10
static LogicalResult verifyCotangents(GradStepOp op, Type element) {
  if (!op.getDWeights())
    return success();
  auto type = cast<ShapedType>(op.getDWeights().getType());
  if (type.getRank() == 2 && type.getElementType() == element)
    return success();
  return op.emitOpError() << "expects cotangents of weights to be a matrix of "
                          << element << ", but got " << type;
}

/// C8: what else is added up.
static LogicalResult verifySums(GradStepOp op, Type element) {
  auto by = op.getBy() ? *op.getBy()
                       : ArrayAttr::get(op.getContext(), ArrayRef<Attribute>());
  bool scaled = !by.empty() || op.getDWeights();
  if (by.size() != op.getSums().size() || scaled != op.getScale().has_value())
    return op.emitOpError()
           << "expects a name per sum, and a scale where there "
              "are any, or cotangents of weights";
  for (auto [name, sum] :
       llvm::zip(by.getAsRange<StringAttr>(), op.getSums())) {
    StringRef number = name;
    unsigned capture;
    auto type = cast<ShapedType>(sum.getType());
    int64_t rank = -1;
    if (name == "bias" && op.getBias())
      rank = 2;
    else if (number.consume_front("capture_") &&
             !number.getAsInteger(10, capture) &&
             capture + 2 < op.getCaptures().size())
      if (auto of =
              dyn_cast<ShapedType>(op.getCaptures()[capture + 2].getType()))
        rank = of.getRank();
    if (type.getRank() != rank || type.getElementType() != element)
      return op.emitOpError()
             << "expects sums by the bias, of rank 2, and by captured tensors, "
                "of their rank, with elements of "
             << element << ", but got '" << name.getValue() << "' of " << type;
  }
  return success();
}

LogicalResult GradStepOp::verify() {
  GradStateType state = getState().getType();
  std::tuple<StringRef, Value, int64_t> matrices[] = {
      {"the key tile", getKey(), state.getKeyDim()},
      {"the value tile", getValue(), state.getValueDim()},
      {"the query tile", getQuery(), state.getKeyDim()},
      {"the cotangent of out", getDOut(), state.getValueDim()},
      {"the gradient by keys", getDKey(), state.getKeyDim()},
      {"the gradient by values", getDValue(), state.getValueDim()}};
  for (auto [name, matrix, columns] : matrices) // C1
    if (failed(expectMatrix(*this, name, matrix, columns)))
      return failure();
  if (!getMask() && !getMaskOperands().empty()) // C2
    return emitOpError("expects a mask where there are mask operands");
  int64_t any = ShapedType::kDynamic;
  auto emitError = [&] { return emitOpError(); };
  if (getMask() &&
      (failed(verifyMask(emitError, *getMask(), getMaskOperands().getTypes(),
                         {any, any})) ||
       failed(verifyItemMask(emitError, *getMask())))) // C2
    return failure();
  if (getBias() && cast<ShapedType>(getBias().getType()).getRank() > 2) // C3
    return emitOpError() << "expects the bias to have at most rank 2, but got "
                         << getBias().getType();
  for (Value sum : {getDKey(), getDValue()}) // C4
    if (cast<ShapedType>(sum.getType()).getElementType() != state.getElement())
      return emitOpError() << "expects gradients by keys and values of the "
                              "state's type "
                           << state.getElement() << ", but got "
                           << sum.getType();
  if (failed(verifyTileDropout(*this)) ||                     // C9
      failed(verifyDerivatives(*this, state.getElement())) || // C7
      failed(verifySums(*this, state.getElement())) ||        // C8
      failed(verifyCotangents(*this, state.getElement())))    // C10
    return failure();
  return expectPrefill(*this, getSchedule()); // C5
}
MutableOperandRange GradStepOp::getDpsInitsMutable() {
  unsigned count = 2 + getSums().size();
  return MutableOperandRange(*this, getNumOperands() - count, count);
}
/// It reads and writes the state, and adds to its destinations.
void GradStepOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
  effects.emplace_back(MemoryEffects::Read::get(), &getStateMutable(),
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getStateMutable(),
                       SideEffects::DefaultResource::get());
}

LogicalResult FinishGradOp::verify() {
  if (failed(expectMatrix(*this, "the gradient by queries", getDQuery(),
                          getState().getType().getKeyDim()))) // C1
    return failure();
  return expectPrefill(*this, getSchedule()); // C2
}
MutableOperandRange FinishGradOp::getDpsInitsMutable() {
  return getDQueryMutable();
}
void FinishGradOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
  effects.emplace_back(MemoryEffects::Read::get(), &getStateMutable(),
                       SideEffects::DefaultResource::get());
}
