// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Booleans, which are one byte each in memory. A vector of i1 would be read as
// packed bits.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_BOOLEANS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_BOOLEANS_H

#include "KernelBuilder.h"

namespace attn::cpu {

/// `lanes` booleans of a row as their bytes, 0 where `mask` (may be null) is
/// false, where no memory is read. Columns are contiguous.
Value loadBytes(KernelBuilder &k, Value matrix, Value row, Value column,
                Value mask);

} // namespace attn::cpu

#endif
