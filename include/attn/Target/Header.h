// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C header of a module's kernels.
#ifndef ATTN_TARGET_HEADER_H
#define ATTN_TARGET_HEADER_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace attn::target {

/// What a header begins with, whatever the version.
inline constexpr llvm::StringLiteral headerMark = "/* Made by attn-opt ";

/// The header of all functions of `module` that carry `attn.ports` and
/// `attn.statuses`. `name` is that of the header file without its ending.
std::string headerText(mlir::ModuleOp module, llvm::StringRef name);

} // namespace attn::target

#endif
