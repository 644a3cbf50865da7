// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_UNREADRESULTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_UNREADRESULTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {

/// Results behind out that nothing reads are not computed: `op` becomes one
/// without them.
void dropUnreadResults(SdpaOp op, mlir::RewriterBase &rewriter);

} // namespace attn

#endif
