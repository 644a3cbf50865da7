// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads take units of 16 bytes by turns, row after row. A kernel does this
// once, so that finding a row's head by a division costs little.
//
// Rows that do not begin at multiples of 16 bytes, which strides decide at run
// time, are copied element by element, and at once.
#include "CopyHeads.h"
#include "CopyRows.h"
#include "GlobalPointer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

namespace {
class HeadsCopy {
public:
  HeadsCopy(ThreadBuilder &t, Value source, tile::BufferType buffer);

  void emit();

private:
  /// A unit of the buffer: its row, whether the source has it, head and query
  /// there, all but i1 as i32.
  struct Unit {
    Value row, number, exists, head, query;
  };

  Value isAligned();
  void forUnits(llvm::function_ref<void(const Unit &)> body);
  void copyUnit(const Unit &unit);
  void copyElements(const Unit &unit);

  ThreadBuilder &t;
  Value source;
  tile::BufferType buffer;
  int64_t elementBytes, heads, columns, unitsOfRow;
  Value address, headBytes, queryBytes; ///< as index
  Value rows;                           ///< of all heads, as i32
};
} // namespace

HeadsCopy::HeadsCopy(ThreadBuilder &t, Value source, tile::BufferType buffer)
    : t(t), source(source), buffer(buffer),
      elementBytes(buffer.getElementBytes()),
      heads(cast<MemRefType>(source.getType()).getDimSize(0)),
      columns(cast<MemRefType>(source.getType()).getDimSize(2)),
      unitsOfRow(buffer.getColumns() * elementBytes / unitBytes) {
  auto facts = memref::ExtractStridedMetadataOp::create(t.b, t.loc, source);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(
      t.b, t.loc, facts.getBaseBuffer());
  Value bytes = t.index(elementBytes);
  address = t.add(base, t.mul(facts.getOffset(), bytes));
  headBytes = t.mul(facts.getStrides()[0], bytes);
  queryBytes = t.mul(facts.getStrides()[1], bytes);
  Value queries = t.narrow(memref::DimOp::create(t.b, t.loc, source, 1));
  rows = t.mul(t.i32(heads), queries);
}

/// Whether all rows begin at multiples of a unit, an i1.
Value HeadsCopy::isAligned() {
  Value all = arith::OrIOp::create(t.b, t.loc, address, headBytes);
  all = arith::OrIOp::create(t.b, t.loc, all, queryBytes);
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                               t.both(all, t.index(unitBytes - 1)), t.index(0));
}

void HeadsCopy::forUnits(llvm::function_ref<void(const Unit &)> body) {
  auto loop = scf::ForOp::create(t.b, t.loc, t.wide(t.thread.number),
                                 t.index(buffer.getRows() * unitsOfRow),
                                 t.index(threadsOf(t)));
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  auto divide = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(t.b, t.loc, x, y);
  };
  auto rest = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(t.b, t.loc, x, y);
  };
  Value number = arith::IndexCastOp::create(t.b, t.loc, t.b.getI32Type(),
                                            loop.getInductionVar());
  Value row = divide(number, t.i32(unitsOfRow));
  Value last = arith::SubIOp::create(t.b, t.loc, rows, t.i32(1));
  Value readable = arith::MinSIOp::create(t.b, t.loc, row, last);
  body({row, rest(number, t.i32(unitsOfRow)), t.less(row, rows),
        rest(readable, t.i32(heads)), divide(readable, t.i32(heads))});
}

void HeadsCopy::copyUnit(const Unit &unit) {
  int64_t bytes = columns * elementBytes;
  Value whole = t.i32(unitBytes);
  if (bytes < unitsOfRow * unitBytes) {
    Value left = arith::SubIOp::create(t.b, t.loc, t.i32(bytes),
                                       t.mul(unit.number, t.i32(unitBytes)));
    left = arith::MinSIOp::create(t.b, t.loc, left, t.i32(unitBytes));
    whole = arith::MaxSIOp::create(t.b, t.loc, left, t.i32(0));
  }
  Value from = t.add(address, t.mul(t.wide(unit.head), headBytes));
  from = t.add(from, t.mul(t.wide(unit.query), queryBytes));
  from = t.add(from, t.mul(t.wide(unit.number), t.index(unitBytes)));
  int64_t pitch = buffer.getPitch() * elementBytes;
  Value to = t.inBuffer(buffer, t.add(t.mul(unit.row, t.i32(pitch)),
                                      t.mul(unit.number, t.i32(unitBytes))));
  NVVM::CpAsyncOp::create(t.b, t.loc, to, globalPointer(t.b, t.loc, from),
                          uint32_t(unitBytes), NVVM::LoadCacheModifierKind::CG,
                          t.select(unit.exists, whole, t.i32(0)));
}

/// What is not there is read at the nearest place, and counts as 0.
void HeadsCopy::copyElements(const Unit &unit) {
  int64_t elements = unitBytes / elementBytes;
  auto loop =
      scf::ForOp::create(t.b, t.loc, t.index(0), t.index(elements), t.index(1));
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  Value column = t.add(t.mul(t.wide(unit.number), t.index(elements)),
                       loop.getInductionVar());
  Value exists = t.both(unit.exists, t.less(column, t.index(columns)));
  Value readable =
      arith::MinSIOp::create(t.b, t.loc, column, t.index(columns - 1));
  Type type = buffer.getElement();
  Value number = memref::LoadOp::create(
      t.b, t.loc, source,
      ValueRange{t.wide(unit.head), t.wide(unit.query), readable});
  Value zero =
      arith::ConstantOp::create(t.b, t.loc, t.b.getFloatAttr(type, 0.0));
  Value place =
      t.add(t.mul(t.wide(unit.row), t.index(buffer.getPitch())), column);
  Value to = t.inBuffer(buffer, t.narrow(t.mul(place, t.index(elementBytes))));
  LLVM::StoreOp::create(t.b, t.loc, t.select(exists, number, zero), to);
}

void HeadsCopy::emit() {
  auto choice = scf::IfOp::create(t.b, t.loc, TypeRange(), isAligned(),
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(choice.thenBlock());
    forUnits([&](const Unit &unit) { copyUnit(unit); });
    t.b.setInsertionPointToStart(choice.elseBlock());
    forUnits([&](const Unit &unit) { copyElements(unit); });
  }
  t.joinWarps();
  NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
}

static void emitCopyHeads(ThreadBuilder &t, Value source,
                          tile::BufferType buffer) {
  HeadsCopy(t, source, buffer).emit();
}

void gpucode::emitCopy(ThreadBuilder &t, tile::CopyAsyncOp op) {
  tile::BufferType buffer = op.getBuffer().getType();
  if (cast<MemRefType>(op.getSource().getType()).getRank() == 3)
    emitCopyHeads(t, op.getSource(), buffer);
  else
    emitCopyAsync(t, op.getSource(), op.getRow(), buffer);
}
