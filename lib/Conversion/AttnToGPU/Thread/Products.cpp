// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product goes in steps of 32 bytes of a row of the left matrix; in a step,
// each part of the right one is read once for all blocks of rows of the warp.
//
// Numbers of f32 are split into two of tf32 (3xTF32): the first 11 bits x1 and
// the other 13, x2, of which the hardware takes 11. x y is x1 y1 + x1 y2 + x2
// y1 then, but for x2 y2 and the bits that it drops: to 3 2^-20 of |x y|. Small
// products are added first. Of an infinity x1 is the largest tf32, and x2 the
// infinity: x2 y1 is what x y is, and x1 is 0 or infinite nowhere else, so that
// x1 y2 is no NaN of its own.
#include "Products.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferType;
using tile::FragmentType;

namespace {
/// Writes one product.
class Product {
public:
  Product(ThreadBuilder &t, tile::MmaOp op, ValueRange left);
  Values add(ValueRange sums);

private:
  void addStep(int64_t step, Values &sums);
  Values addInTurns(int64_t steps, ValueRange sums);
  /// Registers of an operand of one instruction; of f32, in two parts.
  struct Operand {
    Values first, rest;
  };
  Operand split(Values registers, bool isFinite);
  Values left(int64_t rowBlock, int64_t step);
  Values right(int64_t column, int64_t step);
  LinearLayout rightLayout();
  Values rightElements(int64_t column, int64_t step);
  Values multiply(const Operand &a, const Operand &b, Values sums);

  ThreadBuilder &t;
  tile::MmaOp op;
  ValueRange leftRegisters;
  BufferType buffer; ///< the right matrix
  Type element;
  int64_t bytes; ///< of an element
  int64_t unit;  ///< elements in 16 bytes; a step has two
  Value leftBase, rightBase;
};
} // namespace

/// Where the thread's addresses begin.
static Value addresses(ThreadBuilder &t, BufferType buffer,
                       const LinearLayout &layout) {
  return t.inBuffer(buffer, t.bytesTo(layout, buffer));
}

LinearLayout Product::rightLayout() {
  if (op.getTransposed())
    return LinearLayout::rightAddresses(unit);
  if (!element.isF32())
    return LinearLayout::transposedAddresses();
  return isa<BufferType>(op.getLeft().getType()) ? LinearLayout::rightRows()
                                                 : LinearLayout::rightPairs();
}

Product::Product(ThreadBuilder &t, tile::MmaOp op, ValueRange left)
    : t(t), op(op), leftRegisters(left), buffer(op.getRight().getType()),
      element(buffer.getElement()), bytes(buffer.getElementBytes()),
      unit(unitBytes / bytes) {
  FragmentType type = op.getType();
  if (auto inMemory = dyn_cast<BufferType>(op.getLeft().getType()))
    leftBase = addresses(
        t, inMemory,
        LinearLayout::leftAddresses(
            type.getRows(), type.getWarps() / type.getColumnWarps(), unit));
  Place step{0, type.getWarpColumns()};
  if (op.getTransposed())
    std::swap(step.row, step.column);
  rightBase = addresses(
      t, buffer,
      rightLayout().sharing(step, type.getWarps(), type.getColumnWarps()));
}

Product::Operand Product::split(Values registers, bool isFinite) {
  if (!element.isF32())
    return {registers, {}};
  Operand operand;
  for (Value x : registers) {
    auto [first, rest] = t.split(x, isFinite);
    operand.first.push_back(first);
    operand.rest.push_back(rest);
  }
  return operand;
}

/// Four registers of 16 rows and a step of the left matrix.
Values Product::left(int64_t rowBlock, int64_t step) {
  if (auto inMemory = dyn_cast<BufferType>(op.getLeft().getType()))
    return t.loadMatrices(
        t.behind(leftBase,
                 (rowBlock * 16 * inMemory.getPitch() + step * 2 * unit) *
                     bytes),
        /*transposed=*/false);
  FragmentShape shape(cast<FragmentType>(op.getLeft().getType()));
  if (!element.isF32())
    return Values(leftRegisters.slice(shape.block(rowBlock, 2 * step) / 2, 4));
  // Columns 2 k and 2 k + 1 of sums as k and k + 4 of the operand.
  ValueRange sums = leftRegisters.slice(shape.block(rowBlock, step), 4);
  Values bits;
  for (int64_t i : {0, 2, 1, 3})
    bits.push_back(
        LLVM::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), sums[i]));
  return bits;
}

