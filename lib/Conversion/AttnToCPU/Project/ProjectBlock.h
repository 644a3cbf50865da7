// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a few rows of the input and a few vectors of columns, which stay in
// registers.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTBLOCK_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTBLOCK_H

#include "ProjectSizes.h"
#include <functional>

namespace attn::cpu {

/// Columns of a panel, from a row on.
struct Source {
  Value matrix, row;
  Value column; // of the matrix
};

/// One block of sums.
struct SumBlock {
  int64_t rows, vectors;
  Values outRows;     // of tiles the first, of `count` that exist
  Value column;       // of out
  Value begin, steps; // rows of the weight
  Value sums;         // row of the scratch where the sums wait
  Source source;
  bool masked; // the last columns do not exist
  /// What a turn fetches into the cache for later; null: nothing.
  std::function<void(Value turn)> ahead;
  Value count = {};
  /// Where what is read of the source is written for later blocks; null:
  /// nowhere.
  Value copy = {};
};

class BlockBuilder {
public:
  /// `waiting` is null where a step has all products.
  BlockBuilder(KernelBuilder &k, const ProjectOperands &operands,
               const ProjectSizes &sizes, Value waiting);

  /// Row `first` of `matrix` is row 0 of the block; its columns [first,
  /// first + steps) are those to multiply.
  void multiply(const SumBlock &block, Value matrix,
                llvm::ArrayRef<Value> rowsOf, Value first);

  /// The same by products of tiles, of rows from row 0 of `matrix` on; what is
  /// behind the last row may be anything.
  void multiplyTiles(const SumBlock &block, Value matrix);

  /// The sums so far: the bias, or what waits in the scratch.
  RegisterTile start(const SumBlock &block);
  /// Sums that have all their products.
  void writeOut(const SumBlock &block, const RegisterTile &acc);

  KernelBuilder &k;
  int64_t panel;
  Value bias, out, waiting;
  mlir::Block *epilogue;
  mlir::ValueRange captures;
  Value sums; // of one block, for the epilogue or of tiles
  Value rows, width, depth;

private:
  Value maskOf(const SumBlock &block, int64_t v);
  Value columnOf(const SumBlock &block, int64_t v);
  Values results(Value condition, size_t count,
                 llvm::function_ref<Values()> then,
                 llvm::function_ref<Values()> otherwise);
  Values biases(const SumBlock &block);
  Value applyEpilogue(const SumBlock &block, Value sum, Value row, int64_t v);
  Value loadSource(const Source &source, Value d, int64_t v);
  void writeSums(const SumBlock &block, Value matrix, Value first);
  void writeBehindEpilogue(const SumBlock &block, const RegisterTile &acc);
  void prefetchOut(const SumBlock &block);
  void finish(const SumBlock &block, const RegisterTile &acc);
};

/// A panel that the blocks of the one before it fetch, each a part of it: one
/// line in some turns. All of a row in each turn would fill the queue that the
/// rows of the block's own panel need, too.
struct Spread {
  Source next;
  int64_t turnsPerLine;
};

/// What block `number` of a panel fetches: the lines behind those of the blocks
/// before.
std::function<void(Value)> fetchEvenly(KernelBuilder &k, const SumBlock &block,
                                       Spread spread, Value number);

} // namespace attn::cpu

#endif
