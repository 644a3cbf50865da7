// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a context are scaled where a maximum has grown.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_RESCALE_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_RESCALE_H

#include "ThreadBuilder.h"

namespace attn::gpucode {

/// A thread's registers of `fragment`, each times the factor of its row. Where
/// every factor of a warp is 1, the warp branches over the products.
llvm::SmallVector<Value> emitRescale(ThreadBuilder &t,
                                     tile::FragmentType fragment,
                                     ValueRange numbers, ValueRange factors);

} // namespace attn::gpucode

#endif
