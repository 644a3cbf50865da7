// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes to what a C program calls; Passes.td says what each does.
#ifndef ATTN_INTERFACE_PASSES_H
#define ATTN_INTERFACE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Marks the size of a buffer that attn-make-contiguous needs for some calls.
constexpr llvm::StringLiteral contiguousCopyAttr = "attn.contiguous_copy";

/// Returns the number of the worker that runs the item. Called between
/// attn-assign-workspace and attn-outline-parallel; never defined.
constexpr llvm::StringLiteral workerFunction = "attn.worker";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Interface/Passes.h.inc"
} // namespace attn

#endif
