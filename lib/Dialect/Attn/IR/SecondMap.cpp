// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the ops ask of the second map of differential attention. Numbers are
// those of docs/Spec.md and docs/SpecTiles.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// The factor of a second map: one number, or one per head of scores of
/// `shape`.
static LogicalResult verifyLambda(Operation *op, RankedTensorType type,
                                  ArrayRef<int64_t> shape, Type element) {
  int64_t heads = shape.size() < 3 ? 1 : shape[shape.size() - 3];
  bool fits = type.getRank() == 0 ||
              (type.getRank() == 1 && (type.getDimSize(0) == 1 ||
                                       compatible(type.getDimSize(0), heads)));
  if (!fits || type.getElementType() != element)
    return op->emitOpError()
           << "expects lambda to be one number of " << element
           << ", or one per head (" << sizeText(heads) << "), but got " << type;
  return success();
}

LogicalResult SubtractWeightsOp::verify() {
  auto weights = getWeights().getType();
  if (failed(expectRank(*this, "the weights", weights))) // C1
    return failure(); // C2 is the trait AllTypesMatch.
  return verifyLambda(*this, getLambda().getType(), weights.getShape(),
                      weights.getElementType()); // C3
}
LogicalResult
SubtractWeightsOp::reifyResultShapes(OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getFirst()));
  return success();
}

/// The operands of a second map, all or none.
template <typename Op>
static LogicalResult verifyOperands(Op op, ArrayRef<int64_t> shape,
                                    Type element) {
  if (!op.getSecondQuery() != !op.getSecondKey() ||
      !op.getSecondQuery() != !op.getLambda()) // C21
    return op.emitOpError()
           << "expects all of second query, second key and lambda where one is "
              "given";
  if (!op.isDifferential())
    return success();
  std::tuple<StringRef, Type, Type> types[] = {
      {"query", op.getQuery().getType(), op.getSecondQuery().getType()},
      {"key", op.getKey().getType(), op.getSecondKey().getType()}};
  for (auto [name, first, second] : types)
    if (first != second) // C21
      return op.emitOpError() << "expects the second " << name
                              << " to have the type of the first " << first
                              << ", but got " << second;
  return verifyLambda(op, op.getLambda().getType(), shape, element); // C21
}

LogicalResult attn::verifySecondMap(SdpaGradOp op, ArrayRef<int64_t> shape,
                                    Type element) {
  return verifyOperands(op, shape, element);
}

LogicalResult attn::verifySecondMap(SdpaOp op, ArrayRef<int64_t> shape,
                                    Type element) {
  LogicalResult operands = verifyOperands(op, shape, element);
  if (failed(operands) || !op.isDifferential())
    return operands;
  return refuseParts(op,
                     {{"lse", static_cast<bool>(op.getLse())},
                      {"weights", static_cast<bool>(op.getWeights())},
                      {"scores", static_cast<bool>(op.getScores())},
                      {"state", static_cast<bool>(op.getAcc())},
                      {"decode_schedule", op.getDecodeSchedule().has_value()}},
                     "a second query and key"); // C22
}

LogicalResult attn::verifySecondMap(OnlineOp op) {
  if (!op.getSecondState() != !op.getSecondKey() ||
      !op.getSecondState() != !op.getSecondNext()) // C11
    return op.emitOpError("expects all of second state, second key and second "
                          "result where one is given");
  if (!op.getSecondState())
    return success();
  StateType state = op.getState().getType();
  for (Type type :
       {op.getSecondState().getType(), op.getSecondNext().getType()})
    if (type != state) // C12
      return op.emitOpError() << "expects the second state to have the type of "
                                 "the first "
                              << state << ", but got " << type;
  auto first = cast<ShapedType>(op.getKey().getType()),
       second = cast<ShapedType>(op.getSecondKey().getType());
  if (failed(expectMatrix(op, "the second key tile", op.getSecondKey(),
                          state.getKeyDim()))) // C13
    return failure();
  if (!compatible(first.getDimSize(0), second.getDimSize(0)) ||
      first.getElementType() != second.getElementType()) // C13
    return op.emitOpError() << "expects as many second keys as keys, of their "
                               "element type, but got "
                            << second << " and " << first;
  if (state.getKind() != Kind::Prefill) // C14
    return op.emitOpError("expects a second state to have kind prefill");
  return success();
}

LogicalResult FinalizeDifferenceOp::verify() {
  StateType state = getFirst().getType(); // C2 is the trait AllTypesMatch.
  if (failed(expectMatrix(*this, "out", getOut(), state.getValueDim()))) // C1
    return failure();
  if (getLambda().getType() != state.getElement()) // C3
    return emitOpError() << "expects lambda of the state's type "
                         << state.getElement() << ", but got "
                         << getLambda().getType();
  // C4 is the destination-style interface.
  return expectKind(*this, state, getSchedule()); // C5
}
MutableOperandRange FinalizeDifferenceOp::getDpsInitsMutable() {
  return getOutMutable();
}
void FinalizeDifferenceOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}
