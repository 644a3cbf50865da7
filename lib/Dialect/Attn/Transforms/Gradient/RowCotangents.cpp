// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowCotangents.h"
#include "Loop.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

Value attn::cotangentOfLse(OpBuilder &b, SdpaGradOp op) {
  if (!op.getWeights())
    return op.getDLse();
  // A weight of 0 contributes nothing, whatever its cotangent holds.
  Value ofWeights =
      Loop(b, op.getDWeights())
          .elements(op.getWeights())
          .elements(op.getDWeights())
          .sumOfRows([&](OpBuilder &inner, ValueRange a) -> Value {
            Scalars s{inner, op.getLoc()};
            return s.unless(a[0], 0, s.mul(a[0], a[1]));
          });
  Loop rows(b, ofWeights);
  rows.elements(ofWeights);
  bool ofLse = static_cast<bool>(op.getDLse());
  if (ofLse)
    rows.elements(op.getDLse());
  return rows.map(getElementTypeOrSelf(ofWeights),
                  [&](OpBuilder &inner, ValueRange a) {
                    Scalars s{inner, op.getLoc()};
                    return s.sub(ofLse ? a[1] : s.number(0, a[0]), a[0]);
                  });
}

SmallVector<int64_t> attn::rowDims(SdpaGradOp op) {
  HeadDims dims = op.outDims();
  SmallVector<int64_t> present;
  for (int dim : {dims.batch, dims.head, dims.sequence})
    if (dim >= 0)
      present.push_back(dim);
  return present;
}

Value attn::sumOfProducts(OpBuilder &b, SdpaGradOp op, Value out,
                          ArrayRef<int64_t> dims) {
  return Loop(b, op.getDOut())
      .elements(op.getDOut())
      .elements(out)
      .sumAt(dims, [&](OpBuilder &inner, ValueRange a) -> Value {
        Scalars s{inner, op.getLoc()};
        return s.unless(a[1], 0, s.mul(a[0], a[1]));
      });
}
