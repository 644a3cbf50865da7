// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bias, boolean masks and cotangents of weights of a tile: matrices that
// broadcast to (queries x keys). Those with a number per query are transposed
// per query block into the state.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_PANELEXTRAS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_PANELEXTRAS_H

#include "Build/QueryBlocks.h"
#include "Build/StateLayout.h"
#include "TileOperands.h"

namespace attn::cpu {

/// How a matrix that broadcasts to (queries x keys) is read.
enum class MatrixKind { Matrix, Row, Column };
MatrixKind matrixKind(Value matrix);

/// The boolean matrices among a mask's operands that are transposed per query
/// block.
Values packedMasks(mlir::Attribute mask, mlir::ValueRange operands);

/// Bias in units of log2. The lowest float is a bias and stays finite; -inf
/// excludes.
Value biasInLog2(KernelBuilder &k, Value bias);

class QueryBlockExtras {
public:
  QueryBlockExtras(KernelBuilder &builder, const StateLayout &layout,
                   const TileOperands &operands,
                   const QueryBlocks &queryBlocks);
  /// The same for query blocks of another width.
  QueryBlockExtras(KernelBuilder &builder, const QueryBlockExtras &other);

  /// Transposes the part of query block p; cotangents in any case.
  void pack(Value p, const QueryBlockKeys &keys, bool bias, bool mask);
  /// For key `key` of the tile and vector v of the queries of query block p.
  Value bias(Value p, Value key, int64_t v);
  Value cotangent(Value p, Value key, int64_t v);
  Value isAllowed(unsigned operand, Value p, Value key, int64_t v);

private:
  Value firstQuery(Value p) {
    return k.add(tile.queryBegin, queryBlocks.first(p));
  }
  void packMatrix(Value matrix, int64_t firstRow, Value p,
                  const QueryBlockKeys &keys);
  Value ofPair(Value matrix, Value p, Value key);
  /// Element of a matrix of floats, in the unit in which it is transposed.
  Value number(Value matrix, Value p, Value key, int64_t v);
  Value inUnit(Value matrix, Value number);
  Value loadExtra(Value matrix, Value row, Value column, Value mask);

  KernelBuilder &k;
  const StateLayout &layout;
  const TileOperands &tile;
  QueryBlocks queryBlocks;
  /// Matrices that are transposed per query block, by number of extra.
  llvm::SmallVector<Value> packed;
};

} // namespace attn::cpu

#endif
