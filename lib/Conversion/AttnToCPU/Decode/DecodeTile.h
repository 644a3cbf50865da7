// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of kind decode on a tile of keys and values (DecodeOnline.cpp).
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODETILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODETILE_H

#include "DecodeKernels.h"

namespace attn::cpu {

/// The elements `mask` of two vectors behind each other.
inline Value shuffle(KernelBuilder &k, Value a, Value b,
                     llvm::ArrayRef<int64_t> mask) {
  return mlir::vector::ShuffleOp::create(k.builder, k.loc, a, b, mask);
}

/// Combines the halves of a vector until `size` lanes are left.
Value fold(KernelBuilder &k, Value vector, int64_t size,
           llvm::function_ref<Value(Value, Value)> combine);

/// All ops of one step are created by its member functions.
class DecodeTile {
public:
  DecodeTile(KernelBuilder &k, const DecodeLayout &layout,
             const TileOperands &tile, Value value, Value rows, int64_t heads,
             bool single)
      : k(k), small(k.withLanes(single ? 1 : layout.block)), layout(layout),
        tile(tile), value(value), single(single),
        size(single ? 1 : layout.block),
        shares((heads + layout.block - 1) / layout.block),
        blocks(single ? k.index(1) : blocksOf(k, layout, rows)), rows(rows),
        queries(layout.queries(k, tile.state)),
        accumulator(layout.accumulator(k, tile.state)),
        scores(layout.scores(k, tile.state)),
        statistics(layout.statistics(k, tile.state)),
        count(mlir::memref::DimOp::create(k.builder, k.loc, tile.key, 0)) {}

  void run(StateType type, CPUScheduleAttr schedule, bool strict);

private:
  void eachBlock(llvm::function_ref<void(Value)> body);
  Value firstRow(Value block) { return k.mul(block, size); }
  Value position(Value key) { return k.mul(key, size); }
  Value shareOf(Value block);
  void adjustScores(StateType type, CPUScheduleAttr schedule);
  void softmaxBlock(Value block);
  void storeWeights(Value weights, Value block, Value at);

  // DecodeScores.cpp
  void scoreTile();
  void scoreKeys(Value block, Value first);
  RegisterTile multiplyKeys(Value block, Value first, RegisterTile acc);
  void scoreKeysOfOne(Value first);
  Value dotProduct(Value key);
  Value loadKey(Value key, Value part);
  Value loadQuery(Value block, Value part, int64_t vector);

  // DecodeContext.cpp
  void contextBlock(Value block);
  void strictContextBlock(Value block);
  RegisterTile sumValues(Value block, Value i, RegisterTile acc, Value pass,
                         int64_t passes);
  RegisterTile addLastPair(Value i, const RegisterTile &acc,
                           llvm::function_ref<Value(int64_t, Value)> weight);
  Value loadValue(Value key, Value vector);
  Value loadValuePairs(Value pair, Value odd, Value first, int64_t v);

  KernelBuilder &k;
  KernelBuilder small; ///< whose lanes are the queries of a block
  const DecodeLayout &layout;
  const TileOperands &tile;
  Value value;
  bool single;
  int64_t size;   ///< queries of a block
  int64_t shares; ///< blocks that share the prefetches of a tile
  Value blocks, rows;
  Value queries, accumulator, scores, statistics, count;
};

} // namespace attn::cpu

#endif
