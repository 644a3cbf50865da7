// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the elements of fragments and rows.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_MAPS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_MAPS_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// What a region yields for one element.
Value emitElement(ThreadBuilder &t, mlir::Block &body,
                  mlir::ValueRange arguments);

/// tile.map: the registers of its result, from those of its operands.
Values emitMap(ThreadBuilder &t, tile::MapOp op,
               llvm::ArrayRef<mlir::ValueRange> operands);

} // namespace attn::gpucode

#endif
