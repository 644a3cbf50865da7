// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Before:  %y[%c, %r] = %x[%r, %c], for lanes along %r
// After:   scf.for %r0 = 0 to R step 16 {
//            // 16 vectors %x[%r0 + i, %c0 ..]
//            // four turns of interleaving vectors i and i + 8
//            // 16 vectors of %y[%c0 + i, %r0 ..]
//          }
// Every line of memory is read and written once: number by number, each would
// be read as many times as it has numbers, and where the rows are a power of
// two apart, it is gone from the caches by the next.
#include "TransposeEmitter.h"
#include "VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn::cpu;

/// Vectors of a block, which are in registers.
static constexpr int64_t mostVectors = 16;

/// Whether the op copies its one input.
static bool isCopy(const LoopNest &nest) {
  linalg::GenericOp op = nest.op;
  return nest.kind == NestKind::Elementwise && op.getNumDpsInputs() == 1 &&
         op.getNumDpsInits() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) == nest.argument(0) &&
         nest.accesses[0].buffer && nest.accesses[1].buffer &&
         nest.accesses[0].map.isProjectedPermutation(true) &&
         nest.accesses[1].map.isProjectedPermutation(true);
}

std::optional<TransposeEmitter>
TransposeEmitter::match(OpBuilder &b, const LoopNest &nest, VectorUnit unit) {
  if (unit.lanes == 1 || nest.parallel.size() < 2 || !isCopy(nest))
    return std::nullopt;
  const Access &from = nest.accesses[0], &to = nest.accesses[1];
  Type element = getElementTypeOrSelf(from.buffer.getType());
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      !to.isContiguous(nest.lane) || !from.uses(nest.lane) ||
      from.isContiguous(nest.lane))
    return std::nullopt;
  const auto *across = llvm::find_if(nest.parallel, [&](unsigned loop) {
    return from.isContiguous(loop) && to.uses(loop);
  });
  if (across == nest.parallel.end())
    return std::nullopt;
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t lanes = std::min(unit.lanes * 32 / bits, mostVectors);
  auto isNarrow = [&](unsigned loop) {
    std::optional<int64_t> size = getConstantIntValue(loopSize(b, nest, loop));
    return size && *size < lanes;
  };
  if (isNarrow(*across) || isNarrow(nest.lane))
    return std::nullopt;
  bool canMask = unit.maskedBits && bits >= unit.maskedBits;
  return TransposeEmitter(b, nest, *across, lanes, canMask);
}

Value TransposeEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value TransposeEmitter::blocks() {
  Value size =
      b.createOrFold<arith::AddIOp>(loc, sizeOf(across), index(lanes - 1));
  return b.createOrFold<arith::DivUIOp>(loc, size, index(lanes));
}

Value TransposeEmitter::pieces() {
  Value number = blocks();
  for (unsigned loop : nest.parallel)
    if (loop != across && loop != nest.lane)
      number = b.createOrFold<arith::MulIOp>(loc, number, sizeOf(loop));
  return number;
}

Value TransposeEmitter::pieceElements() {
  return b.createOrFold<arith::MulIOp>(loc, sizeOf(nest.lane), index(lanes));
}

/// Whether a loop has whole blocks only.
bool TransposeEmitter::isWhole(unsigned loop) {
  std::optional<int64_t> size = getConstantIntValue(sizeOf(loop));
  return size && *size % lanes == 0;
}

SmallVector<Value> TransposeEmitter::place(const Access &access, Value row,
                                           Value column) {
  SmallVector<Value> at;
  for (AffineExpr result : access.map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    at.push_back(!dim                             ? index(0)
                 : dim.getPosition() == across    ? row
                 : dim.getPosition() == nest.lane ? column
                                                  : point[dim.getPosition()]);
  }
  return at;
}

void TransposeEmitter::emit(Value from, Value to) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  point.assign(nest.op.getNumLoops(), Value());
  Value number = blocks(), rest = loop.getInductionVar();
  begin = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::RemUIOp>(loc, rest, number), index(lanes));
  rest = b.createOrFold<arith::DivUIOp>(loc, rest, number);
  for (unsigned dim : llvm::reverse(nest.parallel)) {
    if (dim == across || dim == nest.lane)
      continue;
    Value size = sizeOf(dim);
    point[dim] = b.createOrFold<arith::RemUIOp>(loc, rest, size);
    rest = b.createOrFold<arith::DivUIOp>(loc, rest, size);
  }
  Value left = b.createOrFold<arith::SubIOp>(loc, sizeOf(across), begin);
  count = isWhole(across)
              ? index(lanes)
              : b.createOrFold<arith::MinUIOp>(loc, left, index(lanes));
  emitPiece();
}

