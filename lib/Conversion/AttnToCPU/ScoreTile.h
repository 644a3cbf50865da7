// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of one tile of keys for all panels of a query tile. Shared by online
// (which goes on to softmax and context) and weigh (which writes them out).
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORETILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORETILE_H

#include "Panels.h"
#include "StateLayout.h"
#include "attn/Dialect/Attn/IR/MaskFormula.h"

namespace attn::cpu {

/// The operands that attn.online and attn.weigh have in common, as values of a
/// kernel function, and what follows from them.
struct TileOperands {
  Value state, key;
  Value paddedKey; // for products of tiles
  Value queryBegin, queryEnd, keyBegin, queryLength, keyLength;
  Value bias; // may be null
  llvm::SmallVector<Value> maskOperands;
  mlir::Attribute mask;             // null: every pair is visible
  mlir::Region *function = nullptr; // null: scores stay as they are
  mlir::ValueRange captures;        // batch entry, head, captured values
  mlir::ValueRange ahead;           // matrices that are needed later
};

/// The keys of the tile that a panel looks at, relative to the tile's first:
/// [begin, end), of which [fullBegin, fullEnd) need no mask. The number of keys
/// in the full range is a multiple of the register tile's rows.
struct PanelKeys {
  Value begin, fullBegin, fullEnd, end;
};

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

private:
  void packExtras(Value p, const PanelKeys &keys, const Options &options);
  void packMatrix(Value matrix, int64_t firstRow, Value p,
                  const PanelKeys &keys);
  RegisterTile products(Value p, llvm::ArrayRef<Value> keyRows);
  void scoreBlock(Value p, Value block, const Options &options, bool careful);
  void multiplyTiles(Value p, Value first, Value keys);
  void adjustRows(Value p, Value begin, Value end, const Options &options,
                  bool careful);
  void scoreBlockOfTiles(Value p, Value block, const Options &options,
                         bool careful);
  Value ofPair(Value matrix, Value p, Value key);
  Value applyFunction(Value score, Value p, Value key, int64_t v);
  Value biasVector(Value p, Value key, int64_t v);
  Value visible(Value p, Value key, int64_t v);
  Value evaluate(const Formula &formula, Value query, Value key, Value p,
                 int64_t v);
  ScoreTile(KernelBuilder &builder, const ScoreTile &other,
            const TileOperands &operands);
  int64_t lengthOf(const Formula &formula);
  Value evaluateApart(const Formula &formula, llvm::StringRef name, Value query,
                      Value key, Value p, int64_t v);
  Value callMask(const Formula &formula, llvm::StringRef name, Value query,
                 Value key);
  Value termVector(const FormulaNode &literal, Value query, Value key);
  bool ofLaneZero(const Linear &linear);
  Value compare(const Linear &linear, bool equality, Value query, Value key);
  Value scalarValue(const Linear &linear, Value query, Value key);
  Value laneValues(const Linear &linear, Value query, Value key);
  Value opaqueVector(unsigned operand, Value p, Value key, int64_t v);
  Value variableValue(int variable, Value query, Value key);
  void prefetchNext(Value p, Value block, const Options &options);

  /// For prefetches, where tiles may have fewer panels than there is room for:
  /// 2^20 over their number, rounded up, and rows per block. Null for products
  /// of tiles, whose loops have no register left.
  Value perPanel, rowsPerBlock;
  MaskContext maskContext;
  Formula formula;
  /// Matrices that are transposed per panel, by number of extra.
  llvm::SmallVector<Value> packed;
};

/// How a matrix that broadcasts to (queries x keys) is read.
enum class MatrixKind { Matrix, Row, Column };
MatrixKind matrixKind(Value matrix);

/// The boolean matrices among a mask's operands that are transposed per panel.
Values packedMasks(mlir::Attribute mask, mlir::ValueRange operands);

/// Bias in units of log2. The lowest float is a bias and stays finite; -inf
/// excludes.
Value biasInLog2(KernelBuilder &k, Value bias);

} // namespace attn::cpu

#endif
