// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QueryBlockExtras.h"
#include "Build/Booleans.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

MatrixKind cpu::matrixKind(Value matrix) {
  auto type = cast<MemRefType>(matrix.getType());
  if (type.getDimSize(0) == 1)
    return MatrixKind::Row; // one row of keys for all queries
  return type.getDimSize(1) == 1 ? MatrixKind::Column : MatrixKind::Matrix;
}

Values cpu::packedMasks(Attribute mask, ValueRange operands) {
  Values packed;
  for (Attribute term : leafTerms(mask)) {
    auto allowed = dyn_cast<AllowedAttr>(term);
    Value matrix = allowed ? operands[allowed.getOperand()] : Value();
    if (matrix && isa<MemRefType>(matrix.getType()) &&
        matrixKind(matrix) != MatrixKind::Row &&
        !llvm::is_contained(packed, matrix))
      packed.push_back(matrix);
  }
  return packed;
}

QueryBlockExtras::QueryBlockExtras(KernelBuilder &builder,
                                   const StateLayout &layout,
                                   const TileOperands &operands,
                                   const QueryBlocks &queryBlocks)
    : k(builder), layout(layout), tile(operands), queryBlocks(queryBlocks) {
  if (tile.bias && matrixKind(tile.bias) != MatrixKind::Row)
    packed.push_back(tile.bias);
  if (tile.cotangents && matrixKind(tile.cotangents) != MatrixKind::Row)
    packed.push_back(tile.cotangents);
  llvm::append_range(packed, packedMasks(tile.mask, tile.maskOperands));
}

QueryBlockExtras::QueryBlockExtras(KernelBuilder &builder,
                                   const QueryBlockExtras &other)
    : k(builder), layout(other.layout), tile(other.tile),
      queryBlocks(other.queryBlocks), packed(other.packed) {}

Value cpu::biasInLog2(KernelBuilder &k, Value bias) {
  Value scaled = k.mulf(bias, k.splat(log2OfE));
  Value infinite = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, bias, k.infinity());
  return k.select(infinite, bias, k.maxf(k.lowest(), scaled));
}

/// `lanes` booleans of a row as 1 and 0.
static Value loadBooleans(KernelBuilder &k, Value matrix, Value row,
                          Value column) {
  Value bytes = loadBytes(k, matrix, row, column, Value());
  Value wide = arith::ExtUIOp::create(k.builder, k.loc, k.intVectorType, bytes);
  return arith::SIToFPOp::create(k.builder, k.loc, k.vectorType, wide);
}

/// The same for a row of fewer than `lanes` elements; the last one is repeated.
static Value loadFewBooleans(KernelBuilder &k, Value matrix, Value row) {
  Value last =
      k.sub(memref::DimOp::create(k.builder, k.loc, matrix, 1), k.index(1));
  Value numbers = k.splat(0.0);
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    Value bit = memref::LoadOp::create(
        k.builder, k.loc, matrix, ValueRange{row, k.min(k.index(lane), last)});
    Value number = arith::UIToFPOp::create(k.builder, k.loc, k.element, bit);
    numbers = vector::InsertOp::create(k.builder, k.loc, number, numbers,
                                       ArrayRef<int64_t>{lane});
  }
  return numbers;
}

/// A bias is one to a score in units of log2.
Value QueryBlockExtras::inUnit(Value matrix, Value number) {
  return matrix == tile.bias ? biasInLog2(k, number) : number;
}

/// `lanes` values of a row, of a mask as 1 and 0.
Value QueryBlockExtras::loadExtra(Value matrix, Value row, Value column,
                                  Value mask) {
  auto type = cast<MemRefType>(matrix.getType());
  if (!type.getElementType().isInteger(1))
    return inUnit(matrix, k.loadRow(matrix, row, column, mask));
  return mask ? loadFewBooleans(k, matrix, row)
              : loadBooleans(k, matrix, row, column);
}

void QueryBlockExtras::pack(Value p, const QueryBlockKeys &keys, bool bias,
                            bool mask) {
  for (auto [i, matrix] : llvm::enumerate(packed)) {
    if (matrix == tile.bias ? bias : mask || matrix == tile.cotangents)
      packMatrix(matrix, layout.extra(i), p, keys);
  }
}

