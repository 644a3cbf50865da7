// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxForms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

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
// Orders
//===----------------------------------------------------------------------===//

/// Orders of the dimensions with `last` last, beginning with that of the
/// others as they are. Of more dimensions than attention has: as they are.
static SmallVector<SoftmaxForm, 0> ordersOf(int64_t rank, int64_t last) {
  constexpr int64_t mostOfAttention = 4;
  SmallVector<int64_t, 4> order = llvm::to_vector<4>(llvm::seq(rank));
  if (rank < 2 || rank > mostOfAttention)
    return {{SoftmaxForm::Ordered, order}};
  llvm::erase(order, last);
  SmallVector<SoftmaxForm, 0> forms;
  do {
    forms.push_back({SoftmaxForm::Ordered, order});
    forms.back().order.push_back(last);
  } while (std::next_permutation(order.begin(), order.end()));
  return forms;
}

static Value inOrder(IRRewriter &rewriter, Value value,
                     ArrayRef<int64_t> order) {
  Location loc = value.getLoc();
  SmallVector<OpFoldResult> sizes =
      applyPermutation(tensor::getMixedSizes(rewriter, loc, value), order);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(value));
  return linalg::TransposeOp::create(rewriter, loc, value, empty, order)
      ->getResult(0);
}

static linalg::SoftmaxOp ordered(IRRewriter &rewriter, linalg::SoftmaxOp op,
                                 ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return op;
  Location loc = op.getLoc();
  Value scores = inOrder(rewriter, op.getInput(), order);
  auto type = cast<RankedTensorType>(scores.getType());
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, scores),
      type.getElementType());
  auto softmax = linalg::SoftmaxOp::create(rewriter, loc, TypeRange(type),
                                           scores, empty, type.getRank() - 1);
  rewriter.replaceAllUsesWith(
      op->getResult(0),
      inOrder(rewriter, softmax->getResult(0), invertPermutationVector(order)));
  return softmax;
}

//===----------------------------------------------------------------------===//
// All forms
//===----------------------------------------------------------------------===//

SmallVector<SoftmaxForm, 0> attn::formsOf(linalg::SoftmaxOp op) {
  SmallVector<SoftmaxForm, 0> forms;
  if (mayJoinHeads(op) && findHeadsApart(op))
    forms.push_back({SoftmaxForm::HeadsApart});
  if (mayJoinHeads(op))
    forms.push_back({SoftmaxForm::OneHead});
  llvm::append_range(forms,
                     ordersOf(op.getInputOperandRank(), op.getDimension()));
  return forms;
}

linalg::SoftmaxOp attn::writeAs(const SoftmaxForm &form, linalg::SoftmaxOp op,
                                IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  switch (form.kind) {
  case SoftmaxForm::HeadsApart: {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, findHeadsApart(op));
    return withHeads(rewriter, op, sizes[0], sizes[1]);
  }
  case SoftmaxForm::OneHead: {
    OpFoldResult all = tensor::getMixedSize(rewriter, loc, op.getInput(), 0);
    return withHeads(rewriter, op, all, rewriter.getIndexAttr(1));
  }
  case SoftmaxForm::Ordered:
    return ordered(rewriter, op, form.order);
  }
  llvm_unreachable("a form of softmax");
}

Operation *attn::takeBack(linalg::SoftmaxOp op, linalg::SoftmaxOp written,
                          IRRewriter &rewriter) {
  Operation *joined = *written->getResult(0).user_begin();
  rewriter.replaceAllUsesWith(joined->getResult(0), op->getResult(0));
  return joined;
}
