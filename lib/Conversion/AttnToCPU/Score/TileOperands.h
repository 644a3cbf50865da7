// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels that compute scores have in common.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_TILEOPERANDS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_TILEOPERANDS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Values of a score function that are needed once more when the scores have
/// become weights: a row of one number per query for each of them and each key.
struct KeptScores {
  Value rows;                         // a matrix; null where nothing is kept
  llvm::SmallVector<Value, 0> values; // of the function
  int64_t keys = 0;                   // rows of each

  Value row(KernelBuilder &k, int64_t number, Value key) const {
    return k.add(key, number * keys);
  }
};

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
  KeptScores kept;                  // of the function
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
