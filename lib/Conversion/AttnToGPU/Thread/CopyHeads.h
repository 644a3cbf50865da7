// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of several heads, which lie anywhere, as rows of one buffer.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYHEADS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYHEADS_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// All rows of `source` (heads x queries x features), and zeros, begin their
/// way into the buffer: row i * heads + g is query i of head g.
void emitCopyHeads(ThreadBuilder &t, Value source, tile::BufferType buffer);

} // namespace attn::gpucode

#endif
