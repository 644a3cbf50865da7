// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of attn.project_tile, and how it is cut.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTSIZES_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTSIZES_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Rows of a tile.
struct RowBounds {
  /// There are never more; as many as the schedule has, if that is less.
  int64_t most;
  /// Up to so many, more than a block, take the weight in shallow steps: 0
  /// where there are more.
  int64_t shallow;
};

/// How a tile is cut, and the memory that takes.
struct ProjectSizes {
  ProjectSizes(CPUScheduleAttr schedule, mlir::Value input, mlir::Value weight,
               bool transposed, mlir::Type element, bool hasEpilogue,
               RowBounds bounds);

  /// Rows of a tile at most, and panels of one.
  int64_t rows, panels;
  /// Columns of a panel, rows of it per step, and panels that a step packs (0:
  /// the weight comes in panels).
  int64_t panel, depth;
  /// Rows of a panel that a product takes, of which a step has a multiple.
  int64_t unit;
  int64_t packed;
  /// Rows of a tile with more panels.
  int64_t fewRows;
  /// Rows of the input for one step, with a distance that keeps them out of
  /// each other's sets of the cache.
  mlir::MemRefType inputs;
  /// Sums that lack products, a panel of each row: null where none do.
  mlir::MemRefType sums;
  /// What a step packs: null for panels.
  mlir::MemRefType panelsHere;
  /// The sums of a panel, of at most `dotRows` rows, with a transposed weight
  /// (ProjectDots.h), and its place in the scratch: null for others.
  mlir::MemRefType dots;
  int64_t dotRows = 0, dotScratch = 0;
  /// Behind them, vectors of products of the columns of a register tile, of
  /// which there are so many at most.
  mlir::MemRefType dotParts;
  static constexpr int64_t dotColumns = 8;
  /// As RowBounds has it.
  int64_t shallowRows;
  /// The sums of their panel, in the place of `sums`: null where these serve.
  mlir::MemRefType shallow;
  /// The sums of one block, for an epilogue: null without one.
  mlir::MemRefType block;

  mlir::SmallVector<mlir::MemRefType> scratch() const;
  /// The size of equal steps of at most `most` rows.
  int64_t evenSteps(int64_t total, int64_t most) const;
};

/// out = input * weight + bias (may be null), where the weight is a matrix or
/// panels.
struct ProjectOperands {
  Value input, weight;
  bool transposed;
  Value bias, out;
  RowBounds bounds;
  mlir::Block *epilogue; // null: none
  mlir::ValueRange captures;
  mlir::ValueRange scratch; // as ProjectSizes has it
};

} // namespace attn::cpu

#endif
