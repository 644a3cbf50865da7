// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the parts of an !attn.state lie in memory. A state is one matrix of f32
// or f64 whose rows hold one value per query of a query block:
//
//   part        rows                    content of row r of query block p
//   queries     blocks * key_dim        scale * log2(e) * query[.., r]
//   accumulator blocks * value_dim      acc[.., r]
//   weights     blocks * (keys + rows)  scores, then weights, of key r - rows
//   statistics  blocks * 4              m, l, a (= exp2(m - m')), m'
//   extra       key_tile + 2 * lanes    bias or mask of key r - lanes, one
//                                       query block
//   staged      key_tile * dim / block  keys of the tile, row-major; once there
//                                       are weights, values in their place
//
// Where the schedule multiplies pairs, an element of these parts is not one
// number but two of bf16:
//
//   queries     blocks * key_dim / 2    query[.., r] at 2 d and 2 d + 1,
//                                       negative where the scale is
//   weights     (the first half)        of keys 2 r and 2 r + 1, once known
//   staged      of values only          of keys 2 r and 2 r + 1
//   factor      1                       |scale| * log2(e), behind all others
//
// Halves are rounded up; what a pair lacks is 0. Where it multiplies tiles, the
// rows of queries are a multiple of 16, 0 at the end, and
//
//   staged      keys, if padded (stagePaddedKeys), and values, transposed
//   products    rows                    sums of the accumulator, before they
//                                       are added
//
// stand in front of the factor. Statistics are in units of
// log2: m is the maximum of score * log2(e). The `rows` rows in front of the
// weights take what a block of keys that overlaps the beginning of the tile
// writes, and so do the `lanes` rows on both sides of an extra; nobody reads
// them.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_STATELAYOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_STATELAYOUT_H

#include "KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace attn::cpu {

struct StateLayout {
  int64_t queryBlock, queryBlocks, lanes, keyDim, valueDim, keyTile, padding,
      extras;
  bool pairs, tiles; // tiles are of pairs
  mlir::Type element;
  bool sigmoid; // m, l, a and m' are not used

  /// `extras`: bias and boolean masks whose matrix is transposed per query
  /// block.
  StateLayout(StateType type, CPUScheduleAttr schedule, int64_t extras = 0)
      : queryBlock(schedule.getQueryBlock()),
        queryBlocks(type.getRows() / queryBlock), lanes(schedule.getLanes()),
        keyDim(type.getKeyDim()), valueDim(type.getValueDim()),
        keyTile(schedule.getKeyTile()), padding(schedule.getRows()),
        extras(extras), pairs(schedule.usesDot()), tiles(schedule.usesAmx()),
        element(type.getElement()),
        sigmoid(type.getNormalization() == Normalization::Sigmoid) {}

  enum Statistic { Maximum, Sum, Rescale, NextMaximum };

  int64_t pairRows() const { return (keyDim + 1) / 2; }
  int64_t queryRows() const {
    return tiles ? llvm::divideCeil(keyDim, 32) * 16
                 : (pairs ? pairRows() : keyDim);
  }
  int64_t contextBegin() const { return queryBlocks * queryRows(); }
  int64_t weightsBegin() const {
    return contextBegin() + queryBlocks * valueDim;
  }
  int64_t statisticsBegin() const {
    return weightsBegin() + queryBlocks * (keyTile + padding);
  }
  int64_t extrasBegin() const { return statisticsBegin() + queryBlocks * 4; }
  int64_t stagedBegin() const {
    return extrasBegin() + extras * (keyTile + 2 * lanes);
  }
  /// Keys of a tile that are ever padded.
  int64_t paddedKeys() const { return keyDim % 32 ? keyTile : padding; }
  int64_t productsBegin() const {
    int64_t keys =
        tiles ? paddedKeys() * queryRows() : (pairs ? 0 : keyTile * keyDim);
    int64_t values = (pairs ? (keyTile + 1) / 2 : keyTile) *
                     (tiles ? llvm::alignTo(valueDim, 16) : valueDim);
    return stagedBegin() + llvm::divideCeil(std::max(keys, values), queryBlock);
  }
  int64_t factor() const { return productsBegin() + (tiles ? padding : 0); }
  int64_t totalRows() const { return factor() + (pairs ? 1 : 0); }

  /// First row of the query block's queries, accumulator, weights of key 0 of
  /// the tile.
  Value queries(KernelBuilder &k, Value p) const {
    return k.mul(p, queryRows());
  }
  Value accumulator(KernelBuilder &k, Value p) const {
    return k.add(k.mul(p, valueDim), contextBegin());
  }
  Value weights(KernelBuilder &k, Value p) const {
    return k.add(k.mul(p, keyTile + padding), weightsBegin() + padding);
  }
  Value statistic(KernelBuilder &k, Value p, Statistic which) const {
    return k.add(k.mul(p, 4), statisticsBegin() + which);
  }
  int64_t extra(int64_t i) const {
    return extrasBegin() + i * (keyTile + 2 * lanes) + lanes;
  }

  mlir::MemRefType memrefType() const {
    return mlir::MemRefType::get({totalRows(), queryBlock}, element);
  }
};

} // namespace attn::cpu

#endif
