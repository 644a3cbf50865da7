// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of online softmax by a block.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STEPWRITER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STEPWRITER_H

#include "TileBuilder.h"

namespace attn::gpucode {

class StepWriter {
public:
  StepWriter(OpBuilder &b, OnlineOp op, const Attention &attention, State state)
      : t{b, op.getLoc()}, b(b), loc(op.getLoc()), op(op), attention(attention),
        plan(attention.plan), state(state) {}

  State write();

private:
  Value copy(OpBuilder &at, tile::BufferType type, Value source, Value row,
             Value room) {
    return tile::CopyAsyncOp::create(
        at, loc, type.in(tile::BufferState::Loading), source, row, room);
  }
  Value keysOfStep();
  Value copyNext(Value room);
  void siftValues();
  void updateRows(Value scores);
  void weighBySigmoid(Value scores);

  TileBuilder t;
  OpBuilder &b;
  Location loc;
  OnlineOp op;
  const Attention &attention;
  const KernelPlan &plan;
  State state;
  Value weights;
  /// What scores are multiplied by to be in units of log2.
  double factor = 1;
};

} // namespace attn::gpucode

#endif
