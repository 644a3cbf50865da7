// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops are not unrolled, as nearly no call takes this way.
#include "NotFinite.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

static Value equal(ThreadBuilder &t, Value x, Value y) {
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, x, y);
}

Value gpucode::emitAnyNaN(ThreadBuilder &t, ValueRange numbers) {
  Value own;
  for (Value x : numbers) {
    Value is =
        arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UNO, x, x);
    own = own ? Value(arith::OrIOp::create(t.b, t.loc, own, is)) : is;
  }
  Type i32 = t.b.getI32Type();
  Value any =
      NVVM::BarrierOp::create(t.b, t.loc, i32, /*barrierId=*/Value(),
                              /*numberOfThreads=*/Value(),
                              NVVM::BarrierReductionAttr::get(
                                  t.b.getContext(), NVVM::BarrierReduction::OR),
                              arith::ExtUIOp::create(t.b, t.loc, i32, own))
          .getRes();
  // What a barrier returns is the same for all threads, which ptxas sees of a
  // ballot only: else nothing in a loop that this ends is computed once for a
  // warp, and numbers of the block take registers of every thread.
  Value is = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, any,
                                   t.i32(0));
  Value lanes = NVVM::VoteSyncOp::create(t.b, t.loc, i32, t.i32(-1), is,
                                         NVVM::VoteSyncKind::ballot);
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, lanes,
                               t.i32(0));
}

namespace {
/// What becomes of the numbers in a register in each turn.
struct Sieve {
  ThreadBuilder &t;
  BitPattern pattern;

  Value finite(Value x) {
    return pattern.without(x, pattern.fill(pattern.notFinite(x)));
  }
  /// 1 for NaN and the infinity of one sign.
  Value mark(Value x, bool negative) {
    Value isNaN = pattern.isNaN(x), notFinite = pattern.notFinite(x);
    Value infinite =
        negative ? t.both(notFinite, x) : pattern.without(notFinite, x);
    Value marked = arith::OrIOp::create(t.b, t.loc, isNaN, infinite);
    return pattern.bits(marked, pattern.power(0));
  }
};
} // namespace

/// A thread has words of the first half of a row and those half a row further;
/// one at a time, since the step around has few registers left.
void gpucode::emitSift(ThreadBuilder &t, tile::BufferType buffer, Value turn) {
  constexpr int64_t wordBytes = 4;
  int64_t half = buffer.getColumns() * buffer.getElementBytes() / 2;
  int64_t words = half / wordBytes;
  int64_t pitch = buffer.getPitch() * buffer.getElementBytes();
  Type i32 = t.b.getI32Type();
  auto loop =
      scf::ForOp::create(t.b, t.loc, t.thread.number,
                         t.i32(buffer.getRows() * words), t.i32(threadsOf(t)));
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    Value row = arith::DivUIOp::create(t.b, t.loc, number, t.i32(words));
    Value word = arith::RemUIOp::create(t.b, t.loc, number, t.i32(words));
    Value at = t.inBuffer(
        buffer, t.add(t.mul(row, t.i32(pitch)), t.mul(word, t.i32(wordBytes))));
    Value other = t.behind(at, half);
    Value first = LLVM::LoadOp::create(t.b, t.loc, i32, at);
    Value second = LLVM::LoadOp::create(t.b, t.loc, i32, other);
    Value isFirst = equal(t, turn, t.i32(1));
    Value source = t.select(equal(t, turn, t.i32(2)), first, second);
    Sieve sieve{t, BitPattern(t, buffer.getElement())};
    auto put = [&](Value own, bool negative, Value address) {
      Value x =
          t.select(isFirst, sieve.finite(own), sieve.mark(source, negative));
      LLVM::StoreOp::create(t.b, t.loc, x, address);
    };
    put(first, /*negative=*/false, at);
    put(second, /*negative=*/true, other);
  }
  NVVM::SyncWarpOp::create(t.b, t.loc, t.i32(-1));
  NVVM::Barrier0Op::create(t.b, t.loc);
}

void gpucode::emitStoreMarked(ThreadBuilder &t, tile::StoreMarkedOp op,
                              ValueRange marks) {
  auto type = cast<MemRefType>(op.getMemory().getType());
  FragmentShape shape(op.getMarks().getType());
  int64_t half = shape.columnBlocks / 2;
  auto [row, column] = t.place(shape.layout);
  Value begin =
      t.wide(t.mul(arith::SubIOp::create(t.b, t.loc, op.getTurn(), t.i32(2)),
                   t.i32(half * 8)));
  Value firstRow = t.wide(row), firstColumn = t.add(begin, t.wide(column));
  Value rows = memref::DimOp::create(t.b, t.loc, op.getMemory(), 0);
  Value columns = memref::DimOp::create(t.b, t.loc, op.getMemory(), 1);
  auto positive = [&](Value x) -> Value {
    return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OGT, x,
                                 t.f32(0));
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int64_t block = 0; block < shape.rowBlocks * half; ++block)
    for (int64_t i = 0; i < 4; ++i) {
      int64_t reg = shape.block(block / half, block % half) + i;
      Value up = positive(marks[reg]), down = positive(marks[reg + half * 4]);
      Place at = shape.distance(reg);
      Value r = t.add(firstRow, t.index(at.row));
      Value c = t.add(firstColumn, t.index(at.column));
      Value is = t.both(arith::OrIOp::create(t.b, t.loc, up, down),
                        t.both(t.less(r, rows), t.less(c, columns)));
      auto marked = scf::IfOp::create(t.b, t.loc, is);
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(marked.thenBlock());
      Value x =
          t.select(down, t.select(up, t.f32(std::nan("")), t.f32(-infinity)),
                   t.f32(infinity));
      if (!type.getElementType().isF32())
        x = arith::TruncFOp::create(t.b, t.loc, type.getElementType(), x);
      memref::StoreOp::create(t.b, t.loc, x, op.getMemory(), ValueRange{r, c});
    }
  t.joinWarps();
}
