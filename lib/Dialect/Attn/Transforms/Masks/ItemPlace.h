// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a kernel's item lies in an attention.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMPLACE_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_MASKS_ITEMPLACE_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// One batch entry and head, and maybe a tile of its queries.
struct ItemPlace {
  SdpaOp op;
  mlir::Value batch, head;
  /// Query rows [begin, end) and the number of keys, for terms whose bounds are
  /// computed per tile; null: there is no tile, and such bounds are left out.
  mlir::Value begin, end, keyLength;
};

} // namespace attn

#endif
