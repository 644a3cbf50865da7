// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which weights attn.dropout drops.
//
// The generator is Philox 4x32-10 (Salmon, Moraes, Dror and Shaw: Parallel
// random numbers: as easy as 1, 2, 3; SC 2011). The seed is its key, lower half
// first; the counter of batch entry b, head h, query q and key k is
// (k / 4, q, h, b), and word k % 4 of what it gives belongs to the pair. A pair
// whose word is below probability * 2^32 is dropped.
#ifndef ATTN_DIALECT_ATTN_UTILS_PHILOX_H
#define ATTN_DIALECT_ATTN_UTILS_PHILOX_H

#include "mlir/IR/Builders.h"
#include <array>

namespace attn {

/// Writes the generator.
class Philox {
public:
  static constexpr unsigned words = 4;
  using Words = std::array<mlir::Value, words>;

  /// `seed` is an i64; counters are of type `type`: i32, or a vector of it with
  /// one counter per lane.
  Philox(mlir::OpBuilder &b, mlir::Location loc, mlir::Value seed,
         mlir::Type type);

  /// A number of the counters' type.
  mlir::Value number(uint32_t value);
  /// An index, in each lane.
  mlir::Value word(mlir::Value index);
  /// The words that a counter gives.
  Words apply(Words counter);
  /// Below this a word drops its pair; 0 where the seed is negative, which
  /// drops nothing.
  mlir::Value threshold(double probability);
  /// What weights that stay are multiplied with, a number of type `element`.
  mlir::Value kept(double probability, mlir::Type element);

private:
  mlir::Value isOff();
  mlir::Value keyOf(unsigned half, uint32_t round);
  std::pair<mlir::Value, mlir::Value> multiply(mlir::Value word,
                                               uint32_t factor);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value seed;
  mlir::Type type;
  std::array<mlir::Value, 2> key;
};

/// A pair of query and key, in indices. Pairs whose keys differ in the last bit
/// have one `evenKey`, and share what is computed of it.
struct DroppedPair {
  mlir::Value batch, head, query, evenKey;
  mlir::Value isOdd; ///< i1: the key is the one behind
};

/// What the weight of one pair is multiplied with, of type `element`: 0, or one
/// over the probability to stay.
mlir::Value dropoutFactor(mlir::OpBuilder &b, mlir::Location loc,
                          double probability, mlir::Value seed,
                          const DroppedPair &pair, mlir::Type element);

} // namespace attn

#endif
