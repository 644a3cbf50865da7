// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_GLOBALPOINTER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_GLOBALPOINTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attn::gpucode {

/// A pointer to global memory from an address of type index.
inline mlir::Value globalPointer(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value address) {
  auto typeIn = [&](unsigned space) {
    return mlir::LLVM::LLVMPointerType::get(b.getContext(), space);
  };
  mlir::Value number =
      mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  mlir::Value generic =
      mlir::LLVM::IntToPtrOp::create(b, loc, typeIn(0), number);
  return mlir::LLVM::AddrSpaceCastOp::create(b, loc, typeIn(1), generic);
}

} // namespace attn::gpucode

#endif
