// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Booleans.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::loadBytes(KernelBuilder &k, Value matrix, Value row, Value column,
                     Value mask) {
  OpBuilder &b = k.builder;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, k.loc, matrix);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, k.loc, matrix);
  Value rowOffset =
      arith::MulIOp::create(b, k.loc, row, metadata.getStrides()[0]);
  Value address =
      k.add(k.add(base, metadata.getOffset()), k.add(rowOffset, column));
  Value integer = arith::IndexCastOp::create(b, k.loc, b.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      b, k.loc, LLVM::LLVMPointerType::get(b.getContext()), integer);
  auto type = VectorType::get(k.lanes, b.getI8Type());
  if (!mask)
    return LLVM::LoadOp::create(b, k.loc, type, pointer, /*alignment=*/1);
  Value zero = arith::ConstantOp::create(b, k.loc, b.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(b, k.loc, type, pointer, mask, zero,
                                    /*alignment=*/1);
}
