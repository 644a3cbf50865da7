// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor as the two halves of its features, read through slices, concats and
// arithmetic on whole tensors.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_ROTATEDPAIRS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_ROTATEDPAIRS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace attn {

inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Which features are a pair: i and i + R/2, or 2i and 2i + 1.
enum class Pairing { Halves, Neighbours };

/// All of `tensor`, or the first (0) or second (1) feature of each pair.
struct Half {
  static constexpr int whole = -1;
  mlir::Value tensor;
  int which = whole;
  bool operator==(const Half &other) const {
    return tensor == other.tensor && which == other.which;
  }
};

/// y0 = x0 * cos - x1 * sin and y1 = x1 * cos + x0 * sin, or where `backwards`
/// with the other sign of sin.
struct Rotation {
  mlir::Value input;
  Half cos, sin;
  Pairing pairing;
  bool backwards;
};

/// Reads what computes `value` as a rotation of pairs. None without a `reason`:
/// it is nothing of the kind.
std::optional<Rotation> readRotation(mlir::Value value, Pairing pairing,
                                     std::string &reason);

/// Whether both features of each pair have the same number in `value`.
bool isSameInPairs(mlir::Value value, Pairing pairing);

/// The size of the last dimension, or ShapedType::kDynamic.
int64_t featuresOf(mlir::Value value);

} // namespace attn

#endif
