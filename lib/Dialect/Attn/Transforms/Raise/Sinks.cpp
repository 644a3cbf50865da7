// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sinks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

Value attn::belowReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// `scores` below a difference with the maximum of each row: softmax is the
/// same without it.
static Value withoutMaximum(Value scores) {
  auto difference = scores.getDefiningOp<arith::SubFOp>();
  auto type = dyn_cast<RankedTensorType>(scores.getType());
  if (!difference || !type)
    return scores;
  int64_t last = type.getRank() - 1;
  auto spread = difference.getRhs().getDefiningOp<linalg::BroadcastOp>();
  if (!spread || spread.getDimensions() != ArrayRef(last))
    return scores;
  auto most =
      belowReshapes(spread.getInput()).getDefiningOp<linalg::ReduceOp>();
  if (!most || most.getInputs().size() != 1 ||
      most.getInputs()[0] != difference.getLhs() ||
      most.getDimensions() != ArrayRef(last) ||
      most->getResult(0).getType() != spread.getInput().getType())
    return scores;
  Block &body = most.getCombiner().front();
  bool isMaximum = llvm::hasSingleElement(body.without_terminator()) &&
                   isa<arith::MaximumFOp, arith::MaxNumFOp>(body.front());
  return isMaximum ? difference.getLhs() : scores;
}

/// The size of a dimension, as it was written where the tensor was made; null
/// where that is not seen.
static OpFoldResult sizeOf(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(tensor.getContext()),
                            type.getDimSize(dim));
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op))
    return splat.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return expand.getMixedOutputShape()[dim];
  if (auto made = dyn_cast_or_null<DestinationStyleOpInterface>(op);
      made && made.getNumDpsInits() == 1)
    return sizeOf(made.getDpsInits()[0], dim);
  if (!op || op->getNumOperands() == 0 ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return {};
  return sizeOf(op->getOperands().back(), dim);
}

/// Whether `slice` is all of the columns that `scores` have, from `first` on.
static bool takesColumnsOf(tensor::ExtractSliceOp slice, Value scores,
                           int64_t first) {
  int64_t rank = cast<RankedTensorType>(scores.getType()).getRank();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  if (!slice.hasUnitStride() || slice.getType().getRank() != rank ||
      !isConstantIntValue(offsets.pop_back_val(), first) ||
      !llvm::all_of(offsets, isZeroInteger))
    return false;
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes())) {
    auto same = dyn_cast_or_null<tensor::DimOp>(
        dyn_cast<Value>(size) ? cast<Value>(size).getDefiningOp() : nullptr);
    if (same && same.getSource() == scores &&
        same.getConstantIndex() == static_cast<int64_t>(dim))
      continue;
    OpFoldResult all = sizeOf(scores, dim);
    if (!all || !isEqualConstantIntOrValue(all, size))
      return false;
  }
  return true;
}

namespace {
/// Scores with a column more, which is the first or the last one.
struct WithColumn {
  Value scores, column; ///< a number, where all of it has that
  bool isFirst = false;
};
} // namespace

/// One column more along the last dimension and nothing else.
static bool addsOne(ArrayRef<int64_t> widths) {
  return widths.back() == 1 &&
         llvm::all_of(widths.drop_back(), [](int64_t w) { return w == 0; });
}

static std::optional<WithColumn> columnOf(Value wide) {
  if (auto pad = wide.getDefiningOp<tensor::PadOp>()) {
    Value number = pad.getConstantPaddingValue();
    ArrayRef<int64_t> front = pad.getStaticLow(), back = pad.getStaticHigh();
    bool isFirst = addsOne(front);
    if (isFirst)
      std::swap(front, back);
    if (!number || !addsOne(back) ||
        !llvm::all_of(front, [](int64_t width) { return width == 0; }))
      return std::nullopt;
    return WithColumn{pad.getSource(), number, isFirst};
  }
  auto concat = wide.getDefiningOp<tensor::ConcatOp>();
  if (!concat || concat.getInputs().size() != 2)
    return std::nullopt;
  int64_t last = concat.getResultType().getRank() - 1;
  if (static_cast<int64_t>(concat.getDim()) != last)
    return std::nullopt;
  for (bool isFirst : {false, true}) {
    Value column = concat.getInputs()[isFirst ? 0 : 1];
    if (cast<RankedTensorType>(column.getType()).getDimSize(last) == 1)
      return WithColumn{concat.getInputs()[isFirst ? 1 : 0], column, isFirst};
  }
  return std::nullopt;
}

SoftmaxParts attn::partsOf(linalg::SoftmaxOp op) {
  SoftmaxParts plain{withoutMaximum(op.getInput()), op->getResult(0), {}};
  std::optional<WithColumn> found = columnOf(plain.scores);
  if (!found || !op->hasOneUse())
    return plain;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(*op->user_begin());
  if (!slice || !takesColumnsOf(slice, found->scores, found->isFirst))
    return plain;
  return {found->scores, slice.getResult(), found->column};
}
