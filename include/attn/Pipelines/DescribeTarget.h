// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module's description of its target (#attn.target).
#ifndef ATTN_PIPELINES_DESCRIBETARGET_H
#define ATTN_PIPELINES_DESCRIBETARGET_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Target/CodeGen.h"

namespace attn {

/// Code for `runs`, with the tile sizes of `tiles`; `generic`: with none of the
/// special instructions.
TargetAttr describeTarget(mlir::MLIRContext *context,
                          const target::Processor &runs,
                          const target::Processor &tiles, bool generic);

/// `target` with the fields of `facts`, such as "lanes=16,registers=32", in
/// place of its own. What is no field, or no value of one, is an error at
/// `context`'s handler.
llvm::FailureOr<TargetAttr> withFacts(TargetAttr target, llvm::StringRef facts);

/// Registers attn-set-target, which gives a module such a description.
void registerSetTarget();

} // namespace attn

#endif
