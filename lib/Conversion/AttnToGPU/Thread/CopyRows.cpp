// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbouring threads copy neighbouring units of a row; as many threads as the
// next power of two of a row's units stand at one row, and the others at the
// rows behind it. A thread has the same unit in all its rows. Rows of more
// units than there are threads are copied part by part.
//
// Rows that do not begin at multiples of 16 bytes, which strides decide at run
// time, are copied element by element, and at once.
#include "CopyRows.h"
#include "GlobalPointer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

namespace {
/// Which units a thread copies, of those from `first` on.
struct Units {
  Units(ThreadBuilder &t, tile::BufferType buffer, int64_t threads,
        int64_t first);

  int64_t end;          ///< behind the last unit of a row's part
  int64_t threadsOfRow; ///< a power of two
  int64_t rowsAtOnce, turns;
  /// Row of the first unit and number of the unit in its row, as i32.
  Value row, unit;
  Value busy; ///< i1; null where every thread is
};

/// Memory of a matrix.
struct Matrix {
  Matrix(ThreadBuilder &t, Value memref);

  Value address;        ///< of element (0, 0), as index
  Value rows, rowBytes; ///< as index
  int64_t columns, elementBytes;
};
} // namespace

static int64_t unitsOfRow(tile::BufferType buffer) {
  return buffer.getColumns() * buffer.getElementBytes() / unitBytes;
}

/// Runs `body` for each part of the rows.
static void forParts(ThreadBuilder &t, tile::BufferType buffer,
                     llvm::function_ref<void(const Units &)> body) {
  int64_t threads = threadsOf(t);
  for (int64_t first = 0; first < unitsOfRow(buffer); first += threads)
    body(Units(t, buffer, threads, first));
}

Units::Units(ThreadBuilder &t, tile::BufferType buffer, int64_t threads,
             int64_t first)
    : end(std::min(first + threads, unitsOfRow(buffer))) {
  int64_t count = end - first;
  threadsOfRow = static_cast<int64_t>(llvm::PowerOf2Ceil(count));
  int64_t shift = llvm::Log2_64(threadsOfRow);
  rowsAtOnce = std::max<int64_t>(1, threads / threadsOfRow);
  turns = llvm::divideCeil(buffer.getRows(), rowsAtOnce);
  row = t.bits(t.thread.number, shift, 32 - shift - 1);
  unit = t.bits(t.thread.number, 0, shift);
  if (count != threadsOfRow)
    busy = t.less(unit, t.i32(count));
  if (first > 0)
    unit = t.add(unit, t.i32(first));
  if (rowsAtOnce > buffer.getRows()) {
    Value has = t.less(row, t.i32(buffer.getRows()));
    busy = busy ? t.both(busy, has) : has;
  }
}

Matrix::Matrix(ThreadBuilder &t, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  elementBytes = type.getElementTypeBitWidth() / 8;
  columns = type.getDimSize(1);
  auto facts = memref::ExtractStridedMetadataOp::create(t.b, t.loc, memref);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(
      t.b, t.loc, facts.getBaseBuffer());
  Value bytes = t.index(elementBytes);
  address = t.add(base, t.mul(facts.getOffset(), bytes));
  rows = memref::DimOp::create(t.b, t.loc, memref, 0);
  Value stride = facts.getStrides()[0];
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(type.getStridesAndOffset(strides, offset)) &&
      !ShapedType::isDynamic(strides[0]))
    stride = t.index(strides[0]);
  rowBytes = t.mul(stride, bytes);
}

/// Whether all rows begin at multiples of a unit, an i1.
static Value isAligned(ThreadBuilder &t, const Matrix &matrix) {
  Value both =
      arith::OrIOp::create(t.b, t.loc, matrix.address, matrix.rowBytes);
  Value rest = t.both(both, t.index(unitBytes - 1));
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, rest,
                               t.index(0));
}

/// Bytes of the row that the thread's unit has: a whole unit, or what is left.
static Value bytesOfUnit(ThreadBuilder &t, const Units &units,
                         const Matrix &matrix) {
  int64_t bytes = matrix.columns * matrix.elementBytes;
  if (bytes >= units.end * unitBytes)
    return t.i32(unitBytes);
  Value left = arith::SubIOp::create(t.b, t.loc, t.i32(bytes),
                                     t.mul(units.unit, t.i32(unitBytes)));
  left = arith::MinSIOp::create(t.b, t.loc, left, t.i32(unitBytes));
  return arith::MaxSIOp::create(t.b, t.loc, left, t.i32(0));
}

