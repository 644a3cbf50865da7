// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of numbers of bf16, as vector.contract ops of a form that
// attn-lower-tile-products knows.
//
// Pairs: a vector of f32 each of whose lanes holds two numbers; every lane of
// the sums gets one dot product. Tiles: C[16 x 16] += A[16 x 32] * B[32 x 16],
// where B has the numbers of two of its rows side by side in pairs.
#ifndef ATTN_CONVERSION_VECTORTOCPU_PRODUCTS_H
#define ATTN_CONVERSION_VECTORTOCPU_PRODUCTS_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attn::cpu {

/// Rows of every tile, and pairs or f32 in a row of it.
constexpr int64_t tileSize = 16;
/// Numbers of bf16 in a row of a tile.
constexpr int64_t tileNumbers = 2 * tileSize;
/// vector<16x16xf32>
mlir::VectorType tileOfSums(mlir::OpBuilder &b);

/// acc plus the dot products of the pairs in each lane.
mlir::Value pairProduct(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                        mlir::Value y, mlir::Value acc);

/// c + a * x.
mlir::Value tileProduct(mlir::OpBuilder &b, mlir::Location loc, mlir::Value a,
                        mlir::Value x, mlir::Value c);
/// Whether `op` is what tileProduct makes.
bool isTileProduct(mlir::vector::ContractionOp op);

} // namespace attn::cpu

#endif
