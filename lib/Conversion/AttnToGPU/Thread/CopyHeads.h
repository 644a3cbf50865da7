// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of several heads, which lie anywhere, as rows of one buffer.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYHEADS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_COPYHEADS_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// The copy begins. Of a matrix it is emitCopyAsync; of a source of heads x
/// queries x features all rows come, and zeros, and row i * heads + g is query
/// i of head g.
void emitCopy(ThreadBuilder &t, tile::CopyAsyncOp op);

} // namespace attn::gpucode

#endif
