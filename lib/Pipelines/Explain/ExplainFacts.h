// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --explain knows of one attention or its gradient, before it becomes text
// or JSON.
#ifndef ATTN_LIB_PIPELINES_EXPLAINFACTS_H
#define ATTN_LIB_PIPELINES_EXPLAINFACTS_H

#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Pipelines/Explain.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace attn {

/// A length as text, and as a number where known.
struct Length {
  std::string text = "?";
  std::optional<int64_t> value;
};

/// Tiles and pairs of one batch entry and head.
struct TileCounts {
  int64_t all = 0, visited = 0, edge = 0;
  /// Whether the two numbers below are known; unless a predicate has no
  /// formula.
  bool testedPairs = false;
  int64_t emptyVisited = 0, visiblePairs = 0;
  /// Pairs of visited tiles.
  int64_t visitedPairs = 0;
};

struct AttentionFacts {
  std::string position, mask;
  Length queries, keys;
  ScheduleInterface schedule;
  int64_t keysPerItem = 0; ///< 0: all that its rows see
  KeyRanges ranges;
  /// Sum of the query's and the value's head dimension, of all maps.
  int64_t features = 0;
  std::optional<TileCounts> counts;
  std::string notCounted; ///< why, where there are no counts

  /// Operations per batch entry and head for so many pairs, which may be more
  /// than an integer holds.
  double flops(int64_t pairs) const {
    return 2.0 * static_cast<double>(pairs) * static_cast<double>(features);
  }
};

/// What blocks of a GPU that share the keys of few queries read and write, per
/// batch entry. Sizes in bytes, -1 where a length or a number of heads is not
/// known.
struct PartsFacts {
  int64_t parts = -1;
  int64_t heads = 1;  ///< query heads of a block
  int64_t blocks = 1; ///< of a part
  int64_t reads = 1;  ///< how often each key and value is read
  int64_t keyBytes = -1, stateBytes = -1;
};

/// None where `schedule` is not one of kind decode for a GPU.
std::optional<PartsFacts> partsOf(SdpaOp op, const AttentionFacts &facts,
                                  ScheduleInterface schedule);

/// The keys of a part where the kernels of `schedule`, of either kind, split
/// them; 0 where lengths or documents rule that out.
int64_t keysPerItem(SdpaOp op, ScheduleInterface schedule);

/// The facts for each schedule that the lengths leave; those for many queries
/// come first. `op` is in a function that has attn.ports. Leaves ops behind.
std::vector<AttentionFacts> factsOf(SdpaOp op, const SymbolSizes &sizes);

struct GradientFacts {
  /// Of the attention whose gradient it is; `features` are those of all
  /// products that are asked for.
  AttentionFacts attention;
  llvm::SmallVector<llvm::StringRef> by;
  /// The five products of a tile, in their order, and those of them that nobody
  /// asked for, which are computed and dropped.
  llvm::SmallVector<llvm::StringRef> products, dropped;
};

/// `op` is in a function that has attn.ports. Leaves ops behind.
GradientFacts factsOf(SdpaGradOp op, const SymbolSizes &sizes);

/// An argument that @NAME_forward returns for the gradient.
struct ResidualFacts {
  std::string name;
  std::string bytes; ///< `32*q0`
  std::optional<int64_t> value;
};
std::vector<ResidualFacts> residualsOf(mlir::func::FuncOp function,
                                       const SymbolSizes &sizes);

} // namespace attn

#endif
