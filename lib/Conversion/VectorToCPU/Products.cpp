// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Conversion/VectorToCPU/Products.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

VectorType cpu::tileOfSums(OpBuilder &b) {
  return VectorType::get({tileSize, tileSize}, b.getF32Type());
}

Value cpu::pairProduct(OpBuilder &b, Location loc, Value x, Value y,
                       Value acc) {
  int64_t lanes = cast<VectorType>(acc.getType()).getNumElements();
  auto pairs = [&](Value packed) -> Value {
    Value flat = vector::BitCastOp::create(
        b, loc, VectorType::get(2 * lanes, b.getBF16Type()), packed);
    return vector::ShapeCastOp::create(
        b, loc, VectorType::get({lanes, 2}, b.getBF16Type()), flat);
  };
  AffineExpr lane = b.getAffineDimExpr(0), which = b.getAffineDimExpr(1);
  using Exprs = ArrayRef<AffineExpr>;
  x = pairs(x);
  y = pairs(y);
  return vector::ContractionOp::create(
      b, loc, x, y, acc, ArrayRef<Exprs>{{lane, which}, {lane, which}, {lane}},
      {vector::IteratorType::parallel, vector::IteratorType::reduction});
}

/// The maps of a product over (row, column, pair, which of it).
static SmallVector<AffineMap, 3> productMaps(MLIRContext *context) {
  AffineExpr row, column, pair, which;
  bindDims(context, row, column, pair, which);
  return {AffineMap::get(4, 0, {row, pair, which}, context),
          AffineMap::get(4, 0, {pair, column, which}, context),
          AffineMap::get(4, 0, {row, column}, context)};
}

Value cpu::tileProduct(OpBuilder &b, Location loc, Value a, Value x, Value c) {
  constexpr auto parallel = vector::IteratorType::parallel,
                 reduction = vector::IteratorType::reduction;
  auto iterators = llvm::map_to_vector(
      ArrayRef{parallel, parallel, reduction, reduction},
      [&](vector::IteratorType type) -> Attribute {
        return vector::IteratorTypeAttr::get(b.getContext(), type);
      });
  return vector::ContractionOp::create(
      b, loc, a, x, c, b.getAffineMapArrayAttr(productMaps(b.getContext())),
      b.getArrayAttr(iterators));
}

bool cpu::isTileProduct(vector::ContractionOp op) {
  OpBuilder b(op.getContext());
  auto pairs = VectorType::get({tileSize, tileSize, 2}, b.getBF16Type());
  return op.getLhsType() == pairs && op.getRhsType() == pairs &&
         op.getAccType() == tileOfSums(b) &&
         op.getKind() == vector::CombiningKind::ADD &&
         op.getIndexingMapsArray() == productMaps(op.getContext());
}
