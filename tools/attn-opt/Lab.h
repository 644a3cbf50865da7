// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --emit=lab: the page that the compiled program writes of one call.
#ifndef ATTN_OPT_LAB_H
#define ATTN_OPT_LAB_H

#include "Output.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace attn::tool {

/// Links `module`, a program with a picture, runs it with the options'
/// arguments, and writes its page. Where the program refuses these, it has said
/// why, and `status` is its own.
llvm::Error writePage(const Output &output, mlir::ModuleOp module,
                      ExitStatus &status);

} // namespace attn::tool

#endif
