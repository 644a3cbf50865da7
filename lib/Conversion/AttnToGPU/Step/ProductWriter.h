// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of a product that a block computes.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_PRODUCTWRITER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_PRODUCTWRITER_H

#include "TileBuilder.h"

namespace attn::gpucode {

/// Writes the code of one tile in its op's place.
class ProductWriter {
public:
  ProductWriter(OpBuilder &b, ProjectBlockOp op)
      : b(b), loc(op.getLoc()), op(op), plan(op), t{b, loc} {}

  void write();

private:
  /// Buffers of the input and of the weight, in one state.
  struct Stage {
    Value input, weight;
    llvm::SmallVector<Value, 2> both() const { return {input, weight}; }
  };

  Stage free(int stage);
  Stage enter(int stage, Stage room, tile::BufferState state);
  Stage copy(int stage, Value begin, int64_t count, Stage room);
  Stage copyIfAny(int stage, Value begin, Stage room);
  Value firstSums();
  Value multiply(Stage full, Value sums);
  Value addPairs(int64_t pairs, Value sums, Stage &loading, Stage &full);
  Value endSums(Value sums);
  void storeEach(Value sums, mlir::ValueRange free);
  void store(Value sums, mlir::ValueRange free);

  OpBuilder &b;
  Location loc;
  ProjectBlockOp op;
  ProductPlan plan;
  TileBuilder t;
};

} // namespace attn::gpucode

#endif
