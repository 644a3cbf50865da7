// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a state that has seen its keys.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STATERESULTS_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_STATERESULTS_H

#include "TileBuilder.h"

namespace attn::gpucode {

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

  void decideOnLongWay(mlir::Operation *op);
  void writeInTurn(mlir::Operation *op, Value context,
                   llvm::function_ref<void()> results);
  void writeResults(FinalizeOp op);
  void writeResults(ReturnStateOp op);
  Value mapRows(ValueRange rows, OfRow function);
  Value mapContext(Value row, OfRow function);
  Value inverseOf(Value sums);
  Value maximaAsNumbers();
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
