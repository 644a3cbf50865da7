// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that are not finite: found, sifted out of values, and written.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_NOTFINITE_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_NOTFINITE_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// tile.any_nan: an i1, the same for all threads.
Value emitAnyNaN(ThreadBuilder &t, mlir::ValueRange numbers);

/// tile.sift.
void emitSift(ThreadBuilder &t, tile::BufferType buffer, Value turn);

/// tile.store_marked.
void emitStoreMarked(ThreadBuilder &t, tile::StoreMarkedOp op,
                     mlir::ValueRange marks);

} // namespace attn::gpucode

#endif
