// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_OPT_NESTING_H
#define ATTN_OPT_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace attn::tool {

/// Brackets, `not` and `-` inside each other that a text may have: MLIR's
/// parser and verifier call themselves for each, and have no limit of their
/// own.
constexpr unsigned maxNesting = 256;

/// The first with `maxNesting` around it; null if there is none.
const char *findTooDeep(llvm::StringRef text);

} // namespace attn::tool

#endif