/// Where the thread's first unit lies in a buffer.
static Value bytesInBuffer(ThreadBuilder &t, const Units &units,
                           tile::BufferType buffer) {
  int64_t pitch = buffer.getPitch() * buffer.getElementBytes();
  return t.add(t.mul(units.row, t.i32(pitch)),
               t.mul(units.unit, t.i32(unitBytes)));
}

/// Where it lies in memory, from row `first` on.
static Value unitAddress(ThreadBuilder &t, const Units &units,
                         const Matrix &matrix, Value first) {
  Value row = first ? t.add(first, t.wide(units.row)) : t.wide(units.row);
  Value begin = t.add(matrix.address, t.mul(row, matrix.rowBytes));
  return t.add(begin, t.mul(t.wide(units.unit), t.index(unitBytes)));
}

/// Runs `body` in the threads for which `condition` holds.
static void inThreads(ThreadBuilder &t, Value condition,
                      llvm::function_ref<void()> body) {
  auto choice = scf::IfOp::create(t.b, t.loc, condition);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(choice.thenBlock());
  body();
}

/// Runs `body` in the threads that have something to copy.
static void inBusy(ThreadBuilder &t, const Units &units,
                   llvm::function_ref<void()> body) {
  if (units.busy)
    inThreads(t, units.busy, body);
  else
    body();
}

static void copyUnits(ThreadBuilder &t, const Units &units,
                      const Matrix &matrix, Value first,
                      tile::BufferType buffer) {
  Value to = t.inBuffer(buffer, bytesInBuffer(t, units, buffer));
  Value from = unitAddress(t, units, matrix, first);
  Value begin = t.add(first, t.wide(units.row));
  Value left = t.narrow(arith::SubIOp::create(t.b, t.loc, matrix.rows, begin));
  Value whole = bytesOfUnit(t, units, matrix);
  Value step = t.mul(matrix.rowBytes, t.index(units.rowsAtOnce));
  int64_t pitch = buffer.getPitch() * buffer.getElementBytes();
  for (int64_t turn = 0; turn < units.turns; ++turn) {
    int64_t row = turn * units.rowsAtOnce;
    Value exists = t.less(t.i32(row), left);
    Value bytes = t.select(exists, whole, t.i32(0));
    auto copy = [&] {
      NVVM::CpAsyncOp::create(t.b, t.loc, t.behind(to, row * pitch),
                              globalPointer(t.b, t.loc, from),
                              uint32_t(unitBytes),
                              NVVM::LoadCacheModifierKind::CG, bytes);
    };
    // Of 48 rows, 32 at once, half of the threads have one in the last turn.
    int64_t rows = buffer.getRows() - row;
    if (turn > 0 && rows < units.rowsAtOnce)
      inThreads(t, t.less(units.row, t.i32(rows)), copy);
    else
      copy();
    if (turn + 1 < units.turns)
      from = t.add(from, step);
  }
}

/// The elements of a unit in a row, one after the other.
static void
forElements(ThreadBuilder &t, const Units &units, tile::BufferType buffer,
            llvm::function_ref<void(Value row, Value element)> body) {
  int64_t elements = unitBytes / buffer.getElementBytes();
  auto rows =
      scf::ForOp::create(t.b, t.loc, t.wide(units.row),
                         t.index(buffer.getRows()), t.index(units.rowsAtOnce));
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(rows.getBody());
  auto inner =
      scf::ForOp::create(t.b, t.loc, t.index(0), t.index(elements), t.index(1));
  t.b.setInsertionPointToStart(inner.getBody());
  Value firstElement = t.mul(t.wide(units.unit), t.index(elements));
  body(rows.getInductionVar(), t.add(firstElement, inner.getInductionVar()));
}

static Value elementInBuffer(ThreadBuilder &t, tile::BufferType buffer,
                             Value row, Value element) {
  Value place = t.add(t.mul(row, t.index(buffer.getPitch())), element);
  Value bytes = t.mul(place, t.index(buffer.getElementBytes()));
  return t.inBuffer(buffer, t.narrow(bytes));
}

