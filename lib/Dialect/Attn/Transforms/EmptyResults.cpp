// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmptyResults.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

SmallVector<Value> attn::emptyResults(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  ReifiedRankedShapedTypeDims shapes;
  bool known = succeeded(reifyResultShapes(b, op, shapes));
  assert(known && "sizes of results are those of operands");
  (void)known;
  SmallVector<Value> empties;
  for (auto [result, shape] : llvm::zip(op->getResults(), shapes)) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes;
    for (auto [dim, size] : llvm::enumerate(shape))
      if (type.isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
    empties.push_back(tensor::EmptyOp::create(b, loc, type, sizes));
  }
  return empties;
}
