// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices in fragments and buffers.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_PRODUCTS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_PRODUCTS_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// The registers of the result. `left` has some where it is a fragment.
Values emitProduct(ThreadBuilder &t, tile::MmaOp op, mlir::ValueRange left,
                   mlir::ValueRange sums);

} // namespace attn::gpucode

#endif
