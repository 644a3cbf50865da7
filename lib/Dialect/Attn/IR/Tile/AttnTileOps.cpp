// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers and effects of the tile ops. Numbers are those of
// docs/SpecTiles.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void attn::tileEffects(Operation *op, MutableOperandRange inits,
                       Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    for (OpOperand &init : inits)
      if (&init == &operand)
        effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult attn::expectMatrix(Operation *op, StringRef name, Value value,
                                 int64_t columns) {
  auto type = cast<ShapedType>(value.getType());
  if (type.getRank() != 2 ||
      (!ShapedType::isDynamic(columns) && type.getDimSize(1) != columns))
    return op->emitOpError()
           << "expects " << name << " to be a matrix of "
           << (ShapedType::isDynamic(columns) ? std::string("any number of")
                                              : std::to_string(columns))
           << " columns, but got " << type;
  return success();
}

static LogicalResult verifyTileMask(Operation *op,
                                    std::optional<Attribute> mask,
                                    OperandRange operands) {
  if (!mask)
    return operands.empty()
               ? success()
               : op->emitOpError(
                     "expects a mask where there are mask operands");
  int64_t any = ShapedType::kDynamic;
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(verifyMask(emitError, *mask, operands.getTypes(), {any, any})))
    return failure();
  return verifyItemMask(emitError, *mask); // C16 of attn.online, C10 of weigh
}

static LogicalResult verifyTileBias(Operation *op, Value bias) {
  if (bias && cast<ShapedType>(bias.getType()).getRank() > 2)
    return op->emitOpError()
           << "expects the bias to have at most rank 2, but got "
           << bias.getType();
  return success();
}

LogicalResult attn::expectKind(Operation *op, StateType state,
                               ScheduleInterface schedule) {
  if (state.getKind() == schedule.getKind())
    return success();
  return op->emitOpError() << "expects a schedule of the state's kind "
                           << stringifyKind(state.getKind()) << ", but got "
                           << stringifyKind(schedule.getKind());
}

/// Products of pairs are those of bf16, summed in f32, and become weights by
/// softmax.
static LogicalResult expectPairsOf(Operation *op, StateType state,
                                   ScheduleInterface schedule,
                                   ValueRange tiles) {
  bool holdsPairs = state.getElement().isF32() &&
                    state.getNormalization() == Normalization::Softmax;
  if (schedule.usesDot() && !holdsPairs)
    return op->emitOpError() << "expects a state of f32 by softmax for "
                                "products = "
                             << stringifyProducts(schedule.getProducts())
                             << ", but got " << state;
  if (failed(expectWholePairs(op, schedule, state.getKeyDim(),
                              state.getValueDim())))
    return failure();
  return expectPairs(op, schedule, tiles);
}

/// The score function of a tile op, whose first captures are the batch entry
/// and the head.
template <typename TileOp>
static LogicalResult verifyTileScoreFunction(TileOp op) {
  OperandRange captures = op.getCaptures();
  if (scoreFunctionOf(op)) {
    if (captures.size() < 2 || !captures[0].getType().isIndex() ||
        !captures[1].getType().isIndex())
      return op.emitOpError("expects a score function of a batch entry and a "
                            "head, both of type index");
    captures = captures.drop_front(2);
  }
  return verifyScoreFunction(op, captures.getTypes(),
                             op.getState().getType().getElement());
}

