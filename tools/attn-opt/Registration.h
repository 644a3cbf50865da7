// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn-opt knows: its dialects and, as a pass driver, its passes.
#ifndef ATTN_OPT_REGISTRATION_H
#define ATTN_OPT_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace attn::tool {
/// Every dialect that a phase may hold, with what bufferization and the
/// translation to LLVM IR must know about it.
void registerDialects(mlir::DialectRegistry &registry);

/// Our passes, and those of MLIR that a person needs between them.
void registerPasses();
} // namespace attn::tool

#endif
