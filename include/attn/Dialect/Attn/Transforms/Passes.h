// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from attn to attn; Passes.td says what each does.
#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"

/// Makes the tile ops known to one-shot bufferization.
void registerBufferizableOpInterfaces(mlir::DialectRegistry &registry);
} // namespace attn

#endif
