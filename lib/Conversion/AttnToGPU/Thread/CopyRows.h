// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows between memory and shared memory, in units of 16 bytes.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYROWS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYROWS_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// Rows of `source` from `row` on, and zeros, begin their way into the buffer.
void emitCopyAsync(ThreadBuilder &t, Value source, Value row,
                   tile::BufferType buffer);

/// Rows of the buffer are written, as many and as wide as `memory` has.
void emitCopyOut(ThreadBuilder &t, tile::BufferType buffer, Value memory);

} // namespace attn::gpucode

#endif
