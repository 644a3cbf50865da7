// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn::cpu;

bool VectorMemory::isBoolean() const {
  return getElementTypeOrSelf(buffer.getType()).isInteger(1);
}

Value VectorMemory::loadNumber() const {
  return memref::LoadOp::create(b, loc, buffer, indices);
}

void VectorMemory::storeNumber(Value value) const {
  memref::StoreOp::create(b, loc, value, buffer, indices);
}

/// Of a boolean. LLVM would read a vector of bits.
Value VectorMemory::address() const {
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  Value at = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  at = arith::AddIOp::create(b, loc, at, parts.getOffset());
  for (auto [index, stride] : llvm::zip_equal(indices, parts.getStrides()))
    at = arith::AddIOp::create(b, loc, at,
                               arith::MulIOp::create(b, loc, index, stride));
  at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), at);
}

Value VectorMemory::load(int64_t lanes, Value mask) const {
  Type element = getElementTypeOrSelf(buffer.getType());
  auto type = VectorType::get(lanes, element);
  if (isBoolean()) {
    Value bytes =
        LLVM::LoadOp::create(b, loc, type.clone(b.getI8Type()), address(), 1);
    return arith::TruncIOp::create(b, loc, type, bytes);
  }
  if (!mask)
    return vector::LoadOp::create(b, loc, type, buffer, indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, buffer, indices, mask,
                                      zero);
}

void VectorMemory::store(Value value, Value mask) const {
  if (isBoolean()) {
    auto type = cast<VectorType>(value.getType()).clone(b.getI8Type());
    Value bytes = arith::ExtUIOp::create(b, loc, type, value);
    LLVM::StoreOp::create(b, loc, bytes, address(), 1);
  } else if (mask) {
    vector::MaskedStoreOp::create(b, loc, buffer, indices, mask, value);
  } else {
    vector::StoreOp::create(b, loc, value, buffer, indices);
  }
}

Value attn::cpu::gatherLanes(OpBuilder &b, Location loc, int64_t lanes,
                             function_ref<Value(int64_t lane)> makeLane) {
  SmallVector<Value> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(makeLane(lane));
  auto type = VectorType::get(lanes, numbers.front().getType());
  return vector::FromElementsOp::create(b, loc, type, numbers);
}
