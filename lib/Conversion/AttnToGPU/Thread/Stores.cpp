// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Stores.h"
#include "CopyRows.h"
#include "Maps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferType;
using tile::FragmentType;
using tile::RowsType;

/// Rows of a column that a thread reads before it writes.
static constexpr int64_t abreast = 8;

/// A number of each row, by the first of the lanes that have it.
static void storeRows(ThreadBuilder &t, tile::StoreOp op, ValueRange numbers) {
  auto rows = cast<RowsType>(op.getValue().getType());
  LinearLayout layout = LinearLayout::sums(rows.getRows(), 8, rows.getWarps());
  auto [row, column] = t.place(layout);
  Value isFirst = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                        column, t.i32(0));
  Value count = memref::DimOp::create(t.b, t.loc, op.getMemory(), 0);
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Value at = t.add(t.wide(row), t.index(8 * static_cast<int64_t>(i)));
    Value exists = t.both(isFirst, t.less(at, count));
    auto guarded = scf::IfOp::create(t.b, t.loc, exists);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(guarded.thenBlock());
    memref::StoreOp::create(t.b, t.loc, number, op.getMemory(), at);
  }
}

/// Warps write their own rows, and threads what lies side by side.
static void fillBuffer(ThreadBuilder &t, FragmentType fragment,
                       BufferType buffer, ValueRange numbers) {
  FragmentShape shape(fragment);
  Value begin = t.inBuffer(buffer, t.bytesTo(shape.layout, buffer));
  for (size_t reg = 0; reg < numbers.size(); reg += 2) {
    Place at = shape.distance(static_cast<int64_t>(reg));
    int64_t bytes =
        (at.row * buffer.getPitch() + at.column) * buffer.getElementBytes();
    Value to = t.behind(begin, bytes);
    if (!buffer.getElement().isF32()) {
      Value pair = t.pack(numbers[reg], numbers[reg + 1], buffer.getElement());
      LLVM::StoreOp::create(t.b, t.loc, pair, to);
      continue;
    }
    LLVM::StoreOp::create(t.b, t.loc, numbers[reg], to);
    LLVM::StoreOp::create(t.b, t.loc, numbers[reg + 1], t.behind(to, 4));
  }
  NVVM::Barrier0Op::create(t.b, t.loc);
}

static void storeThrough(ThreadBuilder &t, tile::StoreOp op,
                         ValueRange numbers) {
  BufferType buffer = op.getThrough().getType();
  fillBuffer(t, cast<FragmentType>(op.getValue().getType()), buffer, numbers);
  emitCopyOut(t, buffer, op.getMemory());
}

/// Runs `body` where `condition` holds; null: everywhere.
static void where(ThreadBuilder &t, Value condition,
                  function_ref<void()> body) {
  if (!condition)
    return body();
  auto guarded = scf::IfOp::create(t.b, t.loc, condition);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(guarded.thenBlock());
  body();
}

/// So many rows of a column, of which the reads wait together.
static void storeRowsOfEach(ThreadBuilder &t, tile::StoreEachOp op, Value first,
                            int64_t distance, Value column) {
  BufferType buffer = op.getThrough().getType();
  Value rows = memref::DimOp::create(t.b, t.loc, op.getMemory(), 0);
  Value last = arith::SubIOp::create(t.b, t.loc, rows, t.index(1));
  Values places, results;
  for (int64_t i = 0; i < abreast; ++i) {
    places.push_back(t.add(first, t.index(i * distance)));
    Value row = arith::MinSIOp::create(t.b, t.loc, places.back(), last);
    Value at = t.add(t.mul(row, t.index(buffer.getPitch())), column);
    Value bytes = t.narrow(t.mul(at, t.index(buffer.getElementBytes())));
    Value element = LLVM::LoadOp::create(t.b, t.loc, buffer.getElement(),
                                         t.inBuffer(buffer, bytes));
    results.push_back(
        emitElement(t, op.getBody().front(), {element, row, column}));
  }
  for (auto [row, result] : llvm::zip_equal(places, results))
    where(t, t.less(row, rows), [&, row = row, result = result] {
      memref::StoreOp::create(t.b, t.loc, result, op.getMemory(),
                              ValueRange{row, column});
    });
}

