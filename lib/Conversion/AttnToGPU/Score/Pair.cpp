// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pair.h"
#include "GlobalPointer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

/// What is read of a row and of a column follows from these alone, and is added
/// last: an element takes one addition and one instruction that reads.
Value gpucode::loadOfPair(OpBuilder &b, Location loc, Value matrix,
                          const Pair &pair) {
  auto type = cast<MemRefType>(matrix.getType());
  int64_t rank = type.getRank();
  auto facts = memref::ExtractStridedMetadataOp::create(b, loc, matrix);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  Value bytes = constant(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(b, loc, x, y);
  };
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      b, loc, facts.getBaseBuffer());
  address =
      arith::AddIOp::create(b, loc, address, times(facts.getOffset(), bytes));
  SmallVector<Value> at{pair.query, pair.key};
  at.erase(at.begin(), at.end() - rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (type.getDimSize(dim) == 1)
      continue;
    // Of a pair, there is a row and a column at least, and none is negative.
    Value size = memref::DimOp::create(b, loc, matrix, dim);
    Value last = arith::SubIOp::create(b, loc, size, constant(1));
    Value index = arith::MinSIOp::create(b, loc, at[dim], last);
    Value stride = getValueOrCreateConstantIndexOp(
        b, loc, facts.getConstifiedMixedStrides()[dim]);
    address = arith::AddIOp::create(b, loc, address,
                                    times(index, times(stride, bytes)));
  }
  Value pointer = globalPointer(b, loc, address);
  return LLVM::LoadOp::create(b, loc, type.getElementType(), pointer);
}
