// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which queries are rows of one state where the kind is decode.
#ifndef ATTN_DIALECT_ATTN_UTILS_DECODEROWS_H
#define ATTN_DIALECT_ATTN_UTILS_DECODEROWS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Query heads that share a key head and may be packed into one state; 1 where
/// a bias or a mask operand differs between them, 0 where lanes must hold
/// queries.
int64_t packedHeads(SdpaOp op);

/// The most queries per head that the op's decode_schedule takes.
int64_t mostDecodeQueries(SdpaOp op);

} // namespace attn

#endif