static void storeEach(ThreadBuilder &t, tile::StoreEachOp op,
                      ValueRange numbers) {
  BufferType buffer = op.getThrough().getType();
  FragmentType fragment = op.getValue().getType();
  fillBuffer(t, fragment, buffer, numbers);
  int64_t threads = threadsOf(t),
          ofRow = std::min<int64_t>(threads,
                                    llvm::PowerOf2Ceil(fragment.getColumns())),
          rowsAtOnce = threads / ofRow, shift = llvm::Log2_64(ofRow);
  Value columns = memref::DimOp::create(t.b, t.loc, op.getMemory(), 1),
        rows = memref::DimOp::create(t.b, t.loc, op.getMemory(), 0),
        firstRow = t.wide(t.bits(t.thread.number, shift, 32 - shift - 1)),
        firstColumn = t.wide(t.bits(t.thread.number, 0, shift));
  auto all =
      scf::ForOp::create(t.b, t.loc, firstColumn, columns, t.index(ofRow));
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(all.getBody());
  auto some = scf::ForOp::create(t.b, t.loc, firstRow, rows,
                                 t.index(abreast * rowsAtOnce));
  t.b.setInsertionPointToStart(some.getBody());
  storeRowsOfEach(t, op, some.getInductionVar(), rowsAtOnce,
                  all.getInductionVar());
}

/// Element by element, row by row.
static void storeElements(ThreadBuilder &t, tile::StoreOp op,
                          ValueRange numbers) {
  auto type = cast<MemRefType>(op.getMemory().getType());
  auto fragment = cast<FragmentType>(op.getValue().getType());
  FragmentShape shape(fragment);
  auto [row, column] = t.place(shape.layout);
  Value firstRow = t.wide(row), firstColumn = t.wide(column);
  Value rows = memref::DimOp::create(t.b, t.loc, op.getMemory(), 0), columns;
  if (type.getDimSize(1) != fragment.getColumns())
    columns = memref::DimOp::create(t.b, t.loc, op.getMemory(), 1);
  auto storeRow = [&](int64_t number, Value r) {
    for (auto [reg, value] : llvm::enumerate(numbers)) {
      if (shape.row(static_cast<int64_t>(reg)) != number)
        continue;
      Place at = shape.distance(static_cast<int64_t>(reg));
      Value c = t.add(firstColumn, t.index(at.column)), rounded = value;
      where(t, columns ? t.less(c, columns) : Value(), [&] {
        Type element = type.getElementType();
        if (!element.isF32())
          rounded = arith::TruncFOp::create(t.b, t.loc, element, rounded);
        memref::StoreOp::create(t.b, t.loc, rounded, op.getMemory(),
                                ValueRange{r, c});
      });
    }
  };
  for (int64_t number = 0; number < shape.rows(); ++number) {
    int64_t distance = number / 2 * 16 + number % 2 * 8;
    Value r = t.add(firstRow, t.index(distance));
    where(t, t.less(r, rows), [&] { storeRow(number, r); });
  }
}

void gpucode::emitStore(ThreadBuilder &t, tile::StoreOp op,
                        ValueRange numbers) {
  if (isa<RowsType>(op.getValue().getType()))
    storeRows(t, op, numbers);
  else if (op.getThrough())
    storeThrough(t, op, numbers);
  else
    storeElements(t, op, numbers);
  t.joinWarps();
}

void gpucode::emitStore(ThreadBuilder &t, tile::StoreEachOp op,
                        ValueRange numbers) {
  storeEach(t, op, numbers);
  t.joinWarps();
}