LogicalResult InitStateOp::verify() {
  auto state = getState().getType();
  auto query = cast<ShapedType>(getQuery().getType());
  if (query.getRank() == 3 && getSchedule().runsInBlocks()) { // C5
    if (state.getKind() != Kind::Decode ||
        query.getDimSize(2) != state.getKeyDim())
      return emitOpError() << "expects queries of several heads only in kind "
                              "decode, with "
                           << state.getKeyDim() << " features, but got "
                           << query;
    return expectKind(*this, state, getSchedule()); // C3
  }
  if (failed(expectMatrix(*this, "the query tile", getQuery(),
                          state.getKeyDim()))) // C1
    return failure();
  if (!query.isDynamicDim(0) && query.getDimSize(0) > state.getRows()) // C2
    return emitOpError() << "expects at most " << state.getRows()
                         << " queries in the tile, but got "
                         << query.getDimSize(0);
  if (failed(expectKind(*this, state, getSchedule()))) // C3
    return failure();
  return expectPairsOf(*this, state, getSchedule(), getQuery()); // C4
}
/// A state is used up by the next step, so that two equal ones are not the
/// same: it is memory of its own.
void InitStateOp::getEffects(Effects &effects) {
  tileEffects(*this, MutableOperandRange(*this, 0, 0), effects);
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

LogicalResult OnlineOp::verify() {
  auto state = getState().getType(); // C1 is the trait AllTypesMatch.
  if (failed(expectMatrix(*this, "the key tile", getKey(),
                          state.getKeyDim())) || // C2
      failed(expectMatrix(*this, "the value tile", getValue(),
                          state.getValueDim()))) // C3
    return failure();
  if (failed(verifyTileMask(*this, getMask(), getMaskOperands()))) // C4
    return failure();
  int64_t keys = cast<ShapedType>(getKey().getType()).getDimSize(0),
          values = cast<ShapedType>(getValue().getType()).getDimSize(0);
  if (keys != values && !ShapedType::isDynamic(keys) &&
      !ShapedType::isDynamic(values)) // C5
    return emitOpError()
           << "expects as many keys as values in the tile, but got " << keys
           << " and " << values;
  if (failed(verifyTileBias(*this, getBias()))) // C6
    return failure();
  if (getHeads() < 1) // C7
    return emitOpError() << "expects at least 1 head, but got "
                         << static_cast<int64_t>(getHeads());
  if (failed(expectKind(*this, state, getSchedule())) || // C8
      failed(expectPairsOf(*this, state, getSchedule(),
                           {getKey(), getValue()})) || // C10
      failed(verifySecondMap(*this)))                  // C11 to C14
    return failure();
  for (Value matrix : getPrefetch()) { // C15
    auto type = cast<ShapedType>(matrix.getType());
    if (type.getRank() != 2 || type.isDynamicDim(1))
      return emitOpError("expects a matrix with a known number of columns "
                         "behind 'prefetch', but got ")
             << type;
  }
  if (failed(verifyTileDropout(*this))) // C17
    return failure();
  if (getDropout() &&
      (state.getKind() != Kind::Prefill || getSchedule().usesDot())) // C17
    return emitOpError("expects a dropout only with a state of kind prefill "
                       "and products = fma");
  if (!getPrefetch().empty() && state.getKind() != Kind::Prefill) // C15
    return emitOpError("expects 'prefetch' only with a state of kind prefill");
  return verifyTileScoreFunction(*this); // C9
}
void OnlineOp::getEffects(Effects &effects) {
  tileEffects(*this, MutableOperandRange(*this, 0, 0), effects);
}

LogicalResult AddSinkOp::verify() {
  if (getState().getType().getNormalization() != Normalization::Softmax) // C3
    return emitOpError("expects a state by softmax, which has a sum");
  Type element = getState().getType().getElement();
  if (getSink().getType() != element) // C2; C1 is the trait AllTypesMatch.
    return emitOpError() << "expects a sink of the state's type " << element
                         << ", but got " << getSink().getType();
  return success();
}

LogicalResult FinalizeOp::verify() {
  if (failed(expectMatrix(*this, "out", getOut(),
                          getState().getType().getValueDim()))) // C1
    return failure();
  if (getLse() && cast<ShapedType>(getLse().getType()).getRank() != 1) // C2
    return emitOpError() << "expects lse to have rank 1, but got "
                         << getLse().getType();
  if (getLse() &&
      getState().getType().getNormalization() != Normalization::Softmax) // C5
    return emitOpError("expects no lse of a state by sigmoid, which has no "
                       "sum");
  // C3 is the destination-style interface.
  return expectKind(*this, getState().getType(), getSchedule()); // C4
}
MutableOperandRange FinalizeOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 1, getLse() ? 2 : 1);
}
void FinalizeOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult SaveStateOp::verify() {
  StateType state = getState().getType();
  if (failed(expectMatrix(*this, "the part", getPart(),
                          state.getValueDim() + 2))) // C1
    return failure();
  Type element = cast<ShapedType>(getPart().getType()).getElementType();
  if (element != state.getElement()) // C2
    return emitOpError() << "expects a part of the state's "
                         << state.getElement() << ", but got " << element;
  if (state.getNormalization() != Normalization::Softmax) // C5
    return emitOpError("expects a state by softmax, which has maximum and sum");
  // C3 is the destination-style interface.
  return expectKind(*this, state, getSchedule()); // C4
}
MutableOperandRange SaveStateOp::getDpsInitsMutable() {
  return getPartMutable();
}
void SaveStateOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult attn::expectParts(Operation *op, ShapedType parts) {
  if (parts.getRank() == 3 && !parts.isDynamicDim(2))
    return success();
  return op->emitOpError()
         << "expects parts of rank 3 with value_dim + 2 columns, but got "
         << parts;
}

