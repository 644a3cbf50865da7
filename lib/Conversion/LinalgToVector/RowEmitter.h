// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of one row of a group.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_ROWEMITTER_H
#define ATTN_CONVERSION_LINALGTOVECTOR_ROWEMITTER_H

#include "BodyEmitter.h"
#include "RowGroup.h"
#include "RowThreads.h"

namespace attn::cpu {

/// What the processor has.
struct VectorUnit {
  int64_t lanes = 8; ///< f32 in a register
  /// Elements of at least so many bits can be loaded and stored under a mask; 0
  /// if there is no such instruction.
  unsigned maskedBits = 0;
  /// Threads of a warp that may share a row, or 1.
  int64_t threadsOfRow = 1;
};

/// A part of a loop along lanes.
struct LaneRange {
  mlir::Value begin, end;
  /// Whether it is the whole loop, so that a known size is known here, too.
  std::optional<int64_t> size;
};

class RowEmitter {
public:
  RowEmitter(mlir::OpBuilder &b, const RowGroup &group, VectorUnit unit);

  /// The row `row`, an index per loop of the group. `part` is null for all of
  /// the lanes.
  void emit(llvm::ArrayRef<mlir::Value> row, const LaneRange *part);
  /// Memory for one row of what needs it, made where the builder stands.
  void makeRows();
  /// The threads of a warp share the row, of which `number` is one.
  void share(mlir::Value number) { threads = {number, unit.threadsOfRow}; }

private:
  using Running = llvm::SmallVector<mlir::Value>;

  void emitNumbers(LoopNest &nest);
  void emitScalar(LoopNest &nest);
  void emitLanes(const Step &step, const LaneRange *part);
  void emitColumns(LoopNest &nest, const LaneRange *part);

  bool isOverwritten(size_t number, const Access &access) const;
  /// One turn of the nests that share a loop; `running` are the values that
  /// its reductions have so far, and then have.
  void emitTurn(mlir::Value index, int64_t lanes, mlir::Value mask,
                llvm::MutableArrayRef<mlir::Value> running);
  Running loop(mlir::Value from, mlir::Value to, int64_t step, Running running,
               llvm::function_ref<void(mlir::Value index, Running &)> body);
  void emitRange(const LaneRange &range, int64_t lanes, Running &vectors,
                 Running &numbers);
  void emitAround(llvm::ArrayRef<unsigned> loops, const LoopNest &nest,
                  Running &running, llvm::function_ref<void(Running &)> body);
  Running neutral(int64_t lanes);
  Running combineAll(llvm::ArrayRef<mlir::Value> x,
                     llvm::ArrayRef<mlir::Value> y);
  mlir::Value wholeSteps(const LaneRange &range, int64_t step);
  mlir::Value combine(LoopNest &nest, mlir::Value a, mlir::Value b);
  mlir::Value acrossLanes(LoopNest &nest, mlir::Value vector);
  int64_t abreast(std::optional<int64_t> numbers) const;
  void finish(LoopNest &nest, BodyEmitter &body, mlir::Value sum);
  void emitColumnTurn(LoopNest &nest, mlir::Value first, int64_t count,
                      int64_t lanes, mlir::Value mask);
  mlir::Value maskFor(mlir::Value left, int64_t lanes);

  llvm::SmallVector<mlir::Value> pointOf(const LoopNest &nest,
                                         mlir::Value lane = {}) const;
  LaneRange rangeOf(const LoopNest &nest);
  mlir::Value sizeOf(const LoopNest &nest, unsigned loop) {
    return loopSize(b, nest, loop);
  }
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  int64_t lanesOf() const;
  bool canMask() const;

  mlir::OpBuilder &b;
  const RowGroup &group;
  VectorUnit unit;
  mlir::Location loc;
  RowMemory memory;
  llvm::SmallVector<mlir::Value> row;
  RowThreads threads;
  // Of the loop that is being made.
  llvm::SmallVector<LoopNest *> nests;
  std::vector<BodyEmitter> bodies;
  /// Turns of the loops around it that are not rows.
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> around;
};

} // namespace attn::cpu

#endif
