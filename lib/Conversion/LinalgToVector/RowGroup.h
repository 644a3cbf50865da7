// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop nests that run row after row together.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_ROWGROUP_H
#define ATTN_CONVERSION_LINALGTOVECTOR_ROWGROUP_H

#include "LoopNest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <deque>

namespace attn::cpu {

/// What one row does at a time: a loop along lanes that several nests share,
/// or a nest by itself.
struct Step {
  llvm::SmallVector<LoopNest *> nests;
  /// Whether lanes lie along a loop of the row.
  bool hasLanes = false;
};

/// Nests in a row of which each reads, of what an earlier one wrote, only the
/// same row: an index of the outermost parallel loops, which are the same for
/// all.
class RowGroup {
public:
  /// Whether `nest` joined. The first one always does.
  bool join(LoopNest &nest);
  /// Orders steps and finds what needs no memory.
  void plan();
  /// Whether lanes of all nests are one loop, and each reads, of what an
  /// earlier one wrote, only the same lane.
  bool mayCutLanes() const;
  /// Whether threads may have lanes of all rows by turns: what is added up is
  /// so along lanes, and each nest reads, of what another writes, only the same
  /// lane, or a number of the row.
  bool maySpreadLanes() const;

  llvm::SmallVector<LoopNest *> nests;
  /// Of how many loops a row is one turn.
  unsigned outer() const { return fewest; }
  llvm::SmallVector<Step> steps;
  /// Buffers that only the group uses; value: whether a row of it has to be
  /// kept in memory from one step to the next.
  llvm::DenseMap<mlir::Value, bool> locals;

private:
  bool conflicts(const LoopNest &earlier, const LoopNest &later,
                 unsigned outer) const;
  bool mayShareLoop(const Step &step, const LoopNest &nest) const;
  void findLocals();

  unsigned fewest = 0, most = 0;
};

/// The loops of `nest` outside of which, and along which, it has a row each.
/// The access with the group's loops: rows, then lanes, then what is reduced.
mlir::AffineMap inGroup(const LoopNest &nest, const Access &access,
                        unsigned outer);

/// Whether the nest has lanes in a group of `outer` loops.
bool hasLanes(const LoopNest &nest, unsigned outer);

} // namespace attn::cpu

#endif
