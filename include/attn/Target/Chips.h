// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's chips that kernels are made for. The PTX is the same language for
// all, that of sm_80; a chip decides what the cubin is for and how much of a
// block's tile fits.
#ifndef ATTN_TARGET_CHIPS_H
#define ATTN_TARGET_CHIPS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn::target {

struct Chip {
  llvm::StringLiteral name; ///< as --target and ptxas have it
  int64_t sharedKB;         ///< shared memory that a block can have, in KiB
  int64_t sharedBytes() const { return sharedKB << 10; }
};

/// Null where it is none of the table.
const Chip *findChip(llvm::StringRef name);

/// "sm_80, sm_86, ..".
std::string chipNames();

} // namespace attn::target

#endif
