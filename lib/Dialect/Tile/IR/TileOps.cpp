// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration and verifiers of the tile dialect.
#include "attn/Dialect/Tile/IR/TileOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

#include "attn/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "attn/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

// --- types ---

/// Bytes that one copy moves, and that one row of a matrix of ldmatrix has.
static constexpr int64_t unitBytes = 16;

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t rows, int64_t columns, Type element,
                                 int64_t pitch, int64_t offset, BufferState) {
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return emitError() << "expects elements of f16, bf16 or f32, but got "
                       << element;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (rows < 1 || columns < 1 || pitch < columns ||
      pitch * bytes % unitBytes != 0 || offset < 0 ||
      offset * bytes % unitBytes != 0)
    return emitError() << "expects a row and a column at least, no fewer "
                          "elements from row to row than columns, and pitch "
                          "and offset of whole units of 16 bytes";
  return success();
}

/// Warps have 1, 2, 4 or 8 blocks of 16 rows each.
static LogicalResult verifyRows(function_ref<InFlightDiagnostic()> emitError,
                                int64_t rows, int64_t warps) {
  if (warps < 1 || warps > 32 || !llvm::isPowerOf2_64(warps) ||
      rows % (16 * warps) != 0 || !llvm::isPowerOf2_64(rows) || rows < 16)
    return emitError() << "expects warps and rows to be powers of two, at "
                          "least 16 rows for each of at most 32 warps, but got "
                       << rows << " rows and " << warps << " warps";
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t columns, Type element,
                                   int64_t warps, int64_t columnWarps) {
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return emitError() << "expects elements of f16, bf16 or f32, but got "
                       << element;
  if (columns < 8 || columns % 8 != 0)
    return emitError() << "expects a multiple of 8 columns, but got "
                       << columns;
  // Columns of warps side by side are told by bits of a warp's number.
  if (columnWarps != 1 &&
      (columnWarps < 1 || columnWarps > warps ||
       !llvm::isPowerOf2_64(columnWarps) || columns % (16 * columnWarps) ||
       !llvm::isPowerOf2_64(columns)))
    return emitError()
           << "expects powers of two of column_warps and columns, "
              "at least 16 columns for each and no more than warps, "
              "but got "
           << columnWarps << " for " << columns << " columns";
  return verifyRows(emitError, rows, warps / columnWarps);
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t warps) {
  return verifyRows(emitError, rows, warps);
}

// --- buffers ---

static LogicalResult expectState(Operation *op, Value buffer,
                                 BufferState state) {
  auto type = cast<BufferType>(buffer.getType());
  if (type.getState() == state)
    return success();
  return op->emitOpError() << "expects a buffer that is "
                           << stringifyBufferState(state) << ", but got "
                           << type;
}

static LogicalResult expectSame(Operation *op, Value from, Value to,
                                BufferState state) {
  if (cast<BufferType>(from.getType()).in(state) == to.getType())
    return success();
  return op->emitOpError() << "expects the result to be the same buffer, "
                           << stringifyBufferState(state) << ", but got "
                           << to.getType();
}

/// Whether `op`, or what it stands in, may run behind `last`, both in the loop
/// turn that they share. Of the regions of an op that is no loop, one runs.
static bool isBehind(Operation *op, Operation *last) {
  if (op == last)
    return false;
  for (Operation *around = last; around; around = around->getParentOp()) {
    Block *block = around->getBlock();
    Operation *own = block ? block->findAncestorOpInBlock(*op) : nullptr;
    if (!own)
      continue;
    if (own == around)
      return isa<LoopLikeOpInterface>(around);
    return around->isBeforeInBlock(own);
  }
  return false;
}

/// `last` ends the life of the buffer's state: nothing uses it behind, and no
/// loop ends it twice.
static LogicalResult expectLastUse(Operation *last, Value buffer) {
  Region *home = buffer.getParentRegion();
  for (Region *region = last->getParentRegion(); region && region != home;
       region = region->getParentRegion())
    if (isa<LoopLikeOpInterface>(region->getParentOp()))
      return last->emitOpError(
          "ends a state of a buffer in every turn of a loop");
  for (Operation *user : buffer.getUsers())
    if (isBehind(user, last)) {
      InFlightDiagnostic error =
          last->emitOpError("ends a state of a buffer that is used behind it");
      error.attachNote(user->getLoc()) << "here";
      return error;
    }
  return success();
}

LogicalResult BufferOp::verify() {
  return expectState(*this, getBuffer(), BufferState::Free);
}

