// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes that choose tile sizes; Passes.td says what each does.
#ifndef ATTN_SCHEDULE_PASSES_H
#define ATTN_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Schedule/Passes.h.inc"
} // namespace attn

#endif