/// Threads stay together: what is not there is read at the nearest place, and
/// counts as 0. A source has a row at least.
static void copyElements(ThreadBuilder &t, const Units &units, Value source,
                         Value first, const Matrix &matrix,
                         tile::BufferType buffer) {
  Type type = buffer.getElement();
  Value lastRow = arith::SubIOp::create(t.b, t.loc, matrix.rows, t.index(1));
  Value lastColumn = t.index(matrix.columns - 1);
  forElements(t, units, buffer, [&](Value row, Value element) {
    Value from = t.add(first, row);
    Value exists = t.both(t.less(from, matrix.rows),
                          t.less(element, t.index(matrix.columns)));
    Value at[] = {arith::MinSIOp::create(t.b, t.loc, from, lastRow),
                  arith::MinSIOp::create(t.b, t.loc, element, lastColumn)};
    Value read = memref::LoadOp::create(t.b, t.loc, source, at);
    Value zero =
        arith::ConstantOp::create(t.b, t.loc, t.b.getFloatAttr(type, 0.0));
    Value value = t.select(exists, read, zero);
    inBusy(t, units, [&] {
      LLVM::StoreOp::create(t.b, t.loc, value,
                            elementInBuffer(t, buffer, row, element));
    });
  });
}

static void choose(ThreadBuilder &t, Value condition,
                   llvm::function_ref<void()> then,
                   llvm::function_ref<void()> otherwise) {
  auto choice =
      scf::IfOp::create(t.b, t.loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(choice.thenBlock());
  then();
  t.b.setInsertionPointToStart(choice.elseBlock());
  otherwise();
}

void gpucode::emitCopyAsync(ThreadBuilder &t, Value source, Value row,
                            tile::BufferType buffer) {
  Matrix matrix(t, source);
  choose(
      t, isAligned(t, matrix),
      [&] {
        forParts(t, buffer, [&](const Units &units) {
          inBusy(t, units, [&] { copyUnits(t, units, matrix, row, buffer); });
        });
      },
      [&] {
        forParts(t, buffer, [&](const Units &units) {
          copyElements(t, units, source, row, matrix, buffer);
        });
      });
  t.joinWarps();
  NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
}

static void writeUnits(ThreadBuilder &t, const Units &units,
                       const Matrix &matrix, tile::BufferType buffer) {
  Value from = t.inBuffer(buffer, bytesInBuffer(t, units, buffer));
  Value to = unitAddress(t, units, matrix, Value());
  Value left = t.narrow(
      arith::SubIOp::create(t.b, t.loc, matrix.rows, t.wide(units.row)));
  Value step = t.mul(matrix.rowBytes, t.index(units.rowsAtOnce));
  int64_t pitch = buffer.getPitch() * buffer.getElementBytes();
  auto four = VectorType::get(4, t.b.getI32Type());
  for (int64_t turn = 0; turn < units.turns; ++turn) {
    int64_t row = turn * units.rowsAtOnce;
    Value exists = t.less(t.i32(row), left);
    if (matrix.columns < buffer.getColumns()) {
      int64_t perUnit = unitBytes / buffer.getElementBytes();
      exists =
          t.both(exists, t.less(units.unit, t.i32(matrix.columns / perUnit)));
    }
    auto guarded = scf::IfOp::create(t.b, t.loc, exists);
    {
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(guarded.thenBlock());
      Value unit = LLVM::LoadOp::create(t.b, t.loc, four,
                                        t.behind(from, row * pitch), unitBytes);
      LLVM::StoreOp::create(t.b, t.loc, unit, globalPointer(t.b, t.loc, to),
                            unitBytes);
    }
    to = t.add(to, step);
  }
}

static void writeElements(ThreadBuilder &t, const Units &units, Value memory,
                          const Matrix &matrix, tile::BufferType buffer) {
  forElements(t, units, buffer, [&](Value row, Value element) {
    Value exists = t.both(t.less(row, matrix.rows),
                          t.less(element, t.index(matrix.columns)));
    if (units.busy)
      exists = t.both(exists, units.busy);
    auto guarded = scf::IfOp::create(t.b, t.loc, exists);
    t.b.setInsertionPointToStart(guarded.thenBlock());
    Value value =
        LLVM::LoadOp::create(t.b, t.loc, buffer.getElement(),
                             elementInBuffer(t, buffer, row, element));
    memref::StoreOp::create(t.b, t.loc, value, memory,
                            ValueRange{row, element});
  });
}

void gpucode::emitCopyOut(ThreadBuilder &t, tile::BufferType buffer,
                          Value memory) {
  Matrix matrix(t, memory);
  auto elements = [&] {
    forParts(t, buffer, [&](const Units &units) {
      writeElements(t, units, memory, matrix, buffer);
    });
  };
  if (matrix.columns * matrix.elementBytes % unitBytes)
    return elements();
  choose(
      t, isAligned(t, matrix),
      [&] {
        forParts(t, buffer, [&](const Units &units) {
          inBusy(t, units, [&] { writeUnits(t, units, matrix, buffer); });
        });
      },
      elements);
}
