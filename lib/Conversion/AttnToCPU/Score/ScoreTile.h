// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one tile of keys for all query blocks of a query tile. Shared by
// online (which goes on to softmax and context) and weigh (which writes them
// out).
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCORETILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCORETILE_H

#include "QueryBlockExtras.h"
#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"

namespace attn::cpu {

class ScoreTile {
public:
  ScoreTile(KernelBuilder &builder, const StateLayout &layout,
            const TileOperands &operands);
  /// The same tile, where query blocks are those of `narrower`.
  ScoreTile(KernelBuilder &narrower, const ScoreTile &tile);

  KernelBuilder &k;
  const StateLayout &layout;
  const TileOperands &tile;
  QueryBlocks queryBlocks;
  Value keyCount;
  Value factor; // of products of pairs, or null

  /// First query of query block p.
  Value firstQuery(Value p) {
    return k.add(tile.queryBegin, queryBlocks.first(p));
  }

  /// The keys that query block p sees, at the granularity of the register tile.
  QueryBlockKeys visibleKeys(Value p);
  /// All keys of the tile, with the mask (if any) tested everywhere.
  QueryBlockKeys allKeys();

  struct Options {
    bool function = true, bias = true, mask = true, updateMaximum = true;
    /// Whether function and bias are left to whoever reads the scores, of which
    /// those of excluded pairs are hidden.
    bool later = false;
    /// Whether products of pairs, which are not in units of log2, become so.
    /// Only where neither function nor bias wants that may they stay.
    bool scaled = true;
    /// Prefetched: rows behind this tile, those of this tile, and in the first
    /// tile of keys as many as a tile of queries has. May be null.
    Value nextKey = {}, value = {};
    mlir::ValueRange prefetch = {};
  };
  /// A score with bias and mask, for key `key` of the tile and vector v of the
  /// queries of query block p. A careful one tests the mask.
  Value adjust(Value score, Value p, Value key, int64_t v,
               const Options &options, bool careful);
  /// Whether a score, of those that are adjusted later, is of a pair that the
  /// mask excludes.
  Value isHidden(Value score);
  /// The bias, where the tile has one, in units of log2.
  Value bias(Value p, Value key, int64_t v) { return extras.bias(p, key, v); }
  /// The cotangent of a weight, where the tile has some.
  Value cotangent(Value p, Value key, int64_t v) {
    return extras.cotangent(p, key, v);
  }
  /// Writes the scores of `keys` into the query block's weights rows, and their
  /// maximum into NextMaximum.
  void computeScores(Value p, const QueryBlockKeys &keys,
                     const Options &options);

  /// Touches, spread over all query blocks and blocks, the values of this tile,
  /// the keys of the next and, in the first tile, what is needed later.
  void prefetchNext(Value p, Value block, const Options &options);

private:
  RegisterTile products(Value p, llvm::ArrayRef<Value> keyRows);
  void scoreBlock(Value p, Value block, const Options &options, bool careful);
  Value applyFunction(Value score, Value p, Value key, int64_t v);
  Value visible(Value p, Value key, int64_t v);
  Value hiddenMark();

  /// For prefetches, where tiles may have fewer query blocks than there is room
  /// for: 2^20 over their number, rounded up, and rows per block. Null for
  /// products of tiles, whose loops have no register left.
  Value perQueryBlock, rowsPerBlock;
  MaskContext maskContext;
  Formula formula;
  QueryBlockExtras extras;
};

/// Scores of one block of rows by products of tiles (TileScores.cpp).
void scoreBlockOfTiles(ScoreTile &scoreTile, Value p, Value block,
                       const ScoreTile::Options &options, bool careful);

} // namespace attn::cpu

#endif
