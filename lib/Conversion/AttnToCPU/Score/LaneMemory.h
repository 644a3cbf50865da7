// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a tensor at an index per lane. An index outside counts as the
// nearest one inside.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_LANEMEMORY_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_SCORE_LANEMEMORY_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// `vector`, or else `scalar + stride * lane`.
struct Lanes {
  Value scalar;
  int64_t stride = 0;
  Value vector = {};
  bool isUniform() const { return !vector && stride == 0; }
};

class LaneMemory {
public:
  explicit LaneMemory(KernelBuilder &builder) : k(builder) {}

  Lanes load(Value memref, llvm::ArrayRef<Lanes> at);
  /// Adds lane by lane, in their order; where all meet in one element, their
  /// sum.
  void add(Value vector, Value memref, llvm::ArrayRef<Lanes> at);

  /// From now on, neighbours stand inside of their dimension.
  void assumeInside(bool inside) { neighboursAreInside = inside; }

  Value vectorOf(const Lanes &lanes);
  /// start, start + stride, ...
  Value constant(mlir::Type element, int64_t start, int64_t stride);

private:
  Value loadNeighbours(Value memref, llvm::ArrayRef<Lanes> at);
  Value gather(Value memref, llvm::ArrayRef<Lanes> at);
  Value loadEach(Value memref, llvm::ArrayRef<Lanes> at);
  void addNeighbours(Value vector, Value memref, llvm::ArrayRef<Lanes> at);
  void addEach(Value vector, Value memref, llvm::ArrayRef<Lanes> at);
  void addNumber(Value number, Value memref, mlir::ValueRange at);
  Value size(Value memref, int64_t dim);
  /// The index that is nearest to `index` and inside of the dimension.
  Value clampIndex(Value index, Value size);
  /// Of indices that are the same for all lanes.
  Values clampAll(Value memref, llvm::ArrayRef<Lanes> at);
  /// Whether lanes from `first` to `last` are all in [0, width), and whether
  /// all are on one side of it.
  Value allInside(Value first, Value last, Value width);
  Value allBeside(Value first, Value last, Value width);

  KernelBuilder &k;
  bool neighboursAreInside = false;
};

} // namespace attn::cpu

#endif
