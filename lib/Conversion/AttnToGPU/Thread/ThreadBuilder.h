// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of one thread: where it stands, addresses, and the instructions that
// warps execute together.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_THREADBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_THREAD_THREADBUILDER_H

#include "LinearLayout.h"
#include "attn/Dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace attn::gpucode {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

/// What a copy moves, and what a row of a matrix of ldmatrix has.
inline constexpr int64_t unitBytes = 16;

/// What a thread knows from the begin of its kernel on, as i32: its number in
/// the block, that of its warp, its number there. And the shared memory.
struct Thread {
  Value number, warp, lane, shared;
};

/// Registers of fragments: sums of mma lie four by four, block of 8 columns
/// after block, then block of 16 rows after block; numbers of 16 bits two in a
/// register.
struct FragmentShape {
  explicit FragmentShape(tile::FragmentType type);

  int64_t rowBlocks, columnBlocks;
  LinearLayout layout;

  /// A register of f32, and the first of the four of a block.
  int64_t count() const { return rowBlocks * columnBlocks * 4; }
  int64_t block(int64_t rowBlock, int64_t columnBlock) const {
    return (rowBlock * columnBlocks + columnBlock) * 4;
  }
  /// How far a register of f32 is from the thread's first element.
  Place distance(int64_t reg) const;
  /// The number of the row, among the thread's, that the register lies in.
  int64_t row(int64_t reg) const {
    return reg / (columnBlocks * 4) * 2 + reg / 2 % 2;
  }
  int64_t rows() const { return 2 * rowBlocks; }
};

/// The numbers in a register, two of 16 bits or one of f32, as integers. What
/// is asked for is in the highest bit of each.
class BitPattern {
public:
  BitPattern(class ThreadBuilder &t, mlir::Type element);

  /// Whether a number without its sign is at least so many units in the last
  /// place.
  Value atLeast(Value x, int64_t magnitude);
  Value notFinite(Value x) { return atLeast(x, infinity); }
  Value isNaN(Value x) { return atLeast(x, infinity + 1); }
  /// All bits of the numbers whose highest bit is set; or these bits of them.
  Value fill(Value highest) { return bits(highest, (int64_t(1) << width) - 1); }
  Value bits(Value highest, int64_t ofNumber);
  Value without(Value x, Value mask);
  /// The bits of 2^exponent.
  int64_t power(int64_t exponent) const {
    return ((infinity >> (mantissa + 1)) + exponent) << mantissa;
  }

private:
  ThreadBuilder &t;
  int64_t width, mantissa, infinity, repeat;
};

/// Numbers of rows that a thread has.
int64_t rowsOfThread(mlir::Type type);

class ThreadBuilder {
public:
  ThreadBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                const Thread &thread)
      : b(builder), loc(loc), thread(thread) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  const Thread &thread;

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value index(int64_t value);
  Value f32(double value);
  Value add(Value x, Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  Value both(Value x, Value y) {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value less(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt,
                                       x, y);
  }
  /// Clamped to what 32 bits hold, to be compared with small numbers.
  Value narrow(Value index);
  Value wide(Value i32);
  /// Bits [from, from + count) of an i32.
  Value bits(Value x, int64_t from, int64_t count);

  /// Row and column of the thread's register 0, as i32.
  std::pair<Value, Value> place(const LinearLayout &layout);
  /// Bytes from the begin of a buffer to the place of the thread's register 0.
  Value bytesTo(const LinearLayout &layout, tile::BufferType buffer);

  /// `bytes` behind an address; constants become part of an instruction.
  Value behind(Value address, Value bytes);
  Value behind(Value address, int64_t bytes);
  /// Address of the first element of a buffer, plus bytes of the thread's own.
  Value inBuffer(tile::BufferType buffer, Value bytes);

  /// Four matrices of 8 x 8 numbers of 16 bits.
  Values loadMatrices(Value address, bool transposed);
  /// Sums of mma.m16n8k16 of 16 bits, or mma.m16n8k8 of the upper 19 bits of
  /// f32, which the hardware takes as tf32.
  Values multiply(mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange c,
                  mlir::Type element);
  /// The bits of an f32 as a tf32 towards zero, and of what is left: of an
  /// infinity the largest tf32, and the infinity.
  std::pair<Value, Value> split(Value f32Bits, bool isFinite);
  /// Whatever branches threads took, warps go on together: what they execute
  /// together, as a barrier, may follow.
  void joinWarps() { mlir::NVVM::SyncWarpOp::create(b, loc, i32(-1)); }

  /// Two numbers of 16 bits in an i32.
  Value pack(Value low, Value high, mlir::Type element);
  /// The number of the lane whose number differs in the bits of `mask`.
  Value shuffle(Value x, int64_t mask);
};

/// Threads of the block around, which the kernel demands.
int64_t threadsOf(ThreadBuilder &t);

} // namespace attn::gpucode

#endif