/// Transposes the part of `matrix` that belongs to the query block, so that row
/// firstRow + key holds one value per query.
void QueryBlockExtras::packMatrix(Value matrix, int64_t firstRow, Value p,
                                  const QueryBlockKeys &keys) {
  Value lastQuery = k.sub(tile.queryEnd, k.index(1));
  bool column = matrixKind(matrix) == MatrixKind::Column;
  Value width =
      column ? k.index(1)
             : memref::DimOp::create(k.builder, k.loc, matrix, 1).getResult();
  for (int64_t v = 0; v < k.vectors; ++v) {
    Value first = k.add(firstQuery(p), v * k.lanes);
    auto group = [&](Value at, Value row, Value mask) {
      Values lines;
      for (int64_t lane = 0; lane < k.lanes; ++lane)
        lines.push_back(
            loadExtra(matrix, k.min(k.add(first, lane), lastQuery), at, mask));
      for (auto [i, line] : llvm::enumerate(k.transpose(lines))) {
        k.store(line, tile.state, k.add(row, i), k.index(v * k.lanes));
        if (column)
          break;
      }
    };
    if (column) {
      Value mask = vector::CreateMaskOp::create(
          k.builder, k.loc, k.boolVectorType, ValueRange{width});
      group(k.index(0), k.index(firstRow), mask);
      continue;
    }
    // Groups of `lanes` keys; the last one moves back to stay in the matrix
    // (rows in front of the tile's first take what is read twice).
    k.choose(
        k.less(k.index(k.lanes - 1), width),
        [&] {
          Value last = k.sub(width, k.index(k.lanes));
          k.loop(keys.begin, keys.end, k.lanes, [&](Value key) {
            Value at = k.min(k.add(tile.keyBegin, key), last);
            Value row = k.add(k.sub(at, tile.keyBegin), firstRow);
            group(at, row, {});
          });
        },
        [&] {
          Value mask = vector::CreateMaskOp::create(
              k.builder, k.loc, k.boolVectorType, ValueRange{width});
          group(k.index(0), k.index(firstRow), mask);
        });
  }
}

/// Element of a matrix that broadcasts to (queries x keys), for one pair.
Value QueryBlockExtras::ofPair(Value matrix, Value p, Value key) {
  MatrixKind kind = matrixKind(matrix);
  bool oneKey = cast<MemRefType>(matrix.getType()).getDimSize(1) == 1;
  return k.loadBroadcast(matrix,
                         kind == MatrixKind::Row ? k.index(0) : firstQuery(p),
                         oneKey ? k.index(0) : k.add(tile.keyBegin, key));
}

static int64_t positionOf(ArrayRef<Value> values, Value value) {
  return llvm::find(values, value) - values.begin();
}

Value QueryBlockExtras::number(Value matrix, Value p, Value key, int64_t v) {
  if (k.lanes == 1)
    return inUnit(matrix, ofPair(matrix, p, key));
  if (matrixKind(matrix) == MatrixKind::Row) {
    // One column may broadcast to all keys.
    bool single = cast<MemRefType>(matrix.getType()).getDimSize(1) == 1;
    Value at = single ? k.index(0) : k.add(tile.keyBegin, key);
    return inUnit(matrix, k.loadBroadcast(matrix, k.index(0), at));
  }
  int64_t row = layout.extra(positionOf(packed, matrix));
  bool column = matrixKind(matrix) == MatrixKind::Column;
  return k.load(tile.state, column ? k.index(row) : k.add(key, row),
                k.index(v * k.lanes));
}

Value QueryBlockExtras::bias(Value p, Value key, int64_t v) {
  return number(tile.bias, p, key, v);
}

Value QueryBlockExtras::cotangent(Value p, Value key, int64_t v) {
  return number(tile.cotangents, p, key, v);
}

Value QueryBlockExtras::isAllowed(unsigned operand, Value p, Value key,
                                  int64_t v) {
  Value matrix = tile.maskOperands[operand];
  if (k.lanes == 1)
    return ofPair(matrix, p, key);
  if (matrixKind(matrix) == MatrixKind::Row) {
    bool single = cast<MemRefType>(matrix.getType()).getDimSize(1) == 1;
    Value at = single ? k.index(0) : k.add(tile.keyBegin, key);
    return k.loadBroadcast(matrix, k.index(0), at);
  }
  int64_t row = layout.extra(positionOf(packed, matrix));
  bool column = matrixKind(matrix) == MatrixKind::Column;
  Value number = k.load(tile.state, column ? k.index(row) : k.add(key, row),
                        k.index(v * k.lanes));
  return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OGT,
                               number, k.splat(0.5));
}
