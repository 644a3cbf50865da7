// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConstantWeight.h"
#include "ConstantMatrix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

ElementsAttr attn::packConstant(ProjectOp op, CPUScheduleAttr schedule) {
  RankedTensorType type = op.getWeight().getType();
  int64_t panel = schedule.getQueryBlock(), width = schedule.getPanelWidth();
  if (!type.hasStaticShape())
    return {};
  int64_t depth = type.getDimSize(op.depthDim()),
          columns = type.getDimSize(op.columnDim());
  if (columns < panel)
    return {};
  int64_t count = llvm::divideCeil(columns, panel),
          rows = schedule.getPanelRows(depth),
          each = schedule.getNumbersPerElement();
  // A splat stays one, and no number of the input hides what is behind the last
  // row unless it is finite.
  DenseFPElementsAttr splat;
  if (rows * each != depth &&
      matchPattern(op.getWeight(), m_Constant(&splat)) && splat.isSplat() &&
      !splat.getSplatValue<APFloat>().isFinite())
    return {};
  SmallVector<int64_t> shape{count, rows, width};
  if (op.hasWeights())
    shape.insert(shape.begin(), type.getDimSize(0));
  auto packed = RankedTensorType::get(shape, type.getElementType());
  bool transposed = op.getTransposed();
  return rearrangeConstant(op.getWeight(), packed, [=](int64_t i) {
    int64_t row = i / width % rows * each + i % each,
            matrix = i / width / rows / count,
            column = i / width / rows % count * panel + i % width / each;
    int64_t first = matrix * depth * columns;
    if (column >= columns || row >= depth)
      return int64_t(-1);
    return first + (transposed ? column * depth + row : row * columns + column);
  });
}

void attn::straightenConstant(ProjectOp op, RewriterBase &rewriter) {
  RankedTensorType type = op.getWeight().getType();
  if (!op.getTransposed() || !type.hasStaticShape())
    return;
  int64_t depth = type.getDimSize(op.depthDim()),
          columns = type.getDimSize(op.columnDim());
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[op.depthDim()], shape[op.columnDim()]);
  ElementsAttr constant =
      rearrangeConstant(op.getWeight(), type.clone(shape), [=](int64_t i) {
        int64_t column = i % columns, row = i / columns % depth;
        return i / columns / depth * depth * columns + column * depth + row;
      });
  if (!constant)
    return;
  Value weight = arith::ConstantOp::create(rewriter, op.getLoc(), constant);
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightMutable().assign(weight);
    op.setTransposed(false);
  });
}
