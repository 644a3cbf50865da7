// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One relocatable object of several, without a linker.
#ifndef ATTN_LIB_TARGET_JOINOBJECTS_H
#define ATTN_LIB_TARGET_JOINOBJECTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace attn::target {

/// Joins ELF objects of 64 bits, lowest byte first, that LLVM has just made of
/// the parts of one module: every function in a section of its own, no groups
/// of sections, and what parts share is hidden. What was hidden is local in the
/// result. Functions, with what their section relocates, stand in their order.
void joinObjects(llvm::ArrayRef<llvm::StringRef> objects,
                 const llvm::StringMap<size_t> &functionOrder,
                 llvm::SmallVectorImpl<char> &result);

} // namespace attn::target

#endif
