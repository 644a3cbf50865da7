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

namespace {
/// A dimension of a tensor.
struct TensorDim {
  Value tensor;
  int64_t dim;
};
} // namespace

/// Adds the dimensions of operands of `of`'s producer that have its size, as
/// they are looked up by the same index.
static void addSame(SmallVector<TensorDim> &open, TensorDim of) {
  Operation *op = of.tensor.getDefiningOp();
  auto add = [&](Value operand, int64_t dim) {
    open.push_back({operand, dim});
  };
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto group = collapse.getReassociationIndices()[of.dim];
    if (group.size() == 1)
      add(collapse.getSrc(), group.front());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices()))
      if (group.size() == 1 && group.front() == of.dim)
        add(expand.getSrc(), i);
  } else if (auto same = dyn_cast<tensor::CastOp>(op)) {
    add(same.getSource(), of.dim);
  } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    AffineExpr loop =
        linalgOp.getIndexingMapMatchingResult(cast<OpResult>(of.tensor))
            .getResult(of.dim);
    for (OpOperand *operand : linalgOp.getDpsInputOperands())
      for (auto [i, expr] : llvm::enumerate(
               linalgOp.getMatchingIndexingMap(operand).getResults()))
        if (expr == loop)
          add(operand->get(), i);
  } else if (op->hasTrait<OpTrait::Elementwise>()) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        add(operand, of.dim);
  }
}

/// The batch entries and heads that the softmax's first dimension, of unknown
/// size, is together, where the heads are known: B of the tensor (.., B, H, ..)
/// that it is the nearest view of. It is no further away than the queries, with
/// a few steps in between.
static std::optional<TensorDim> findHeadsApart(linalg::SoftmaxOp op) {
  constexpr unsigned mostTensors = 64;
  SmallVector<TensorDim> open{{op.getInput(), 0}};
  llvm::SmallPtrSet<Value, 16> seen;
  for (size_t next = 0; next < open.size() && next < mostTensors; ++next) {
    TensorDim of = open[next];
    if (!of.tensor.getDefiningOp() || !seen.insert(of.tensor).second)
      continue;
    if (auto collapse = of.tensor.getDefiningOp<tensor::CollapseShapeOp>()) {
      auto group = collapse.getReassociationIndices()[of.dim];
      if (group.size() == 2 && !collapse.getSrcType().isDynamicDim(group[1]))
        return TensorDim{collapse.getSrc(), group[0]};
    }
    addSame(open, of);
  }
  return std::nullopt;
}

/// (N, S, T) as (B, H, S, T), of which `heads` and `batch` are given.
static WrittenSoftmax withHeads(IRRewriter &rewriter, linalg::SoftmaxOp op,
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
  return {softmax, joined};
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

constexpr static int64_t mostOfAttention = 4; ///< dimensions

/// Orders of `rank` dimensions with `last` last, beginning with that of the
/// others as they are.
static void addOrders(SmallVector<SoftmaxForm, 0> &forms, int64_t rank,
                      int64_t last, int64_t joined = -1) {
  SmallVector<int64_t, 4> order = llvm::to_vector<4>(llvm::seq(rank));
  llvm::erase(order, last);
  do {
    forms.push_back({SoftmaxForm::Ordered, order, joined});
    forms.back().order.push_back(last);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// The same where one dimension is too many: two neighbours of known size are
/// the heads.
static void addJoined(SmallVector<SoftmaxForm, 0> &forms,
                      linalg::SoftmaxOp op) {
  int64_t last = op.getDimension();
  for (int64_t i = 0; i < mostOfAttention; ++i)
    if (i != last && i + 1 != last &&
        !op.getInputOperandType().isDynamicDim(i) &&
        !op.getInputOperandType().isDynamicDim(i + 1))
      addOrders(forms, mostOfAttention, last < i ? last : last - 1, i);
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

/// The dimensions of `rank`, of which `joined` and the next are one.
static SmallVector<ReassociationIndices> groupsOf(int64_t rank,
                                                  int64_t joined) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    if (i == joined + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  return groups;
}

static WrittenSoftmax ordered(IRRewriter &rewriter, linalg::SoftmaxOp op,
                              const SoftmaxForm &form) {
  if (llvm::is_sorted(form.order) && form.joined < 0)
    return {op, op->getResult(0)};
  Location loc = op.getLoc();
  auto whole = cast<RankedTensorType>(op.getInputOperandType());
  SmallVector<ReassociationIndices> groups;
  Value scores = op.getInput();
  if (form.joined >= 0) {
    groups = groupsOf(whole.getRank(), form.joined);
    scores = tensor::CollapseShapeOp::create(rewriter, loc, scores, groups);
  }
  scores = inOrder(rewriter, scores, form.order);
  auto type = cast<RankedTensorType>(scores.getType());
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, scores),
      type.getElementType());
  auto softmax = linalg::SoftmaxOp::create(rewriter, loc, TypeRange(type),
                                           scores, empty, type.getRank() - 1);
  Value result = inOrder(rewriter, softmax->getResult(0),
                         invertPermutationVector(form.order));
  if (form.joined >= 0)
    result = tensor::ExpandShapeOp::create(
        rewriter, loc, whole, result, groups,
        tensor::getMixedSizes(rewriter, loc, op.getInput()));
  return {softmax, result};
}

//===----------------------------------------------------------------------===//
// All forms
//===----------------------------------------------------------------------===//

SmallVector<SoftmaxForm, 0> attn::formsOf(linalg::SoftmaxOp op) {
  SmallVector<SoftmaxForm, 0> forms;
  int64_t rank = op.getInputOperandRank();
  if (mayJoinHeads(op) && findHeadsApart(op))
    forms.push_back({SoftmaxForm::HeadsApart});
  if (mayJoinHeads(op))
    forms.push_back({SoftmaxForm::OneHead});
  if (rank == mostOfAttention + 1)
    addJoined(forms, op);
  if (rank >= 2 && rank <= mostOfAttention)
    addOrders(forms, rank, op.getDimension());
  else // as it is, which the reader refuses
    forms.push_back(
        {SoftmaxForm::Ordered, llvm::to_vector<4>(llvm::seq(rank))});
  return forms;
}

WrittenSoftmax attn::writeAs(const SoftmaxForm &form, linalg::SoftmaxOp op,
                             IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  WrittenSoftmax written;
  if (form.kind == SoftmaxForm::HeadsApart) {
    TensorDim batch = *findHeadsApart(op);
    auto size = [&](int64_t dim) {
      return tensor::getMixedSize(rewriter, loc, batch.tensor, dim);
    };
    written = withHeads(rewriter, op, size(batch.dim), size(batch.dim + 1));
  } else if (form.kind == SoftmaxForm::OneHead) {
    OpFoldResult all = tensor::getMixedSize(rewriter, loc, op.getInput(), 0);
    written = withHeads(rewriter, op, all, rewriter.getIndexAttr(1));
  } else {
    written = ordered(rewriter, op, form);
  }
  if (written.op != op)
    rewriter.replaceAllUsesWith(op->getResult(0), written.result);
  return written;
}
