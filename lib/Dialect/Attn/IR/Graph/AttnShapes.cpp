// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run-time sizes of the graph ops' results, in terms of their operands.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

using Shapes = ReifiedRankedShapedTypeDims;

static OpFoldResult size(OpBuilder &builder, Value tensor, int dim) {
  return tensor::getMixedSize(builder, tensor.getLoc(), tensor, dim);
}

/// The shape of `type`, each unknown size replaced by `dynamic(i)`.
static SmallVector<OpFoldResult>
shapeOf(OpBuilder &builder, Value result,
        function_ref<OpFoldResult(int)> dynamic) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> shape;
  for (int i = 0; i < type.getRank(); ++i)
    shape.push_back(type.isDynamicDim(i)
                        ? dynamic(i)
                        : builder.getIndexAttr(type.getDimSize(i)));
  return shape;
}

static LogicalResult sameShape(OpBuilder &builder, Value result, Value operand,
                               Shapes &shapes) {
  shapes.push_back(shapeOf(builder, result,
                           [&](int i) { return size(builder, operand, i); }));
  return success();
}

LogicalResult ScaleOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getResult(), getInput(), shapes);
}
LogicalResult BiasOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getResult(), getScores(), shapes);
}
LogicalResult MaskOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getResult(), getScores(), shapes);
}
LogicalResult MaskFnOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getResult(), getScores(), shapes);
}
LogicalResult SigmoidOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getWeights(), getScores(), shapes);
}
LogicalResult DropoutOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getResult(), getWeights(), shapes);
}
LogicalResult SoftmaxOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return sameShape(builder, getWeights(), getScores(), shapes);
}

/// The last dimension comes from dimension `dim` of `last`, all others from the
/// same dimension of `leading`.
static LogicalResult matrixShape(OpBuilder &builder, Value result,
                                 Value leading, Value last, int dim,
                                 Shapes &shapes) {
  int rank = cast<RankedTensorType>(result.getType()).getRank();
  shapes.push_back(shapeOf(builder, result, [&](int i) {
    return i == rank - 1 ? size(builder, last, dim) : size(builder, leading, i);
  }));
  return success();
}

LogicalResult ScoresOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return matrixShape(builder, getScores(), getQuery(), getKey(),
                     getKey().getType().getRank() - 2, shapes);
}
LogicalResult ContextOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return matrixShape(builder, getOut(), getWeights(), getValue(),
                     getValue().getType().getRank() - 1, shapes);
}
LogicalResult ProjectOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  return matrixShape(builder, getResult(), getInput(), getWeight(), columnDim(),
                     shapes);
}

LogicalResult SplitHeadsOp::reifyResultShapes(OpBuilder &builder,
                                              Shapes &shapes) {
  // Only batch and sequence may be unknown: (B, H, S, D) from (B, S, H*D).
  int rank = getType().getRank();
  shapes.push_back(shapeOf(builder, getResult(), [&](int i) {
    return size(builder, getInput(), i == rank - 2 ? rank - 3 : i);
  }));
  return success();
}
LogicalResult MergeHeadsOp::reifyResultShapes(OpBuilder &builder,
                                              Shapes &shapes) {
  auto input = getInput().getType();
  int rank = getType().getRank();
  shapes.push_back(shapeOf(builder, getResult(), [&](int i) -> OpFoldResult {
    if (i == rank - 1)
      return builder.getIndexAttr(input.getDimSize(rank - 2) *
                                  input.getDimSize(rank));
    return size(builder, getInput(), i == rank - 2 ? rank - 1 : i);
  }));
  return success();
}

LogicalResult SdpaOp::reifyResultShapes(OpBuilder &builder, Shapes &shapes) {
  Dims q = queryDims(), k = keyDims(), v = valueDims(), o = outDims();
  shapes.push_back(shapeOf(builder, getOut(), [&](int i) {
    if (i == o.feature)
      return size(builder, getValue(), v.feature);
    int from = i == o.batch ? q.batch : i == o.head ? q.head : q.sequence;
    return size(builder, getQuery(), from);
  }));
  SmallVector<OpFoldResult> scores;
  for (int dim : {q.batch, q.head, q.sequence})
    if (dim >= 0)
      scores.push_back(size(builder, getQuery(), dim));
  if (getLse())
    shapes.push_back(scores);
  scores.push_back(size(builder, getKey(), k.sequence));
  for (Value result : {getWeights(), getScores()})
    if (result)
      shapes.push_back(scores);
  if (getAcc()) {
    scores.pop_back();
    shapes.append({scores, scores, shapes.front()});
  }
  return success();
}

LogicalResult SdpaGradOp::reifyResultShapes(OpBuilder &builder,
                                            Shapes &shapes) {
  for (auto [name, gradient] : llvm::zip(getWrt(), getGradients())) {
    Value operand = operandNamed(cast<StringAttr>(name).getValue());
    shapes.push_back(shapeOf(builder, gradient,
                             [&](int i) { return size(builder, operand, i); }));
  }
  return success();
}
