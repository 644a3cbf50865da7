// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One-shot bufferization compares the arguments of an scf.while, what its
// condition passes on and what its turns yield by their places.
//
// Before:  scf.while (%go = %true, %x = %q) { ..; scf.condition(%go) %x }
//          do { ^bb0(%x: tensor): ..; scf.yield %more, %y }
// After:   scf.while (%x = %q, %go = %true) { ..; scf.condition(%go) %x, %go }
//          do { ^bb0(%x: tensor, %go: i1): ..; scf.yield %y, %more }
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_BUFFERS_ALIGNEDWHILE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_BUFFERS_ALIGNEDWHILE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {

/// The loop with its tensors in front of its other arguments, all of which the
/// condition passes on, in front of what it computes. A failure, after a
/// report, where that is a tensor. `loop` is gone where it was another.
mlir::FailureOr<mlir::scf::WhileOp> alignWhile(mlir::RewriterBase &rewriter,
                                               mlir::scf::WhileOp loop);

} // namespace attn

#endif
