// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one tile of keys for all panels of a query tile. Shared by online
// (which goes on to softmax and context) and weigh (which writes them out).
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCORETILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_SCORETILE_H

#include "PanelExtras.h"
#include "attn/Dialect/Attn/IR/MaskFormula.h"

namespace attn::cpu {

class ScoreTile {
public:
  ScoreTile(KernelBuilder &builder, const StateLayout &layout,
            const TileOperands &operands);
  /// The same tile, where panels are those of `narrower`.
  ScoreTile(KernelBuilder &narrower, const ScoreTile &tile);

  KernelBuilder &k;
  const StateLayout &layout;
  const TileOperands &tile;
  Panels panels;
  Value keyCount;
  Value factor; // of products of pairs, or null

  /// First query of panel p.
  Value firstQuery(Value p) { return k.add(tile.queryBegin, panels.first(p)); }

  /// The keys that panel p sees, at the granularity of the register tile.
  PanelKeys visibleKeys(Value p);
  /// All keys of the tile, with the mask (if any) tested everywhere.
  PanelKeys allKeys();

  struct Options {
    bool function = true, bias = true, mask = true, updateMaximum = true;
    /// Whether products of pairs, which are not in units of log2, become so.
    /// Only where neither function nor bias wants that may they stay.
    bool scaled = true;
    /// Prefetched: rows behind this tile, those of this tile, and in the first
    /// tile of keys as many as a tile of queries has. May be null.
    Value nextKey = {}, value = {};
    mlir::ValueRange ahead = {};
  };
  /// A score with bias and mask, for key `key` of the tile and vector v of the
  /// queries of panel p. A careful one tests the mask.
  Value adjust(Value score, Value p, Value key, int64_t v,
               const Options &options, bool careful);
  /// Writes the scores of `keys` into the panel's weights rows, and their
  /// maximum into NextMaximum.
  void computeScores(Value p, const PanelKeys &keys, const Options &options);

  /// Touches, spread over all panels and blocks, the values of this tile, the
  /// keys of the next and, in the first tile, what is needed later.
  void prefetchNext(Value p, Value block, const Options &options);

private:
  RegisterTile products(Value p, llvm::ArrayRef<Value> keyRows);
  void scoreBlock(Value p, Value block, const Options &options, bool careful);
  Value applyFunction(Value score, Value p, Value key, int64_t v);
  Value visible(Value p, Value key, int64_t v);

  /// For prefetches, where tiles may have fewer panels than there is room for:
  /// 2^20 over their number, rounded up, and rows per block. Null for products
  /// of tiles, whose loops have no register left.
  Value perPanel, rowsPerBlock;
  MaskContext maskContext;
  Formula formula;
  PanelExtras extras;
};

/// Scores of one block of rows by products of tiles (TileScores.cpp).
void scoreBlockOfTiles(ScoreTile &scoreTile, Value p, Value block,
                       const ScoreTile::Options &options, bool careful);

} // namespace attn::cpu

#endif
