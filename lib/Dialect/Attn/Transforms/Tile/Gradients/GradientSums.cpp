// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GradientSums.h"
#include "Gradient/Loop.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// Dimensions of copies: batch entries, key heads, parts.
static constexpr int64_t copyDims = 3;

bool attn::sharesPairs(SdpaGradOp op) {
  HeadDims q = op.queryDims();
  if (!op.gradientBy("bias") || q.batch < 0 ||
      op.getQuery().getType().getDimSize(q.batch) == 1)
    return false;
  auto bias = cast<RankedTensorType>(op.getBias().getType());
  int64_t rank = bias.getRank();
  bool perPair = rank >= 2 && bias.getDimSize(rank - 1) != 1 &&
                 bias.getDimSize(rank - 2) != 1;
  return perPair && (rank < 4 || bias.getDimSize(0) == 1);
}

/// As many copies as there are items in each direction in which no item has a
/// part of its own.
GradientSum::GradientSum(OpBuilder &b, SdpaGradOp op, StringAttr name,
                         const GradientItems &items, Type element)
    : name(name), type(cast<RankedTensorType>(op.operandNamed(name).getType())),
      element(element), items(items), isBias(name == "bias") {
  if (isBias)
    findDimsOfBias(op, static_cast<bool>(items.parts));
  else
    findDimsOfCapture(op);
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> copies{
      batch < 0 && !items.walksBatch ? getAsOpFoldResult(items.batches) : one,
      head < 0 ? getAsOpFoldResult(items.keyHeads) : one,
      key < 0 && items.parts ? getAsOpFoldResult(items.parts) : one};
  bool needsCopies =
      padded || !type.getRank() || llvm::any_of(copies, [](OpFoldResult count) {
        return !isOneInteger(count);
      });
  if (needsCopies)
    shape = copies;
  shape.append(padded, one);
  own = padded + type.getRank();
  llvm::append_range(
      shape, tensor::getMixedSizes(b, op.getLoc(), op.operandNamed(name)));
}

/// A bias counts its dimensions from the last one, the keys; it is a matrix per
/// batch entry and head.
void GradientSum::findDimsOfBias(SdpaGradOp op, bool keysAreCut) {
  int64_t rank = type.getRank(), scores = op.scoresShape().size();
  padded = std::max<int64_t>(0, 2 - rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    int64_t ofScores = dim + scores - rank;
    if (ofScores == scores - 1)
      key = keysAreCut ? padded + dim : -1;
    else if (ofScores == scores - 3)
      head = dim;
    else if (ofScores == scores - 4)
      batch = dim;
  }
}

/// Each item has a part of a captured tensor that is read at the batch entry,
/// or the head, only.
void GradientSum::findDimsOfCapture(SdpaGradOp op) {
  unsigned number;
  [[maybe_unused]] bool failed = name.getValue()
                                     .drop_front(StringRef("capture_").size())
                                     .getAsInteger(10, number);
  assert(!failed && "attn.sdpa_grad has no such name in wrt");
  Block &function = op.getScoreFunction().front();
  BlockArgument capture = function.getArgument(FirstCapture + number);
  RankedTensorType query = op.getQuery().getType();
  auto find = [&](ScoreArgument argument, int dimOfQuery) -> int64_t {
    if (dimOfQuery < 0 || query.isDynamicDim(dimOfQuery))
      return -1;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isRead = llvm::all_of(capture.getUsers(), [&](Operation *read) {
        return readsCapture(read) &&
               read->getOperand(1 + dim) == function.getArgument(argument);
      });
      if (isRead && type.getDimSize(dim) == query.getDimSize(dimOfQuery))
        return dim;
    }
    return -1;
  };
  if (!items.walksBatch)
    batch = find(Batch, op.queryDims().batch);
  head = find(Head, op.queryDims().head);
}

Value GradientSum::empty(OpBuilder &b, Location loc) const {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

HeadSlice GradientSum::ofItem(OpBuilder &b, const GradientItem &item) const {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  int64_t rank = shape.size(), first = rank - own;
  HeadSlice slice;
  slice.offsets.assign(rank, zero);
  slice.strides.assign(rank, one);
  slice.sizes = shape;
  if (first) {
    bool perEntry = batch < 0 && !items.walksBatch;
    slice.offsets[0] = perEntry ? OpFoldResult(item.batch) : zero;
    slice.offsets[1] = head < 0 ? OpFoldResult(item.keyHead) : zero;
    slice.offsets[2] = key < 0 && item.part ? OpFoldResult(item.part) : zero;
    std::fill_n(slice.sizes.begin(), copyDims, one);
  }
  auto cut = [&](int64_t dim, OpFoldResult offset, OpFoldResult size) {
    if (dim < 0)
      return;
    slice.offsets[first + dim] = offset;
    slice.sizes[first + dim] = size;
  };
  if (head >= 0) {
    Value firstHead = arith::MulIOp::create(b, item.keyHead.getLoc(),
                                            item.keyHead, items.group);
    cut(head, firstHead, getAsOpFoldResult(items.group));
  }
  cut(batch, item.batch, one);
  cut(key, getAsOpFoldResult(item.firstKey), getAsOpFoldResult(item.keys));
  slice.kept = llvm::to_vector(llvm::seq(first, rank));
  return slice;
}

HeadSlice GradientSum::ofStep(OpBuilder &b, Value sum, Value headOfItem,
                              Value begin, Value rows) const {
  HeadSlice slice;
  slice.offsets.assign(own, b.getIndexAttr(0));
  slice.strides.assign(own, b.getIndexAttr(1));
  slice.sizes = tensor::getMixedSizes(b, sum.getLoc(), sum);
  if (head >= 0) {
    slice.offsets[head] = headOfItem;
    slice.sizes[head] = b.getIndexAttr(1);
  }
  int64_t kept = own;
  if (isBias) {
    kept = 2;
    if (!isOneInteger(slice.sizes[own - 2])) {
      slice.offsets[own - 2] = begin;
      slice.sizes[own - 2] = rows;
    }
  }
  slice.kept = llvm::to_vector(llvm::seq(own - kept, own));
  return slice;
}

Value GradientSum::total(OpBuilder &b, Value written) const {
  int64_t rank = shape.size();
  if (rank == type.getRank())
    return written;
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq(rank - type.getRank(), rank));
  return Loop(b, written)
      .elements(written)
      .sumAt(dims,
             [](OpBuilder &, ValueRange element) { return element.front(); });
}