LogicalResult EnterOp::verify() {
  BufferState state = getEntered().getType().getState();
  if (failed(expectState(*this, getBuffer(), BufferState::Free)) ||
      failed(expectSame(*this, getBuffer(), getEntered(), state)) ||
      failed(expectLastUse(*this, getBuffer())))
    return failure();
  for (Operation *user : getEntered().getUsers())
    if (isa<MmaOp>(user))
      return emitOpError("gives a buffer that nothing was copied to, and that "
                         "is read at once");
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if ((source.getRank() != 2 && source.getRank() != 3) ||
      source.getElementType() != getBuffer().getType().getElement())
    return emitOpError() << "expects a matrix of the buffer's elements, or "
                            "several, but got "
                         << source;
  if (failed(expectState(*this, getBuffer(), BufferState::Free)) ||
      failed(
          expectSame(*this, getBuffer(), getLoading(), BufferState::Loading)))
    return failure();
  return expectLastUse(*this, getBuffer());
}

LogicalResult SyncOp::verify() {
  if (getWait().size() != getFull().size() ||
      getRelease().size() != getFree().size())
    return emitOpError("expects a result for each buffer");
  for (auto [from, to] : llvm::zip_equal(getWait(), getFull()))
    if (failed(expectState(*this, from, BufferState::Loading)) ||
        failed(expectSame(*this, from, to, BufferState::Full)))
      return failure();
  for (auto [from, to] : llvm::zip_equal(getRelease(), getFree()))
    if (failed(expectState(*this, from, BufferState::Full)) ||
        failed(expectSame(*this, from, to, BufferState::Free)) ||
        failed(expectLastUse(*this, from)))
      return failure();
  return success();
}

LogicalResult DiscardOp::verify() {
  if (failed(expectState(*this, getLoading(), BufferState::Loading)) ||
      failed(expectSame(*this, getLoading(), getFree(), BufferState::Free)) ||
      failed(expectLastUse(*this, getLoading())))
    return failure();
  for (Operation *user : getFree().getUsers())
    if (!isa<CopyAsyncOp>(user))
      return emitOpError("gives a buffer that is used for more than a copy");
  return success();
}

/// The buffers follow each other, and the new one begins where the first does.
LogicalResult ReuseOp::verify() {
  int64_t begin = -1, end = -1;
  for (Value buffer : getBuffers()) {
    auto type = cast<BufferType>(buffer.getType());
    int64_t first = type.getOffset() * type.getElementBytes();
    if (failed(expectState(*this, buffer, BufferState::Free)) ||
        failed(expectLastUse(*this, buffer)))
      return failure();
    if (end >= 0 && first != end)
      return emitOpError("expects buffers that lie one behind the other");
    begin = begin < 0 ? first : begin;
    end = first + type.getBytes();
  }
  BufferType type = getBuffer().getType();
  int64_t first = type.getOffset() * type.getElementBytes();
  if (first != begin || first + type.getBytes() > end)
    return emitOpError() << "expects room for " << type << " in bytes " << begin
                         << " to " << end;
  return expectState(*this, getBuffer(), BufferState::Free);
}

// --- registers ---

namespace {
struct Shape {
  int64_t rows, columns;
  Type element;
};
} // namespace

static Shape shapeOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return {buffer.getRows(), buffer.getColumns(), buffer.getElement()};
  auto fragment = cast<FragmentType>(type);
  return {fragment.getRows(), fragment.getColumns(), fragment.getElement()};
}

static bool hasSameRows(Type a, Type b) {
  auto facts = [](Type type) {
    if (auto rows = dyn_cast<RowsType>(type))
      return std::tuple(rows.getRows(), rows.getWarps(), int64_t(1));
    auto fragment = cast<FragmentType>(type);
    return std::tuple(fragment.getRows(), fragment.getWarps(),
                      fragment.getColumnWarps());
  };
  return facts(a) == facts(b);
}

LogicalResult MmaOp::verify() {
  Shape left = shapeOf(getLeft().getType());
  Shape right = shapeOf(getRight().getType());
  FragmentType sums = getSums().getType();
  if (getTransposed())
    std::swap(right.rows, right.columns);
  if (left.rows != sums.getRows() || left.columns != right.rows ||
      right.columns != sums.getColumns())
    return emitOpError() << "expects the shapes of a product, but got "
                         << left.rows << " x " << left.columns << ", "
                         << right.rows << " x " << right.columns << " and "
                         << sums.getRows() << " x " << sums.getColumns();
  if (left.element != right.element || !sums.getElement().isF32())
    return emitOpError("expects factors of one type and sums of f32");
  if (left.columns % 16 || right.columns % 16)
    return emitOpError("expects multiples of 16 columns");
  if (getRounded() &&
      (!right.element.isF32() || !isa<BufferType>(getLeft().getType())))
    return emitOpError("expects factors of f32 in buffers where it is rounded");
  if (auto fragment = dyn_cast<FragmentType>(getLeft().getType());
      fragment && !hasSameRows(fragment, sums))
    return emitOpError("expects the rows of as many warps as the sums have");
  if (isa<BufferType>(getLeft().getType()) &&
      failed(expectState(*this, getLeft(), BufferState::Full)))
    return failure();
  return expectState(*this, getRight(), BufferState::Full);
}

