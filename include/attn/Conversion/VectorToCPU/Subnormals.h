// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers below the least normal one.
#ifndef ATTN_CONVERSION_VECTORTOCPU_SUBNORMALS_H
#define ATTN_CONVERSION_VECTORTOCPU_SUBNORMALS_H

#include "llvm/ADT/StringRef.h"

namespace attn {

/// Of a function for x86 whose results may be 0 where they would be subnormal
/// (FlushSubnormals.cpp).
inline constexpr llvm::StringLiteral flushesAttr = "attn.flushes";

} // namespace attn

#endif
