// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product goes in steps of 16 columns of the left matrix; in a step, each
// part of the right one is read once for all blocks of rows of the warp.
#include "Products.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferType;
using tile::FragmentType;

/// Four registers of 16 rows and columns of the left matrix.
static Values left(ThreadBuilder &t, tile::MmaOp op, ValueRange registers,
                   Value base, int64_t rowBlock, int64_t step) {
  if (auto buffer = dyn_cast<BufferType>(op.getLeft().getType()))
    return t.loadMatrices(
        t.behind(base, (rowBlock * 16 * buffer.getPitch() + step * 16) * 2),
        /*transposed=*/false);
  FragmentShape shape(cast<FragmentType>(op.getLeft().getType()));
  return Values(registers.slice(shape.block(rowBlock, 2 * step) / 2, 4));
}

/// The right matrix for 16 columns of the result, 16 of the left one.
static Values right(ThreadBuilder &t, tile::MmaOp op, Value base,
                    int64_t column, int64_t step) {
  BufferType buffer = op.getRight().getType();
  int64_t row = op.getTransposed() ? column : step;
  int64_t other = op.getTransposed() ? step : column;
  return t.loadMatrices(
      t.behind(base, (row * 16 * buffer.getPitch() + other * 16) * 2),
      !op.getTransposed());
}

/// Where the thread's addresses begin.
static Value addresses(ThreadBuilder &t, BufferType buffer,
                       const LinearLayout &layout) {
  return t.inBuffer(buffer, t.bytesTo(layout, buffer));
}

Values gpucode::emitProduct(ThreadBuilder &t, tile::MmaOp op,
                            ValueRange leftRegisters, ValueRange sums) {
  FragmentType type = op.getType();
  FragmentShape shape(type);
  BufferType buffer = op.getRight().getType();
  Value leftBase;
  if (auto inMemory = dyn_cast<BufferType>(op.getLeft().getType()))
    leftBase =
        addresses(t, inMemory,
                  LinearLayout::leftAddresses(type.getRows(), type.getWarps()));
  Value rightBase =
      addresses(t, buffer,
                op.getTransposed() ? LinearLayout::rightAddresses()
                                   : LinearLayout::transposedAddresses());
  int64_t depth = op.getTransposed() ? buffer.getColumns() : buffer.getRows();
  Values results(sums);
  for (int64_t step = 0; step < depth / 16; ++step) {
    SmallVector<Values> rows;
    for (int64_t r = 0; r < shape.rowBlocks; ++r)
      rows.push_back(left(t, op, leftRegisters, leftBase, r, step));
    for (int64_t c = 0; c < type.getColumns() / 16; ++c) {
      Values both = right(t, op, rightBase, c, step);
      for (int64_t r = 0; r < shape.rowBlocks; ++r)
        for (int64_t half = 0; half < 2; ++half) {
          auto *block = results.begin() + shape.block(r, 2 * c + half);
          Values old(block, block + 4);
          Values next = t.multiply(rows[r], ValueRange(both).slice(2 * half, 2),
                                   old, buffer.getElement());
          llvm::copy(next, block);
        }
    }
  }
  return results;
}
