// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of the graph ops around an attention, in terms of graph ops and
// loops of linalg.
//
//   y = x W + b          dx = dy W^T, dW = x^T dy, db = sum over rows of dy
//   heads                split and merge are each other's
//   y = c x              dx = c dy
//   y = rope(x)          dx = the rotation back, rope with -sin
//   y = x r w, r = (mean x^2 + eps)^-1/2
//                        dx = r (dy w - x r^2 mean(dy w x)),
//                        dw = sum over rows of dy x r
#include "Adjoints.h"
#include "Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The sizes of the leading dimensions multiplied: (rows x columns).
static Value asMatrix(OpBuilder &b, Value tensor) {
  int64_t rank = typeOf(tensor).getRank();
  if (rank == 2)
    return tensor;
  ReassociationIndices rows;
  for (int64_t i = 0; i + 1 < rank; ++i)
    rows.push_back(i);
  SmallVector<ReassociationIndices> groups{rows, {rank - 1}};
  return tensor::CollapseShapeOp::create(b, tensor.getLoc(), tensor, groups);
}

/// The last two dimensions change places.
static Value swappedColumns(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  int64_t rank = typeOf(tensor).getRank();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  std::swap(sizes[rank - 2], sizes[rank - 1]);
  Value empty =
      tensor::EmptyOp::create(b, loc, sizes, typeOf(tensor).getElementType());
  return linalg::TransposeOp::create(b, loc, tensor, empty, permutation)
      .getResult()[0];
}

/// The gradient of a weight: a product of all rows.
static Value ofWeight(OpBuilder &b, ProjectOp op, Value dy) {
  Value x = op.getInput();
  if (!op.hasWeights()) {
    x = asMatrix(b, x);
    dy = asMatrix(b, dy);
  }
  Value left = op.getTransposed() ? dy : x, right = op.getTransposed() ? x : dy;
  Value turned = swappedColumns(b, left);
  return ProjectOp::create(b, op.getLoc(), op.getWeight().getType(), turned,
                           right, /*bias=*/Value(), ScheduleInterface());
}

static LogicalResult follow(Adjoints &adjoints, ProjectOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  Location loc = op.getLoc();
  if (adjoints.isActive(op.getInput())) {
    auto dx =
        ProjectOp::create(b, loc, op.getInput().getType(), dy, op.getWeight(),
                          /*bias=*/Value(), ScheduleInterface());
    dx.setTransposed(!op.getTransposed());
    adjoints.add(op.getInput(), dx);
  }
  if (adjoints.isActive(op.getWeight()))
    adjoints.add(op.getWeight(), ofWeight(b, op, dy));
  if (op.getBias() && adjoints.isActive(op.getBias()))
    adjoints.add(op.getBias(),
                 Loop(b, dy).elements(dy).sumOfColumns(
                     [](OpBuilder &, ValueRange a) -> Value { return a[0]; }));
  return success();
}

static LogicalResult follow(Adjoints &adjoints, RopeOp op, Value dy) {
  if (adjoints.isActive(op.getCos()) || adjoints.isActive(op.getSin()))
    return op.emitOpError("has no gradient by its tables");
  OpBuilder &b = adjoints.builder;
  Value back = arith::NegFOp::create(b, op.getLoc(), op.getSin());
  adjoints.add(op.getInput(),
               RopeOp::create(b, op.getLoc(), op.getType(), dy, op.getCos(),
                              back, op.getPositions(), op.getInterleaved()));
  return success();
}

static LogicalResult follow(Adjoints &adjoints, RmsNormOp op, Value dy) {
  OpBuilder &b = adjoints.builder;
  Location loc = op.getLoc();
  Value x = op.getInput(), w = op.getWeight();
  auto type = typeOf(x);
  if (type.isDynamicDim(type.getRank() - 1))
    return op.emitOpError("has no gradient for rows of unknown length");
  double features = static_cast<double>(type.getShape().back());
  double eps = op.getEps().convertToDouble();
  Value squares = Loop(b, x).elements(x).sumOfRows(
      [&](OpBuilder &inner, ValueRange a) -> Value {
        return Scalars{inner, loc}.mul(a[0], a[0]);
      });
  auto inverse = [&](Scalars s, Value sum) -> Value {
    Value mean = s.mul(sum, s.number(1 / features, sum));
    Value shifted = s.add(mean, s.number(eps, sum));
    return math::RsqrtOp::create(s.b, loc, shifted);
  };
  if (w && adjoints.isActive(w)) {
    Loop loop(b, x);
    loop.elements(x).elements(dy).rows(squares);
    adjoints.add(
        w, loop.sumOfColumns([&](OpBuilder &inner, ValueRange a) -> Value {
          Scalars s{inner, loc};
          return s.mul(s.mul(a[0], inverse(s, a[2])), a[1]);
        }));
  }
  if (!adjoints.isActive(x))
    return success();
  Loop products(b, x);
  products.elements(x).elements(dy);
  if (w)
    products.columns(w);
  Value dots = products.sumOfRows([&](OpBuilder &inner, ValueRange a) -> Value {
    Scalars s{inner, loc};
    Value product = s.mul(a[0], a[1]);
    return w ? s.mul(product, a[2]) : product;
  });
  Loop loop(b, x);
  loop.elements(x).elements(dy).rows(squares).rows(dots);
  if (w)
    loop.columns(w);
  adjoints.add(x, loop.map(type.getElementType(),
                           [&](OpBuilder &inner, ValueRange a) -> Value {
                             Scalars s{inner, loc};
                             Value r = inverse(s, a[2]),
                                   g = w ? s.mul(a[1], a[4]) : a[1];
                             Value mean =
                                 s.mul(a[3], s.number(1 / features, a[3]));
                             Value along = s.mul(s.mul(r, r), mean);
                             return s.mul(r, s.sub(g, s.mul(a[0], along)));
                           }));
  return success();
}

Ruled attn::followGraphOp(Adjoints &adjoints, Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  OpBuilder &b = adjoints.builder;
  Location loc = op->getLoc();
  Value dy = adjoints.of(op->getResult(0));
  if (auto project = dyn_cast<ProjectOp>(op))
    return follow(adjoints, project, dy);
  if (auto rope = dyn_cast<RopeOp>(op))
    return follow(adjoints, rope, dy);
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return follow(adjoints, norm, dy);
  if (auto scale = dyn_cast<ScaleOp>(op))
    adjoints.add(scale.getInput(), ScaleOp::create(b, loc, scale.getType(), dy,
                                                   scale.getFactorAttr()));
  else if (auto split = dyn_cast<SplitHeadsOp>(op))
    adjoints.add(split.getInput(),
                 MergeHeadsOp::create(b, loc, split.getInput().getType(), dy));
  else if (auto merge = dyn_cast<MergeHeadsOp>(op))
    adjoints.add(merge.getInput(),
                 SplitHeadsOp::create(b, loc, merge.getInput().getType(), dy,
                                      merge.getInput().getType().getDimSize(
                                          typeOf(dy).getRank() - 2)));
  else
    return std::nullopt;
  return success();
}
