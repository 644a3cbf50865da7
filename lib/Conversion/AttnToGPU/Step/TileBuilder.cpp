// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::BufferState;
using tile::BufferType;
using tile::Reduction;

Value TileBuilder::real(double value) {
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}
Value TileBuilder::infinity() {
  return real(-std::numeric_limits<float>::infinity());
}
Value TileBuilder::lowest() {
  return real(std::numeric_limits<float>::lowest());
}
Value TileBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value TileBuilder::splat(Type type, Value value) {
  return tile::SplatOp::create(b, loc, type, value);
}
Value TileBuilder::exp2(Value x) {
  return math::Exp2Op::create(b, loc, x, arith::FastMathFlags::afn);
}
Value TileBuilder::log2(Value x) {
  return math::Log2Op::create(b, loc, x, arith::FastMathFlags::afn);
}
Value TileBuilder::sigmoid(Value x) {
  Value power = exp2(arith::NegFOp::create(b, loc, x));
  Value sum = arith::AddFOp::create(b, loc, real(1.0), power);
  return arith::DivFOp::create(b, loc, real(1.0), sum,
                               arith::FastMathFlags::afn);
}
Value TileBuilder::equal(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}
Value TileBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value TileBuilder::reduce(Reduction kind, Value value, Type rows) {
  return tile::ReduceOp::create(b, loc, rows, kind, value);
}

Value TileBuilder::map(Type type, ValueRange operands, Function function) {
  auto op = tile::MapOp::create(b, loc, type, operands);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getBody());
  for (size_t i = 0; i < operands.size(); ++i)
    block->addArgument(b.getF32Type(), loc);
  Value row = block->addArgument(b.getIndexType(), loc);
  Value column = block->addArgument(b.getIndexType(), loc);
  Value result = function(*this, ValueRange(block->getArguments()).drop_back(2),
                          row, column);
  tile::YieldOp::create(b, loc, result);
  return op;
}

tile::SyncOp TileBuilder::sync(ValueRange wait, ValueRange release) {
  auto types = [](ValueRange buffers, BufferState state) {
    return llvm::map_to_vector(buffers, [state](Value buffer) -> Type {
      return cast<BufferType>(buffer.getType()).in(state);
    });
  };
  return tile::SyncOp::create(b, loc, types(wait, BufferState::Full),
                              types(release, BufferState::Free), wait, release);
}