LogicalResult CombineOp::verify() {
  auto parts = cast<ShapedType>(getParts().getType());
  if (failed(expectParts(*this, parts))) // C1
    return failure();
  if (failed(expectMatrix(*this, "out", getOut(),
                          parts.getDimSize(2) - 2))) // C2
    return failure();
  int64_t rows = parts.getDimSize(1),
          outRows = cast<ShapedType>(getOut().getType()).getDimSize(0);
  if (rows != outRows && !ShapedType::isDynamic(rows) &&
      !ShapedType::isDynamic(outRows)) // C2
    return emitOpError()
           << "expects a row of out per row of the parts, but got " << outRows
           << " and " << rows;
  if (getLse() && cast<ShapedType>(getLse().getType()).getRank() != 1) // C3
    return emitOpError() << "expects lse to have rank 1, but got "
                         << getLse().getType();
  if (getSink() && getSink().getType() != parts.getElementType()) // C5
    return emitOpError() << "expects a sink of the parts' type "
                         << parts.getElementType() << ", but got "
                         << getSink().getType();
  return success(); // C4 is the destination-style interface.
}
MutableOperandRange CombineOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getSink() ? 2 : 1, getLse() ? 2 : 1);
}
void CombineOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult WeighOp::verify() {
  if (failed(expectMatrix(*this, "the key tile", getKey(),
                          getState().getType().getKeyDim()))) // C1
    return failure();
  if (static_cast<bool>(getScores()) != getStage().has_value()) // C2
    return emitOpError() << "expects a stage exactly where there are scores";
  if (failed(verifyTileMask(*this, getMask(), getMaskOperands())) || // C3
      failed(verifyTileBias(*this, getBias())))                      // C4
    return failure();
  int64_t any = ShapedType::kDynamic;
  if ((getWeights() &&
       failed(expectMatrix(*this, "weights", getWeights(), any))) || // C5
      (getScores() &&
       failed(expectMatrix(*this, "scores", getScores(), any)))) // C5
    return failure();
  // C6 is the destination-style interface.
  if (failed(expectKind(*this, getState().getType(), getSchedule())) || // C7
      failed(expectPairsOf(*this, getState().getType(), getSchedule(),
                           getKey()))) // C9
    return failure();
  return verifyTileScoreFunction(*this); // C8
}
MutableOperandRange WeighOp::getDpsInitsMutable() {
  unsigned count = (getWeights() ? 1 : 0) + (getScores() ? 1 : 0);
  return MutableOperandRange(*this, getNumOperands() - count, count);
}
void WeighOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}
