// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxForms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Batch entries and heads
//===----------------------------------------------------------------------===//

/// Whether batch entries and heads may be one dimension of unknown size.
static bool mayJoinHeads(linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInputOperandType());
  return type && type.getRank() == 3 && type.isDynamicDim(0) &&
         op.getDimension() == 2;
}

/// The tensor (B, H, ..) of which `value`, (B*H, ..), is another view, if H is
/// known.
static Value apart(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || collapse.getReassociationIndices().front().size() != 2)
    return {};
  RankedTensorType from = collapse.getSrcType();
  bool same = from.getRank() == collapse.getResultType().getRank() + 1;
  return same && !from.isDynamicDim(1) ? collapse.getSrc() : Value();
}

/// The nearest such tensor that the scores are made of: no further away than
/// the queries, with a few steps in between.
static Value findHeadsApart(linalg::SoftmaxOp op) {
  constexpr unsigned mostTensors = 64;
  SmallVector<Value> open{op.getInput()};
  llvm::SmallPtrSet<Value, 16> seen;
  for (size_t next = 0; next < open.size() && next < mostTensors; ++next) {
    Value value = open[next];
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() < 3 || !seen.insert(value).second)
      continue;
    if (type.getRank() == 3)
      if (Value found = apart(value))
        return found;
    if (Operation *producer = value.getDefiningOp())
      llvm::append_range(open, producer->getOperands());
  }
  return {};
}

/// (N, S, T) as (B, H, S, T), of which `heads` and `batch` are given.
static linalg::SoftmaxOp withHeads(IRRewriter &rewriter, linalg::SoftmaxOp op,
                                   OpFoldResult batch, OpFoldResult heads) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInputOperandType());
  SmallVector<ReassociationIndices> groups{{0, 1}, {2}, {3}};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInput());
  sizes[0] = heads;
  sizes.insert(sizes.begin(), batch);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  auto apart = cast<RankedTensorType>(empty.getType());
  Value scores = tensor::ExpandShapeOp::create(rewriter, loc, apart,
                                               op.getInput(), groups, sizes);
  auto softmax = linalg::SoftmaxOp::create(rewriter, loc, TypeRange(apart),
                                           scores, empty, 3);
  Value joined = tensor::CollapseShapeOp::create(rewriter, loc, type,
                                                 softmax->getResult(0), groups);
  rewriter.replaceAllUsesWith(op->getResult(0), joined);
  return softmax;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Whether rows of queries are columns: softmax of K * Q'.
static bool isTransposed(linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInputOperandType());
  return type && type.getRank() >= 2 && type.getRank() <= 4 &&
         static_cast<int64_t>(op.getDimension()) == type.getRank() - 2;
}

static Value withLastTwoSwapped(IRRewriter &rewriter, Value value) {
  Location loc = value.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  std::swap(sizes[order.size() - 1], sizes[order.size() - 2]);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(value));
  return linalg::TransposeOp::create(rewriter, loc, value, empty, order)
      ->getResult(0);
}

/// The same softmax of rows.
static linalg::SoftmaxOp withRows(IRRewriter &rewriter, linalg::SoftmaxOp op) {
  Value scores = withLastTwoSwapped(rewriter, op.getInput());
  auto type = cast<RankedTensorType>(scores.getType());
  Value empty = tensor::EmptyOp::create(
      rewriter, op.getLoc(),
      tensor::getMixedSizes(rewriter, op.getLoc(), scores),
      type.getElementType());
  auto softmax =
      linalg::SoftmaxOp::create(rewriter, op.getLoc(), TypeRange(type), scores,
                                empty, type.getRank() - 1);
  rewriter.replaceAllUsesWith(
      op->getResult(0), withLastTwoSwapped(rewriter, softmax->getResult(0)));
  return softmax;
}

//===----------------------------------------------------------------------===//
// All forms
//===----------------------------------------------------------------------===//

SmallVector<SoftmaxForm, 2> attn::formsOf(linalg::SoftmaxOp op) {
  if (isTransposed(op))
    return {SoftmaxForm::Rows};
  if (!mayJoinHeads(op))
    return {SoftmaxForm::Given};
  if (findHeadsApart(op))
    return {SoftmaxForm::HeadsApart, SoftmaxForm::OneHead};
  return {SoftmaxForm::OneHead};
}

linalg::SoftmaxOp attn::writeAs(SoftmaxForm form, linalg::SoftmaxOp op,
                                IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  switch (form) {
  case SoftmaxForm::HeadsApart: {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, findHeadsApart(op));
    return withHeads(rewriter, op, sizes[0], sizes[1]);
  }
  case SoftmaxForm::OneHead: {
    OpFoldResult all = tensor::getMixedSize(rewriter, loc, op.getInput(), 0);
    return withHeads(rewriter, op, all, rewriter.getIndexAttr(1));
  }
  case SoftmaxForm::Rows:
    return withRows(rewriter, op);
  case SoftmaxForm::Given:
    return op;
  }
  llvm_unreachable("a form of softmax");
}

Operation *attn::takeBack(linalg::SoftmaxOp op, linalg::SoftmaxOp written,
                          IRRewriter &rewriter) {
  Operation *joined = *written->getResult(0).user_begin();
  rewriter.replaceAllUsesWith(joined->getResult(0), op->getResult(0));
  return joined;
}
