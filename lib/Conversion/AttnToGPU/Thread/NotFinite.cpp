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
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne, any,
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

/// A thread has units of the first half of a row and those half a row further.
void gpucode::emitSift(ThreadBuilder &t, tile::BufferType buffer, Value turn) {
  int64_t half = buffer.getColumns() * buffer.getElementBytes() / 2;
  int64_t units = half / unitBytes;
  int64_t pitch = buffer.getPitch() * buffer.getElementBytes();
  auto loop = scf::ForOp::create(t.b, t.loc, t.wide(t.thread.number),
                                 t.index(buffer.getRows() * units),
                                 t.index(threadsOf(t)));
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value isFirst = equal(t, turn, t.index(0));
    Value ofFirst = equal(t, turn, t.index(1));
    Value number = arith::IndexCastOp::create(t.b, t.loc, t.b.getI32Type(),
                                              loop.getInductionVar());
    Value row = arith::DivUIOp::create(t.b, t.loc, number, t.i32(units));
    Value unit = arith::RemUIOp::create(t.b, t.loc, number, t.i32(units));
    Value at = t.inBuffer(
        buffer, t.add(t.mul(row, t.i32(pitch)), t.mul(unit, t.i32(unitBytes))));
    Value other = t.behind(at, half);
    auto four = VectorType::get(4, t.b.getI32Type());
    auto load = [&](Value address) -> Value {
      return LLVM::LoadOp::create(t.b, t.loc, four, address, unitBytes);
    };
    Value first = load(at), second = load(other);
    Value newFirst = first, newSecond = second;
    Sieve sieve{t, BitPattern(t, buffer.getElement())};
    for (int64_t i = 0; i < 4; ++i) {
      auto word = [&](Value unit) -> Value {
        return LLVM::ExtractElementOp::create(t.b, t.loc, unit, t.i32(i));
      };
      auto put = [&](Value &unit, Value own, bool negative, Value source) {
        Value x =
            t.select(isFirst, sieve.finite(own), sieve.mark(source, negative));
        unit = LLVM::InsertElementOp::create(t.b, t.loc, unit, x, t.i32(i));
      };
      Value x = word(first), y = word(second);
      Value source = t.select(ofFirst, x, y);
      put(newFirst, x, /*negative=*/false, source);
      put(newSecond, y, /*negative=*/true, source);
    }
    LLVM::StoreOp::create(t.b, t.loc, newFirst, at, unitBytes);
    LLVM::StoreOp::create(t.b, t.loc, newSecond, other, unitBytes);
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
      t.mul(arith::SubIOp::create(t.b, t.loc, op.getTurn(), t.index(1)),
            t.index(half * 8));
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
  // Whatever branches threads took, warps go on together.
  NVVM::SyncWarpOp::create(t.b, t.loc, t.i32(-1));
}
