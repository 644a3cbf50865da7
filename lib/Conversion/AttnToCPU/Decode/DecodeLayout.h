// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the parts of an !attn.state of kind decode lie in memory. Its rows are
// queries and its lanes hold features. A state is one vector of f32 or f64:
//
//   part        shape                              content
//   queries     blocks x block x key_parts * part  scale * log2(e) * query
//   accumulator capacity x value_vectors * lanes   acc
//   scores      blocks x scores_width              of key and query of a block,
//                                                  (key_tile + lanes) * block
//   statistics  3 x (capacity + lanes)             m, l, a (= exp2(m - m'))
//
// `capacity` is the number of rows, made a multiple of `block`; rows that there
// are not have queries of 0. A part of a query is what a vector holds of its
// features, `lanes / interleave`; where vectors hold several queries, a block
// of them lies [part][query]. Where the number of features is no multiple, the
// last part or vector begins that much before the end: it overlaps the one
// before, and the queries are 0 where it does. Statistics are in units of log2.
// With a single row, scores are those of key after key instead; behind them lie
// lanes x lanes products that are not added yet.
//
// Where the schedule multiplies pairs, an element of these parts is not one
// number but two of bf16:
//
//   queries     key_dim / 2 per row    query[2 d] and [2 d + 1], negative where
//                                      the scale is
//   scores      (the first half)       weights of keys 2 r and 2 r + 1 for a
//                                      query, once known
//   accumulator (numbers as before)    two vectors of features in the order of
//                                      pairedFeature
//   factor      lanes                  |scale| * log2(e), behind all others
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODELAYOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODELAYOUT_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

struct DecodeLayout {
  int64_t lanes, block, interleave, part, capacity, keyDim, valueDim, keyTile;
  bool pairs;
  mlir::Type element;

  DecodeLayout(StateType type, CPUScheduleAttr schedule)
      : lanes(schedule.getLanes()), block(schedule.getBlock()),
        interleave(schedule.getInterleave()), part(lanes / interleave),
        capacity((type.getRows() + block - 1) / block * block),
        keyDim(type.getKeyDim()), valueDim(type.getValueDim()),
        keyTile(schedule.getKeyTile()), pairs(schedule.usesDot()),
        element(type.getElement()) {}

  /// That of saved states: states x rows x (value_dim + 2).
  static DecodeLayout ofParts(mlir::ShapedType parts,
                              CPUScheduleAttr schedule) {
    auto type =
        StateType::get(schedule.getContext(), 1, 1, parts.getDimSize(2) - 2,
                       parts.getElementType(), Kind::Decode);
    return DecodeLayout(type, schedule);
  }

  enum Statistic { Maximum, Sum, Rescale };

  int64_t vectorsOf(int64_t dim) const { return (dim + lanes - 1) / lanes; }
  /// Which feature of two vectors, as they lie in a value, lane `lane` of the
  /// first or second of the accumulator belongs to, where values are pairs.
  static int64_t pairedFeature(int64_t second, int64_t lane) {
    return lane / 4 * 8 + second * 4 + lane % 4;
  }
  /// Features, or pairs of them, of a key.
  int64_t keyNumbers() const { return pairs ? keyDim / 2 : keyDim; }
  int64_t splitKeyParts() const { return (keyNumbers() + part - 1) / part; }
  int64_t valueWidth() const { return vectorsOf(valueDim) * lanes; }
  int64_t scoresWidth() const {
    return std::max((keyTile + lanes) * block,
                    capacity == block ? keyTile + lanes + lanes * lanes : 0);
  }
  /// Distances of the next query of a block and of the next part of a query.
  int64_t queryStride() const {
    return interleave > 1 ? part : splitKeyParts() * part;
  }
  int64_t partStride() const { return interleave > 1 ? block * part : part; }
  int64_t statisticsWidth() const { return capacity + lanes; }

  int64_t contextBegin() const { return capacity * splitKeyParts() * part; }
  int64_t scoresBegin() const {
    return contextBegin() + capacity * valueWidth();
  }
  int64_t statisticsBegin() const {
    return scoresBegin() + capacity / block * scoresWidth();
  }
  int64_t factorBegin() const {
    return statisticsBegin() + 3 * statisticsWidth();
  }
  int64_t total() const { return factorBegin() + (pairs ? lanes : 0); }

  mlir::MemRefType memrefType() const {
    return mlir::MemRefType::get({total()}, element);
  }
  /// A part as a matrix of `rows` rows.
  Value view(KernelBuilder &k, Value state, int64_t begin, int64_t rows,
             int64_t width) const;
  Value queries(KernelBuilder &k, Value state) const {
    return view(k, state, 0, capacity / block, splitKeyParts() * part * block);
  }
  Value accumulator(KernelBuilder &k, Value state) const {
    return view(k, state, contextBegin(), capacity, valueWidth());
  }
  Value scores(KernelBuilder &k, Value state) const {
    return view(k, state, scoresBegin(), capacity / block, scoresWidth());
  }
  /// Of a single query. Behind them is the next block, if there is one.
  Value products(KernelBuilder &k, Value state) const {
    return view(k, state, scoresBegin() + keyTile + lanes, lanes, lanes);
  }
  Value statistics(KernelBuilder &k, Value state) const {
    return view(k, state, statisticsBegin(), 3, statisticsWidth());
  }
  Value factor(KernelBuilder &k, Value state) const {
    return view(k, state, factorBegin(), 1, lanes);
  }
};

} // namespace attn::cpu

#endif
