// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of the keys, of which each is an item of a gradient.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_KEYPARTS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_KEYPARTS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Parts of the keys of a head.
struct KeyParts {
  mlir::Value count, keys; ///< parts, and keys of all but the last
};

/// Parts of `split_keys` keys, or larger ones where there were too many of
/// them; none where there are items enough.
std::optional<KeyParts> partsOfKeys(mlir::OpBuilder &b, SdpaGradOp op,
                                    mlir::Value keyLength);

} // namespace attn

#endif
