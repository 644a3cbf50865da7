// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of a copy whose neighbours lie along other loops than those it reads.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_TRANSPOSEEMITTER_H
#define ATTN_CONVERSION_LINALGTOVECTOR_TRANSPOSEEMITTER_H

#include "RowEmitter.h"

namespace attn::cpu {

/// Makes the loops over blocks of a transposing copy: as many vectors as each
/// has lanes are read along one loop, transposed in registers, and written
/// along the other.
class TransposeEmitter {
public:
  /// The emitter, if `nest` is such a copy and has blocks that are worth it.
  static std::optional<TransposeEmitter>
  match(mlir::OpBuilder &b, const LoopNest &nest, VectorUnit unit);

  /// Rows are turns of the other loops; `pieces`, of as many blocks in a row,
  /// are numbered with the blocks fastest.
  mlir::Value pieces();
  /// The elements of a piece.
  mlir::Value pieceElements();
  /// The pieces from `from` up to `to`.
  void emit(mlir::Value from, mlir::Value to);

private:
  TransposeEmitter(mlir::OpBuilder &b, const LoopNest &nest, unsigned across,
                   int64_t lanes, bool canMask)
      : b(b), nest(nest), loc(nest.op.getLoc()), across(across), lanes(lanes),
        canMask(canMask) {}

  mlir::Value index(int64_t value);
  mlir::Value sizeOf(unsigned loop) { return loopSize(b, nest, loop); }
  mlir::Value blocks();
  bool isWhole(unsigned loop);
  /// Where `access` has its element, with two indices of a block.
  llvm::SmallVector<mlir::Value> place(const Access &access, mlir::Value row,
                                       mlir::Value column);
  void emitPiece();
  void emitBlock(mlir::Value column, bool isEdge);
  void emitNumbers(mlir::Value column);

  mlir::OpBuilder &b;
  const LoopNest &nest;
  mlir::Location loc;
  unsigned across; ///< the loop along which neighbours are read
  int64_t lanes;
  bool canMask;
  // Of the piece that is being made.
  llvm::SmallVector<mlir::Value> point; ///< an index per loop
  mlir::Value begin, count;             ///< indices of `across`
};

} // namespace attn::cpu

#endif
