// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels that compute scores have in common.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_TILEOPERANDS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_TILEOPERANDS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// A dropout of weights; see Dropout.h.
struct TileDropout {
  Value seed, batch, head;
  double probability;
};

/// The operands that attn.online and attn.weigh have in common, as values of a
/// kernel function, and what follows from them.
struct TileOperands {
  Value state, key;
  Value paddedKey; // for products of tiles
  Value queryBegin, queryEnd, keyBegin, queryLength, keyLength;
  Value bias;       // may be null
  Value cotangents; // of weights; may be null
  llvm::SmallVector<Value> maskOperands;
  mlir::Attribute mask;             // null: every pair is visible
  mlir::Region *function = nullptr; // null: scores stay as they are
  mlir::ValueRange captures;        // batch entry, head, captured values
  std::optional<TileDropout> dropout;
  mlir::ValueRange prefetch; // matrices that are needed later
};

/// The keys of the tile that a query block looks at, relative to the tile's
/// first: [begin, end), of which [fullBegin, fullEnd) need no mask. The number
/// of keys in the full range is a multiple of the register tile's rows.
struct QueryBlockKeys {
  Value begin, fullBegin, fullEnd, end;
};

} // namespace attn::cpu

#endif
