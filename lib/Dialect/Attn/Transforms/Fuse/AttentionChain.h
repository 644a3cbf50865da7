// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textbook steps above an attn.context, read as one attention.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_ATTENTIONCHAIN_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_FUSE_ATTENTIONCHAIN_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <optional>
#include <string>

namespace attn {

/// Why a context stays: the op that is in the way, and a sentence.
struct Refusal {
  mlir::Operation *at;
  std::string reason;
};

/// The scores after one step, and what has been applied to them so far.
struct Level {
  mlir::Value scores;
  double factor;
  size_t functions;
  bool biased;
  unsigned masks;
};

/// The steps above one context, as attn.sdpa wants them; where the weights are
/// a difference, those of its first map.
struct Chain {
  ContextOp context;
  DropoutOp dropout;                        ///< in front of it; may be null
  SubtractWeightsOp difference;             ///< null: there is one map
  std::unique_ptr<Chain> second;            ///< what the difference subtracts
  mlir::Operation *normalization = nullptr; ///< attn.softmax or attn.sigmoid
  ScoresOp scores;
  /// All between scores and normalization in program order.
  llvm::SmallVector<mlir::Operation *> steps;
  /// Those of them that make the score function (ScoreSteps.h).
  llvm::SmallVector<mlir::Operation *> functions;
  /// Of scores, then of each step.
  llvm::SmallVector<Level> levels;
  /// Scales of query and key, which are `query` and `key` without them.
  llvm::SmallVector<mlir::Operation *> operandScales;
  mlir::Value query, key, bias;
  double operandFactor = 1, factor = 1;
  mlir::Attribute mask;
  unsigned masks = 0;
  llvm::SmallVector<mlir::Value> maskOperands;

  mlir::Value seed() const {
    return dropout ? mlir::Value(DropoutOp(dropout).getSeed()) : mlir::Value();
  }
  mlir::FloatAttr probability() const {
    return dropout ? DropoutOp(dropout).getProbabilityAttr()
                   : mlir::FloatAttr();
  }
  mlir::Value weights() const { return normalization->getResult(0); }
  mlir::Value sinks() const {
    auto softmax = llvm::dyn_cast<SoftmaxOp>(normalization);
    return softmax ? softmax.getSinks() : mlir::Value();
  }
};

/// Reads the chain above `context`. A refusal says that attn.sdpa does not mean
/// what the steps mean; uses of intermediates are not looked at.
std::optional<Refusal> readChain(ContextOp context, Chain &chain);

/// Adds its ops, producers before consumers, also where chains share ops.
void collectOps(const Chain &chain, llvm::SetVector<mlir::Operation *> &ops);

/// The ops that read scores or weights of some chain as one of its steps.
llvm::DenseSet<mlir::Operation *> readersIn(llvm::ArrayRef<Chain> chains);

std::string nameOf(mlir::Operation *op);

} // namespace attn

#endif
