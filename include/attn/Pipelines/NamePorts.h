// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that a specification gives its arguments and results.
#ifndef ATTN_PIPELINES_NAMEPORTS_H
#define ATTN_PIPELINES_NAMEPORTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class AsmParserState;
}

namespace attn {

/// Gives every argument and result of every public function the attribute
/// `attn.name`, a name that C can use and no other has: the SSA name in the
/// text,
/// `%r#1` as r_1 and `%int` as int_. One that stands there is not looked at.
/// Numbers, and everything if `state` is null (bytecode has no names), become
/// arg0, arg1, .. and out0, out1, ..
void namePorts(mlir::ModuleOp module, const mlir::AsmParserState *state);

/// The same for a model, whose tensors' names stand in `attn.name`: each
/// becomes the nearest that C can use and no other has.
void nameModelPorts(mlir::ModuleOp module);

} // namespace attn

#endif
