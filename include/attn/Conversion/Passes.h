// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from attn to other dialects; Passes.td says what each does.
#ifndef ATTN_CONVERSION_PASSES_H
#define ATTN_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

#endif
