// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pair.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

Value gpucode::clampIndex(OpBuilder &b, Location loc, Value memref, int64_t dim,
                          Value index) {
  Value size = memref::DimOp::create(b, loc, memref, dim);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value last = arith::SubIOp::create(b, loc, size, one);
  index = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, index, zero);
}

Value gpucode::loadOfPair(OpBuilder &b, Location loc, Value matrix,
                          const Pair &pair) {
  auto type = cast<MemRefType>(matrix.getType());
  SmallVector<Value> at{pair.query, pair.key};
  at.erase(at.begin(), at.end() - type.getRank());
  for (auto [dim, index] : llvm::enumerate(at))
    index = type.getDimSize(dim) == 1
                ? Value(arith::ConstantIndexOp::create(b, loc, 0))
                : clampIndex(b, loc, matrix, static_cast<int64_t>(dim), index);
  return memref::LoadOp::create(b, loc, matrix, at);
}
