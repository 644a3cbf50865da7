// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments and rows become elements of memory.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_STORES_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_STORES_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// Writes the registers of the stored value.
void emitStore(ThreadBuilder &t, tile::StoreOp op, mlir::ValueRange numbers);

/// The same through the buffer, so that neighbouring threads have neighbours,
/// and one piece of code serves for all rows.
void emitStore(ThreadBuilder &t, tile::StoreEachOp op,
               mlir::ValueRange numbers);

} // namespace attn::gpucode

#endif
