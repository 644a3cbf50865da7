// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TARGET_TOGETHER_H
#define ATTN_TARGET_TOGETHER_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::target {

/// Calls both, one beside the other where it can.
using Together = llvm::function_ref<void(llvm::function_ref<void()>,
                                         llvm::function_ref<void()>)>;

} // namespace attn::target

#endif
