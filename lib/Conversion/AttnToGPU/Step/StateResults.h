// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a state that has seen its keys.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STATERESULTS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STATERESULTS_H

#include "TileBuilder.h"

namespace attn::gpucode {

/// Column `column` of a matrix, or so many from there on.
Value columnsOf(OpBuilder &b, Location loc, Value matrix, int64_t column,
                std::optional<int64_t> count = std::nullopt);

class StateResults {
public:
  StateResults(OpBuilder &b, Location loc, const Attention &attention,
               State state)
      : t{b, loc}, b(b), loc(loc), attention(attention), plan(attention.plan),
        state(state) {}

  State addSink(Value sink);
  void write(FinalizeOp op);
  void write(ReturnStateOp op);
  void write(SaveStateOp op);
  void write(WeighOp op);

private:
  using OfRow = llvm::function_ref<Value(TileBuilder &, ValueRange)>;

  Value mapRows(ValueRange rows, OfRow function);
  Value mapContext(Value row, OfRow function);
  Value inverseOf(Value sums);
  Value maximaOfSeen(Value sums);
  Value roomForResults(FinalizeOp op);
  void weigh(WeighOp op, Value products);

  TileBuilder t;
  OpBuilder &b;
  Location loc;
  const Attention &attention;
  const KernelPlan &plan;
  State state;
};

} // namespace attn::gpucode

#endif
