// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions of a module are compiled.
#ifndef ATTN_TOOLS_ENTRIES_H
#define ATTN_TOOLS_ENTRIES_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace attn::tool {

/// Checks that there is something to compile, and makes private what was not
/// chosen. `entry` becomes the one function that runs, where there is one: of a
/// program, or the one that --entry names.
llvm::Error selectEntries(mlir::ModuleOp module, const Options &options,
                          std::string &entry);

/// Checks that every --dim names a size of a function of the scheduled level.
llvm::Error checkDims(mlir::ModuleOp module, const Options &options);

} // namespace attn::tool

#endif // ATTN_TOOLS_ENTRIES_H