LogicalResult AnyNaNOp::verify() {
  if (!getFragment().getType().getElement().isF32())
    return emitOpError("expects elements of f32");
  return success();
}

LogicalResult SiftOp::verify() {
  if (getBuffer().getType().getColumns() % 16)
    return emitOpError("expects a multiple of 16 columns");
  return expectState(*this, getBuffer(), BufferState::Full);
}

LogicalResult MapOp::verify() {
  Block &block = getBody().front();
  size_t count = getOperands().size();
  if (count == 0 || block.getNumArguments() != count + 2)
    return emitOpError("expects an operand, and arguments for each operand and "
                       "for two distances");
  bool hasFragment = false;
  for (auto [i, type] : llvm::enumerate(block.getArgumentTypes()))
    if (i < count ? !type.isF32() : !type.isIndex())
      return emitOpError("expects elements of f32 and distances of type index");
  for (Type type : getOperandTypes()) {
    auto fragment = dyn_cast<FragmentType>(type);
    hasFragment |= fragment != nullptr;
    if (!hasSameRows(type, getType()) ||
        (fragment && (fragment != getType() || !fragment.getElement().isF32())))
      return emitOpError() << "expects operands with the rows of " << getType()
                           << ", but got " << type;
  }
  if (!block.getTerminator()->getOperand(0).getType().isF32())
    return emitOpError("expects a region that yields f32");
  if (hasFragment != isa<FragmentType>(getType()))
    return emitOpError("expects a fragment as result where an operand is one");
  return success();
}

LogicalResult ReduceOp::verify() {
  if (!hasSameRows(getOperand().getType(), getType()))
    return emitOpError() << "expects a number for each row of "
                         << getOperand().getType();
  return success();
}

LogicalResult RescaleOp::verify() {
  if (!hasSameRows(getOperand().getType(), getFactors().getType()) ||
      !getType().getElement().isF32())
    return emitOpError() << "expects f32 and a number for each row of "
                         << getType();
  return success();
}

LogicalResult ConvertOp::verify() {
  FragmentType from = getOperand().getType(), to = getType();
  if (from.getRows() != to.getRows() || from.getColumns() != to.getColumns() ||
      !hasSameRows(from, to) || !from.getElement().isF32() ||
      to.getElement().isF32() || to.getColumns() % 16)
    return emitOpError() << "expects f32 in, 16 bits out and a multiple of 16 "
                            "columns, but got "
                         << from << " and " << to;
  return success();
}

/// Whether a buffer takes a fragment, and is not used behind `op`.
static LogicalResult verifyRoom(Operation *op, FragmentType fragment,
                                Value through) {
  auto buffer = cast<BufferType>(through.getType());
  if (buffer.getRows() != fragment.getRows() ||
      buffer.getColumns() < fragment.getColumns())
    return op->emitOpError("expects a buffer with room for the fragment");
  if (failed(expectState(op, through, BufferState::Free)))
    return failure();
  return expectLastUse(op, through);
}

LogicalResult StoreEachOp::verify() {
  Block &block = getBody().front();
  auto memory = cast<MemRefType>(getMemory().getType());
  Type index = IndexType::get(getContext()),
       wanted[] = {getThrough().getType().getElement(), index, index};
  if (memory.getRank() != 2 || !getValue().getType().getElement().isF32() ||
      block.getArgumentTypes() != TypeRange(wanted) ||
      block.getTerminator()->getOperand(0).getType() != memory.getElementType())
    return emitOpError("expects f32, a matrix in memory, and a function of an "
                       "element of the buffer, a row and a column, that yields "
                       "an element of the memory");
  return verifyRoom(*this, getValue().getType(), getThrough());
}

LogicalResult StoreOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  bool isRows = isa<RowsType>(getValue().getType());
  if (memory.getRank() != (isRows ? 1 : 2))
    return emitOpError() << "expects memory of rank " << (isRows ? 1 : 2)
                         << ", but got " << memory;
  if (!getThrough())
    return success();
  if (isRows || getThrough().getType().getElement() != memory.getElementType())
    return emitOpError("expects a fragment and a buffer of elements of the "
                       "memory");
  return verifyRoom(*this, cast<FragmentType>(getValue().getType()),
                    getThrough());
}
