// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileProducts.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::zeroTile(KernelBuilder &k) {
  return arith::ConstantOp::create(
      k.builder, k.loc, k.builder.getZeroAttr(tileOfSums(k.builder)));
}

Value cpu::loadTile(KernelBuilder &k, Value matrix, Value row, Value column,
                    bool passes) {
  OpBuilder &b = k.builder;
  auto numbers =
      VectorType::get({tileSize, tileNumbers}, k.builder.getBF16Type());
  bool inPairs = cast<MemRefType>(matrix.getType()).getElementType().isF32();
  Value tile =
      vector::LoadOp::create(b, k.loc, inPairs ? tileOfSums(b) : numbers,
                             matrix, ValueRange{row, column}, passes);
  if (inPairs)
    tile = vector::BitCastOp::create(b, k.loc, numbers, tile);
  return vector::ShapeCastOp::create(
      b, k.loc, VectorType::get({tileSize, tileSize, 2}, b.getBF16Type()),
      tile);
}

Value cpu::loadSums(KernelBuilder &k, Value matrix, Value row, Value column) {
  return vector::LoadOp::create(k.builder, k.loc, tileOfSums(k.builder), matrix,
                                ValueRange{row, column});
}

void cpu::storeTile(KernelBuilder &k, Value tile, Value matrix, Value row,
                    Value column) {
  vector::StoreOp::create(k.builder, k.loc, tile, matrix,
                          ValueRange{row, column});
}
