// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Extents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

Extent attn::tileRange(OpBuilder &b, Location loc, Value tile, Value size,
                       Value total) {
  Value begin = arith::MulIOp::create(b, loc, tile, size);
  Value left = arith::SubIOp::create(b, loc, total, begin);
  Value count = arith::MinUIOp::create(b, loc, left, size);
  return {begin, count};
}

Extent attn::panelRange(OpBuilder &b, Location loc, Extent columns,
                        int64_t panel) {
  Value size = arith::ConstantIndexOp::create(b, loc, panel);
  auto begin = cast<Value>(columns.begin), count = cast<Value>(columns.count);
  return {arith::DivUIOp::create(b, loc, begin, size).getResult(),
          arith::CeilDivUIOp::create(b, loc, count, size).getResult()};
}

Value attn::extract(OpBuilder &b, Location loc, Value tensor,
                    ArrayRef<Extent> ranges, int64_t rank, bool joined) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes,
      strides(ranges.size(), b.getIndexAttr(1));
  for (const Extent &range : ranges) {
    offsets.push_back(range.begin);
    sizes.push_back(range.count);
  }
  auto full = tensor::ExtractSliceOp::inferResultType(type, sizes);
  SmallVector<int64_t> shape(full.getShape().take_back(rank));
  if (joined)
    shape.front() = full.getDimSize(0);
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

void attn::insertInParallel(OpBuilder &b, scf::ForallOp forall, Value tile,
                            ArrayRef<Extent> ranges) {
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  SmallVector<OpFoldResult> offsets, sizes;
  for (const Extent &range : ranges) {
    offsets.push_back(range.begin);
    sizes.push_back(range.count);
  }
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(b, tile.getLoc(), tile,
                                        forall.getRegionIterArgs().front(),
                                        offsets, sizes, strides);
}

SmallVector<Extent> attn::rangesOf(OpBuilder &b, ProjectOp op, Value entry,
                                   Extent row, Extent column) {
  if (op.getType().getRank() != 3)
    return {row, column};
  if (op.joinsEntries())
    return {row, {b.getIndexAttr(0), b.getIndexAttr(1)}, column};
  return {{entry, b.getIndexAttr(1)}, row, column};
}

Extent attn::wholeDepth(OpBuilder &b, ProjectOp op) {
  return {b.getIndexAttr(0),
          tensor::getMixedSize(b, op.getLoc(), op.getWeight(), op.depthDim())};
}

Value attn::weightPart(OpBuilder &b, ProjectOp op, Value entry, Extent depth,
                       Extent column) {
  SmallVector<Extent> ranges{depth, column};
  if (op.getTransposed())
    std::swap(ranges[0], ranges[1]);
  if (op.hasWeights())
    ranges.insert(ranges.begin(), Extent{entry, b.getIndexAttr(1)});
  return extract(b, op.getLoc(), op.getWeight(), ranges, 2);
}

void attn::shareDepth(RewriterBase &b, ProjectOp op) {
  OpOperand &input = op.getInputMutable(), &weight = op.getWeightMutable();
  auto inputType = op.getInput().getType();
  auto weightType = op.getWeight().getType();
  unsigned last = inputType.getRank() - 1, depth = op.depthDim();
  b.setInsertionPoint(op);
  auto know = [&](OpOperand &operand, RankedTensorType type, unsigned dim,
                  int64_t size) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    Value cast = tensor::CastOp::create(b, op.getLoc(), type.clone(shape),
                                        operand.get());
    b.modifyOpInPlace(op, [&] { operand.set(cast); });
  };
  if (inputType.isDynamicDim(last) && !weightType.isDynamicDim(depth))
    know(input, inputType, last, weightType.getDimSize(depth));
  if (weightType.isDynamicDim(depth) && !inputType.isDynamicDim(last))
    know(weight, weightType, depth, inputType.getDimSize(last));
}
