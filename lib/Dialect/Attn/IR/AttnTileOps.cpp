// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers and effects of the tile ops. Numbers are those of docs/Spec.md.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/IR/ScoreFunction.h"

using namespace mlir;
using namespace attn;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// A tile op reads its memrefs and writes its destinations; on tensors it is
/// pure.
static void tileEffects(Operation *op, MutableOperandRange inits,
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

static LogicalResult expectMatrix(Operation *op, StringRef name, Value value,
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
  return verifyMask([&] { return op->emitOpError(); }, *mask,
                    operands.getTypes(), {any, any});
}

static LogicalResult verifyTileBias(Operation *op, Value bias) {
  if (bias && cast<ShapedType>(bias.getType()).getRank() > 2)
    return op->emitOpError()
           << "expects the bias to have at most rank 2, but got "
           << bias.getType();
  return success();
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
  if (failed(expectMatrix(*this, "the query tile", getQuery(),
                          state.getKeyDim()))) // C1
    return failure();
  if (!query.isDynamicDim(0) && query.getDimSize(0) > state.getRows()) // C2
    return emitOpError() << "expects at most " << state.getRows()
                         << " queries in the tile, but got "
                         << query.getDimSize(0);
  return success();
}
void InitStateOp::getEffects(Effects &effects) {
  tileEffects(*this, MutableOperandRange(*this, 0, 0), effects);
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
  return verifyTileScoreFunction(*this); // C7
}
void OnlineOp::getEffects(Effects &effects) {
  tileEffects(*this, MutableOperandRange(*this, 0, 0), effects);
}

LogicalResult AddSinkOp::verify() {
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
  return success(); // C3 is the destination-style interface.
}
MutableOperandRange FinalizeOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 1, getLse() ? 2 : 1);
}
void FinalizeOp::getEffects(Effects &effects) {
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
  return verifyTileScoreFunction(*this); // C7
}
MutableOperandRange WeighOp::getDpsInitsMutable() {
  unsigned count = (getWeights() ? 1 : 0) + (getScores() ? 1 : 0);
  return MutableOperandRange(*this, getNumOperands() - count, count);
}
void WeighOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult ProjectTileOp::verify() {
  auto weight = cast<ShapedType>(getWeight().getType());
  if (failed(expectMatrix(*this, "the weight", getWeight(),
                          ShapedType::kDynamic)) || // C1
      failed(expectMatrix(*this, "the input", getInput(),
                          weight.getDimSize(0))) ||                       // C1
      failed(expectMatrix(*this, "out", getOut(), weight.getDimSize(1)))) // C1
    return failure();
  int64_t rows = cast<ShapedType>(getInput().getType()).getDimSize(0),
          outRows = cast<ShapedType>(getOut().getType()).getDimSize(0);
  if (rows != outRows && !ShapedType::isDynamic(rows) &&
      !ShapedType::isDynamic(outRows)) // C2
    return emitOpError()
           << "expects a row of out per row of the input, but got " << outRows
           << " and " << rows;
  if (!getBias())
    return success();
  auto bias = cast<ShapedType>(getBias().getType());
  if (bias.getRank() != 1 ||
      (bias.getDimSize(0) != weight.getDimSize(1) && !bias.isDynamicDim(0) &&
       !weight.isDynamicDim(1))) // C3
    return emitOpError()
           << "expects the bias to have one element per column of "
              "the weight, but got "
           << bias;
  return success(); // C4 is the destination-style interface.
}
MutableOperandRange ProjectTileOp::getDpsInitsMutable() {
  return getOutMutable();
}
void ProjectTileOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}
