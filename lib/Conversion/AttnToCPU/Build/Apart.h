// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long code apart from the loops that need it.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_APART_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_APART_H

#include "KernelBuilder.h"

namespace attn::cpu {

/// Instructions, roughly, beyond which the code of a score function or a mask
/// stands in a function of its own. Every vector of a register tile needs it,
/// in several loops of a kernel: code would grow with the product, and the time
/// to compile it with more than that. A call costs little beside so many.
constexpr int64_t mostInline = 128;

/// A call of `KERNEL_suffix`, a function beside the kernel where the builder
/// stands, which `body` fills the first time. It sees its arguments only.
Values callApart(KernelBuilder &k, llvm::StringRef suffix,
                 mlir::ValueRange arguments, mlir::TypeRange results,
                 llvm::function_ref<Values(mlir::ValueRange)> body);

} // namespace attn::cpu

#endif