/// The right matrix for 16 columns of the result and a step of the left one.
Values Product::right(int64_t column, int64_t step) {
  if (element.isF32() && !op.getTransposed())
    return rightElements(column, step);
  int64_t row = op.getTransposed() ? column * 16 : step * 2 * unit;
  int64_t other = op.getTransposed() ? step * 2 * unit : column * 16;
  return t.loadMatrices(
      t.behind(rightBase, (row * buffer.getPitch() + other) * bytes),
      !op.getTransposed());
}

Values Product::rightElements(int64_t column, int64_t step) {
  int64_t distance = rightLayout().at(1, 0).row;
  Values registers;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t row : {int64_t(0), distance}) {
      int64_t place =
          (step * 2 * unit + row) * buffer.getPitch() + column * 16 + half * 8;
      registers.push_back(LLVM::LoadOp::create(
          t.b, t.loc, t.b.getI32Type(), t.behind(rightBase, place * bytes)));
    }
  return registers;
}

Values Product::multiply(const Operand &a, const Operand &b, Values sums) {
  if (a.rest.empty())
    return t.multiply(a.first, b.first, sums, element);
  Values own = sums;
  if (op.getRounded())
    own.assign(sums.size(),
               arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(0)));
  own = t.multiply(a.rest, b.first, own, element);
  own = t.multiply(a.first, b.rest, own, element);
  own = t.multiply(a.first, b.first, own, element);
  if (op.getRounded())
    for (auto [sum, part] : llvm::zip_equal(sums, own))
      part = arith::AddFOp::create(t.b, t.loc, sum, part);
  return own;
}

/// Adds the products of one step.
void Product::addStep(int64_t step, Values &sums) {
  FragmentType type = op.getType();
  FragmentShape shape(type);
  bool isWeights = isa<FragmentType>(op.getLeft().getType()); // or NaN
  SmallVector<Operand> rows;
  for (int64_t r = 0; r < shape.rowBlocks; ++r)
    rows.push_back(split(left(r, step), isWeights));
  for (int64_t c = 0; c < type.getWarpColumns() / 16; ++c) {
    Values both = right(c, step);
    for (int64_t half = 0; half < 2; ++half) {
      Operand own = split(Values(ValueRange(both).slice(2 * half, 2)),
                          /*isFinite=*/false);
      for (int64_t r = 0; r < shape.rowBlocks; ++r) {
        auto *block = sums.begin() + shape.block(r, 2 * c + half);
        llvm::copy(multiply(rows[r], own, Values(block, block + 4)), block);
      }
    }
  }
}

/// A loop over the steps. Without one ptxas splits operands of f32 for many
/// steps ahead, until it has no registers.
Values Product::addInTurns(int64_t steps, ValueRange sums) {
  auto loop = scf::ForOp::create(t.b, t.loc, t.index(0), t.index(steps),
                                 t.index(1), sums);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  Value step = t.narrow(loop.getInductionVar());
  int64_t row = buffer.getPitch() * bytes;
  leftBase = t.behind(leftBase, t.mul(step, t.i32(2 * unitBytes)));
  rightBase = t.behind(
      rightBase,
      t.mul(step, t.i32(2 * (op.getTransposed() ? unitBytes : unit * row))));
  Values results(loop.getRegionIterArgs());
  addStep(0, results);
  scf::YieldOp::create(t.b, t.loc, results);
  return Values(loop.getResults());
}

Values Product::add(ValueRange sums) {
  int64_t depth = op.getTransposed() ? buffer.getColumns() : buffer.getRows();
  int64_t steps = depth / (2 * unit);
  if (op.getRounded())
    return addInTurns(steps, sums);
  Values results(sums);
  for (int64_t step = 0; step < steps; ++step)
    addStep(step, results);
  return results;
}

Values gpucode::emitProduct(ThreadBuilder &t, tile::MmaOp op, ValueRange left,
                            ValueRange sums) {
  return Product(t, op, left).add(sums);
}
