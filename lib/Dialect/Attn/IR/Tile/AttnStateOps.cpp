// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers, shapes and effects of the ops on partial states. Numbers are those
// of docs/Spec.md and docs/SpecTiles.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

using Shapes = ReifiedRankedShapedTypeDims;
using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

LogicalResult StateType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t, int64_t, int64_t, Type, Kind kind,
                                Normalization normalization) {
  if (normalization == Normalization::Sigmoid && kind != Kind::Prefill)
    return emitError() << "expects a state by sigmoid to have kind prefill";
  return success();
}

// --- ops of the graph ---

/// m and l have an element per row of acc, and all are f32 or f64.
static LogicalResult verifyState(Operation *op, RankedTensorType row,
                                 RankedTensorType acc) {
  if (failed(expectRank(op, "acc", acc))) // C1
    return failure();
  ArrayRef<int64_t> rows = acc.getShape().drop_back();
  bool matches = row.getRank() == static_cast<int64_t>(rows.size()) &&
                 llvm::all_of(llvm::zip(row.getShape(), rows), [](auto pair) {
                   return compatible(std::get<0>(pair), std::get<1>(pair));
                 });
  if (!matches) // C2
    return op->emitOpError() << "expects maximum and sum to have an element "
                                "per row of acc, but got "
                             << row << " and " << acc;
  Type element = acc.getElementType();
  if (row.getElementType() != element || !(element.isF32() || element.isF64()))
    return op->emitOpError() // C3
           << "expects maximum, sum and acc to be all of f32 or all of f64, "
              "but got "
           << row.getElementType() << " and " << element;
  return success();
}

LogicalResult MergeStatesOp::verify() {
  // C4 is the traits AllTypesMatch.
  return verifyState(*this, getMaximum().getType(), getAcc().getType());
}
LogicalResult MergeStatesOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  for (Value operand : {getFirstMaximum(), getFirstSum(), getFirstAcc()})
    shapes.push_back(tensor::getMixedSizes(b, getLoc(), operand));
  return success();
}

LogicalResult FinalizeStateOp::verify() {
  auto row = getMaximum().getType(), acc = getAcc().getType(),
       out = getOut().getType();
  if (failed(verifyState(*this, row, acc)))
    return failure();
  bool sameShape =
      out.getRank() == acc.getRank() &&
      llvm::all_of(llvm::zip(out.getShape(), acc.getShape()), [](auto pair) {
        return compatible(std::get<0>(pair), std::get<1>(pair));
      });
  if (!sameShape) // C4
    return emitOpError() << "expects out to have the shape of acc, but got "
                         << out << " and " << acc;
  if (acc.getElementType() != scoresElement(out.getElementType())) // C5
    return emitOpError() << "expects a state of "
                         << scoresElement(out.getElementType())
                         << " for an out of " << out.getElementType()
                         << ", but got " << acc.getElementType();
  if (getLse() && getLse().getType() != row) // C6
    return emitOpError() << "expects lse to have the type of maximum " << row
                         << ", but got " << getLse().getType();
  return success();
}
LogicalResult FinalizeStateOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  shapes.push_back(tensor::getMixedSizes(b, getLoc(), getAcc()));
  if (getLse())
    shapes.push_back(tensor::getMixedSizes(b, getLoc(), getMaximum()));
  return success();
}

// --- ops of tiles ---

/// The tile of a state: an element of m and l per row of the matrix acc.
static LogicalResult verifyRows(Operation *op, Value maximum, Value sum,
                                Value acc, int64_t columns) {
  auto matrix = cast<ShapedType>(acc.getType());
  if (failed(expectMatrix(op, "acc", acc, columns)))
    return failure();
  for (Value row : {maximum, sum}) {
    auto type = cast<ShapedType>(row.getType());
    if (type.getRank() != 1 ||
        !compatible(type.getDimSize(0), matrix.getDimSize(0)))
      return op->emitOpError() << "expects maximum and sum to have an element "
                                  "per row of acc, but got "
                               << type << " and " << matrix;
  }
  return success();
}

/// Every tensor of a state has the type of its statistics.
static LogicalResult verifyElements(Operation *op, ValueRange tensors,
                                    Type element) {
  for (Value tensor : tensors) {
    Type found = cast<ShapedType>(tensor.getType()).getElementType();
    if (found != element || !(element.isF32() || element.isF64()))
      return op->emitOpError()
             << "expects states of f32 or f64, all of one type, but got "
             << found;
  }
  return success();
}

static Type elementOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getElementType();
}

LogicalResult MergeRowsOp::verify() {
  int64_t columns = cast<ShapedType>(getAcc().getType()).getShape().back();
  if (failed(verifyRows(*this, getFirstMaximum(), getFirstSum(), getFirstAcc(),
                        columns)) || // C1
      failed(verifyRows(*this, getSecondMaximum(), getSecondSum(),
                        getSecondAcc(), columns)) || // C1
      failed(
          verifyRows(*this, getMaximum(), getSum(), getAcc(), columns))) // C1
    return failure();
  // C3 is the destination-style interface.
  return verifyElements(*this, getOperands(), elementOf(getAcc())); // C2
}
MutableOperandRange MergeRowsOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 6, 3);
}
void MergeRowsOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult FinalizeRowsOp::verify() {
  auto acc = cast<ShapedType>(getAcc().getType());
  if (failed(verifyRows(*this, getMaximum(), getSum(), getAcc(),
                        ShapedType::kDynamic)) || // C1
      failed(verifyElements(*this, {getMaximum(), getSum(), getAcc()},
                            elementOf(getAcc())))) // C2
    return failure();
  if (failed(expectMatrix(*this, "out", getOut(), acc.getShape().back()))) // C3
    return failure();
  if (getLse() && cast<ShapedType>(getLse().getType()).getRank() != 1) // C4
    return emitOpError() << "expects lse to have rank 1, but got "
                         << getLse().getType();
  return success(); // C5 is the destination-style interface.
}
MutableOperandRange FinalizeRowsOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 3, getLse() ? 2 : 1);
}
void FinalizeRowsOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult ReturnStateOp::verify() {
  StateType state = getState().getType();
  if (failed(verifyRows(*this, getMaximum(), getSum(), getAcc(),
                        state.getValueDim())) || // C1
      failed(verifyElements(*this, {getMaximum(), getSum(), getAcc()},
                            state.getElement()))) // C2
    return failure();
  if (state.getNormalization() != Normalization::Softmax) // C3
    return emitOpError("expects a state by softmax, which has maximum and sum");
  // C5 is the destination-style interface.
  return expectKind(*this, state, getSchedule()); // C4
}
MutableOperandRange ReturnStateOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 1, 3);
}
void ReturnStateOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

LogicalResult CombineStateOp::verify() {
  auto parts = cast<ShapedType>(getParts().getType());
  if (failed(expectParts(*this, parts))) // C1
    return failure();
  if (failed(verifyRows(*this, getMaximum(), getSum(), getAcc(),
                        parts.getDimSize(2) - 2))) // C2
    return failure();
  // C4 is the destination-style interface.
  return verifyElements(*this, getOperands(), parts.getElementType()); // C3
}
MutableOperandRange CombineStateOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 1, 3);
}
void CombineStateOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}
