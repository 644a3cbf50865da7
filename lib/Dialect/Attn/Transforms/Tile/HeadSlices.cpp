// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HeadSlices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

HeadSlice attn::headSliceOf(OpBuilder &b, Value tensor, SliceDims dims,
                            OpFoldResult batch, OpFoldResult head,
                            OpFoldResult heads) {
  auto type = cast<RankedTensorType>(tensor.getType());
  HeadSlice slice;
  slice.offsets.assign(type.getRank(), b.getIndexAttr(0));
  slice.strides.assign(type.getRank(), b.getIndexAttr(1));
  slice.sizes = tensor::getMixedSizes(b, tensor.getLoc(), tensor);
  if (dims.batch >= 0) {
    slice.offsets[dims.batch] = batch;
    slice.sizes[dims.batch] = b.getIndexAttr(1);
  }
  if (dims.head >= 0) {
    slice.offsets[dims.head] = head;
    slice.sizes[dims.head] = heads;
  }
  slice.kept = {dims.sequence, dims.feature};
  return slice;
}

Value attn::insertSlice(OpBuilder &b, Value rows, Value into,
                        const HeadSlice &slice) {
  return tensor::InsertSliceOp::create(
      b, into.getLoc(), rows, into, slice.offsets, slice.sizes, slice.strides);
}

Value attn::zerosIn(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, tensor).getResult(0);
}

Value attn::roundInto(OpBuilder &b, Value sums, Value into) {
  Type element = cast<RankedTensorType>(into.getType()).getElementType();
  int64_t rank = cast<RankedTensorType>(into.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto round = linalg::GenericOp::create(
      b, into.getLoc(), into.getType(), sums, into, maps, loops,
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Value rounded =
            arith::TruncFOp::create(inner, at, element, args.front());
        linalg::YieldOp::create(inner, at, rounded);
      });
  return round.getResult(0);
}

Value attn::emptyLike(OpBuilder &b, Value tensor) {
  Location loc = tensor.getLoc();
  return tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, tensor),
      cast<RankedTensorType>(tensor.getType()).getElementType());
}
