// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers and shapes of the ops that change scores, or queries and keys.
// Numbers are those of docs/Spec.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace attn;

using Shapes = ReifiedRankedShapedTypeDims;

LogicalResult attn::verifyPerHead(Operation *op, StringRef name,
                                  RankedTensorType type,
                                  ArrayRef<int64_t> shape, Type element) {
  int64_t heads = shape.size() < 3 ? 1 : shape[shape.size() - 3];
  if (type.getRank() != 1 || !compatible(type.getDimSize(0), heads) ||
      type.getElementType() != element)
    return op->emitOpError()
           << "expects " << name << " to have type "
           << RankedTensorType::get({heads}, element) << ", but got " << type;
  return success();
}

/// Elementwise ops: the result has the shape of `operand`.
static LogicalResult shapeOf(OpBuilder &builder, Location loc, Value operand,
                             Shapes &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, loc, operand));
  return success();
}

LogicalResult SoftcapOp::verify() {
  double cap = getCap().convertToDouble();
  if (!std::isfinite(cap) || cap <= 0) // C1; C2 is the trait.
    return emitOpError() << "expects a finite cap above 0, but got " << cap;
  return success();
}
LogicalResult SoftcapOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getScores(), shapes);
}

LogicalResult ScoreModOp::verify() {
  auto scores = getScores().getType();
  if (failed(expectRank(*this, "the scores", scores))) // C1
    return failure(); // C2 is the trait AllTypesMatch.
  if (!scoreFunctionOf(*this))
    return emitOpError("expects a score function");           // C3
  return verifyScoreFunction(*this, getCaptures().getTypes(), // C3 to C8
                             scores.getElementType());
}
LogicalResult ScoreModOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getScores(), shapes);
}

/// They are computed here and stand in the object.
static constexpr int64_t maxPaperSlopes = 65536;

LogicalResult AlibiOp::verify() {
  auto scores = getScores().getType();
  if (failed(expectRank(*this, "the scores", scores))) // C1
    return failure(); // C2 is the trait AllTypesMatch.
  if (getSlopes()) {
    if (failed(verifyPerHead(*this, "slopes", getSlopes().getType(),
                             scores.getShape(), scores.getElementType()))) // C3
      return failure();
  } else if (scores.getRank() < 3 ||
             scores.isDynamicDim(scores.getRank() - 3)) { // C4
    return emitOpError() << "expects a known number of heads where slopes are "
                            "left out, but got "
                         << scores;
  } else if (scores.getDimSize(scores.getRank() - 3) > maxPaperSlopes) { // C4
    return emitOpError() << "expects at most " << maxPaperSlopes
                         << " heads where slopes are left out, but got "
                         << scores;
  }
  if ((getAlignment() == Alignment::Offset) != static_cast<bool>(getOffset()))
    return emitOpError() // C5
           << "expects an offset exactly with the alignment offset";
  if (!getOffset())
    return success();
  return verifyPerBatchOperand([&] { return emitOpError(); }, "alibi",
                               getOffset().getType(), scores.getShape()); // C6
}
LogicalResult AlibiOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getScores(), shapes);
}

/// Positions: one per row, or per batch entry and row.
static LogicalResult verifyPositions(RopeOp op, RankedTensorType type) {
  auto input = op.getInput().getType();
  int64_t rank = input.getRank(), rows = input.getDimSize(rank - 2);
  bool isInteger = type.getElementType().isInteger(32) ||
                   type.getElementType().isInteger(64);
  bool perRow = type.getRank() == 1 && compatible(type.getDimSize(0), rows);
  bool perBatch = type.getRank() == 2 && rank == 4 &&
                  compatible(type.getDimSize(0), input.getDimSize(0)) &&
                  compatible(type.getDimSize(1), rows);
  if (isInteger && (perRow || perBatch))
    return success();
  return op.emitOpError() << "expects positions of i32 or i64, one per row or "
                             "per batch entry and row, but got "
                          << type;
}

LogicalResult RopeOp::verify() {
  auto input = getInput().getType(), table = getCos().getType();
  if (failed(expectRank(*this, "the input", input))) // C1
    return failure(); // C2 is the trait AllTypesMatch.
  if (table.getRank() != 2 || table.isDynamicDim(1)) // C3
    return emitOpError() << "expects cos and sin to be matrices with a known "
                            "number of columns, but got "
                         << table;
  int64_t features = input.getShape().back();
  if (ShapedType::isDynamic(features) || table.getDimSize(1) > features / 2)
    return emitOpError() // C4
           << "expects at most one column of cos and sin per two features, but "
              "got "
           << table.getDimSize(1) << " and " << sizeText(features);
  Type element = input.getElementType(), wide = scoresElement(element);
  if (!llvm::is_contained({element, wide}, table.getElementType())) { // C5
    InFlightDiagnostic error = emitOpError() << "expects cos and sin of ";
    if (element != wide)
      error << element << " or ";
    return error << wide << " for an input of " << element << ", but got "
                 << table.getElementType();
  }
  return getPositions() ? verifyPositions(*this, getPositions().getType()) // C6
                        : success();
}
LogicalResult RopeOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getInput(), shapes);
}

/// The rank and the eps of a norm of rows.
template <typename Op> static LogicalResult verifyNorm(Op op) {
  if (failed(expectRank(op, "the input", op.getInput().getType()))) // C1
    return failure(); // C2 is the trait AllTypesMatch.
  double eps = op.getEps().convertToDouble();
  if (!std::isfinite(eps) || eps < 0) // C3
    return op.emitOpError()
           << "expects a finite eps of at least 0, but got " << eps;
  return success();
}

/// A number per feature of the input: the weight or the bias.
template <typename Op>
static LogicalResult expectPerFeature(Op op, StringRef name, Value tensor) {
  if (!tensor)
    return success();
  auto type = cast<RankedTensorType>(tensor.getType()),
       input = op.getInput().getType();
  if (type.getRank() != 1)
    return op.emitOpError()
           << "expects the " << name << " to have rank 1, but got " << type;
  if (failed(expectSize(op, ("a " + name + " per feature").str(),
                        type.getDimSize(0), input.getShape().back())))
    return failure();
  return expectElement(op, ("input and " + name).str(), input.getElementType(),
                       type.getElementType());
}

LogicalResult RmsNormOp::verify() {
  return failure(failed(verifyNorm(*this)) ||
                 failed(expectPerFeature(*this, "weight", getWeight()))); // C4
}
LogicalResult RmsNormOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getInput(), shapes);
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this)) ||
      failed(expectPerFeature(*this, "weight", getWeight())) || // C4
      failed(expectPerFeature(*this, "bias", getBias())))       // C5
    return failure();
  if (getBias() && !getWeight()) // C5
    return emitOpError("expects a weight where there is a bias");
  return success();
}
LogicalResult LayerNormOp::reifyResultShapes(OpBuilder &b, Shapes &shapes) {
  return shapeOf(b, getLoc(), getInput(), shapes);
}
