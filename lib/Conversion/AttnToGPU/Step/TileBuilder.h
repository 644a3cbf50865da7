// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes ops of a block, and what a state of attention is made of there.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_TILEBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_STEP_TILEBUILDER_H

#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::gpucode {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// A kernel's attention: what its state is made of.
struct Attention {
  KernelPlan plan;
  double scale;
  bool sigmoid;
  /// Whether a maximum may be lower than a row's scores. Those that are saved
  /// or returned are not.
  bool isLazy;

  llvm::SmallVector<Type> stateTypes() const {
    mlir::MLIRContext *context = plan.schedule.getContext();
    return {plan.context,
            plan.rows,
            plan.rows,
            plan.queries.in(tile::BufferState::Loading),
            plan.keys.in(tile::BufferState::Loading),
            plan.values.in(tile::BufferState::Full),
            mlir::IndexType::get(context)};
  }
};

/// The parts of a state, in the order of their types.
struct State {
  Value context, maxima, sums, queries, keys, values, resident;

  explicit State(ValueRange parts)
      : context(parts[0]), maxima(parts[1]), sums(parts[2]), queries(parts[3]),
        keys(parts[4]), values(parts[5]), resident(parts[6]) {}
  llvm::SmallVector<Value> parts() const {
    return {context, maxima, sums, queries, keys, values, resident};
  }
};

/// Writes ops of a block.
struct TileBuilder {
  OpBuilder &b;
  Location loc;

  using Function =
      llvm::function_ref<Value(TileBuilder &, ValueRange, Value, Value)>;

  Value real(double value);
  /// The number that excludes, and the maximum of a row that saw no key: all
  /// that is not excluded is at least as large.
  Value infinity();
  Value lowest();
  Value index(int64_t value);
  Value splat(Type type, Value value);
  /// Instructions of the hardware, to some ulps.
  Value exp2(Value x);
  Value log2(Value x);
  /// 1 / (1 + 2^-x).
  Value sigmoid(Value x);
  Value equal(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value reduce(tile::Reduction kind, Value value, Type rows);
  tile::SyncOp sync(ValueRange wait, ValueRange release);
  /// `function` gets an element of each operand and its distances.
  Value map(Type type, ValueRange operands, Function function);
};

} // namespace attn::gpucode

#endif