/// Whole blocks, then what is left of the columns: all of them, if the piece
/// has fewer rows.
void TransposeEmitter::emitPiece() {
  Value columns = sizeOf(nest.lane), zero = index(0), step = index(lanes);
  Value whole = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::DivUIOp>(loc, columns, step), step);
  if (!isWhole(across)) {
    Value isFull =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, count, step);
    whole = arith::SelectOp::create(b, loc, isFull, whole, zero);
  }
  auto turns = [&](Value from, Value to, bool isEdge) {
    auto loop = scf::ForOp::create(b, loc, from, to, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (isEdge && !canMask)
      emitNumbers(loop.getInductionVar());
    else
      emitBlock(loop.getInductionVar(), isEdge);
  };
  turns(zero, whole, /*isEdge=*/false);
  if (!isWhole(across) || !isWhole(nest.lane))
    turns(whole, columns, /*isEdge=*/true);
}

/// Halves of two vectors, in turns: log2 of their number of times, with
/// partners half of the block apart, this transposes it.
static void transpose(OpBuilder &b, Location loc,
                      SmallVectorImpl<Value> &vectors) {
  auto lanes = static_cast<int64_t>(vectors.size());
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < lanes / 2; ++i) {
    low.append({i, i + lanes});
    high.append({i + lanes / 2, i + lanes / 2 + lanes});
  }
  for (int64_t turn = 1; turn < lanes; turn *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < lanes / 2; ++i)
      for (ArrayRef<int64_t> half : {ArrayRef(low), ArrayRef(high)})
        next.push_back(vector::ShuffleOp::create(b, loc, vectors[i],
                                                 vectors[i + lanes / 2], half));
    vectors.assign(next);
  }
}

/// With `isEdge`, of `count` rows and of the columns that are left.
void TransposeEmitter::emitBlock(Value column, bool isEdge) {
  const Access &from = nest.accesses[0], &to = nest.accesses[1];
  Value rest = b.createOrFold<arith::SubIOp>(loc, sizeOf(nest.lane), column);
  Value columns = b.createOrFold<arith::MinUIOp>(loc, rest, index(lanes));
  // Of vector `i` of `number`, `length` lanes; of those behind, none.
  auto maskFor = [&](int64_t i, Value number, Value length) -> Value {
    if (!isEdge)
      return {};
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         index(i), number);
    Value active = arith::SelectOp::create(b, loc, exists, length, index(0));
    return vector::CreateMaskOp::create(
        b, loc, VectorType::get(lanes, b.getI1Type()), active);
  };
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = b.createOrFold<arith::AddIOp>(loc, column, index(i));
    VectorMemory memory{b, loc, from.buffer, place(from, begin, at)};
    vectors.push_back(memory.load(lanes, maskFor(i, columns, count)));
  }
  transpose(b, loc, vectors);
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = b.createOrFold<arith::AddIOp>(loc, begin, index(i));
    VectorMemory memory{b, loc, to.buffer, place(to, at, column)};
    memory.store(vectors[i], maskFor(i, count, columns));
  }
}

void TransposeEmitter::emitNumbers(Value column) {
  Value zero = index(0), one = index(1);
  Value rest = b.createOrFold<arith::SubIOp>(loc, sizeOf(nest.lane), column);
  Value columns = b.createOrFold<arith::MinUIOp>(loc, rest, index(lanes));
  auto rows = scf::ForOp::create(b, loc, zero, count, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  auto inside = scf::ForOp::create(b, loc, zero, columns, one);
  b.setInsertionPointToStart(inside.getBody());
  Value row = arith::AddIOp::create(b, loc, begin, rows.getInductionVar());
  Value at = arith::AddIOp::create(b, loc, column, inside.getInductionVar());
  VectorMemory from{b, loc, nest.accesses[0].buffer,
                    place(nest.accesses[0], row, at)};
  VectorMemory to{b, loc, nest.accesses[1].buffer,
                  place(nest.accesses[1], row, at)};
  to.storeNumber(from.loadNumber());
}
