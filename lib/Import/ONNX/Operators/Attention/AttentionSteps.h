// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of one attention, which several operators write.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_ATTENTION_ATTENTIONSTEPS_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_ATTENTION_ATTENTIONSTEPS_H

#include "Node.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn::onnx {

/// (B, S, H*D) as (B, H, S, D). `heads` divides the last size.
Tensor splitHeads(TensorBuilder &t, Tensor &joined, int64_t heads);
/// The inverse.
Tensor mergeHeads(TensorBuilder &t, Tensor &split);

/// Scores of queries (B, Hq, S, D) against keys (B, Hkv, T, D), from the
/// product to the context. Every step changes `scores`, which begins as the
/// product.
class AttentionSteps {
public:
  AttentionSteps(Node &node, Tensor query, Tensor key, Tensor value);

  /// Reports sizes that do not fit each other.
  mlir::LogicalResult check();
  void multiply();
  /// Any factor but infinities; attn.scale takes neither 0 nor NaN.
  mlir::LogicalResult scale(double factor);
  void softcap(double cap);
  /// A boolean mask excludes, one of floats is added. What it lacks at the end
  /// of the last dimension excludes.
  mlir::LogicalResult addMask(Tensor mask);
  /// The keys from `lengths[b]` on are padding. The last query stands on the
  /// last key in front of them if that `movesQueries`.
  void addKeyLength(Tensor lengths, bool movesQueries);
  /// A query sees `left` keys behind the one it stands on and `right` in front;
  /// -1: all. Query 0 stands on key `past`, unless key lengths move queries.
  void addWindow(int64_t left, int64_t right, const Size &past);
  void addCausal(const Size &past);
  /// Applies all that was added.
  void exclude();
  /// `sinks` has one number per query head, or is null.
  void softmax(mlir::Value sinks = {});
  Tensor context();

  Tensor scores, query, key, value;
  Size queries() const { return query.shape[2]; }
  Size keys() const { return key.shape[2]; }

private:
  /// The key that query 0 stands on: an alignment and, with `Offset`, a number
  /// or an #attn.operand.
  std::pair<Alignment, mlir::Attribute> position(const Size &past);
  mlir::FailureOr<Tensor> extended(Tensor mask);
  int64_t addOperand(mlir::Value operand);
  void scoreMod(
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> function);

  Node &node;
  TensorBuilder &t;
  bool hasLengths = false, standAtLengths = false;
  llvm::SmallVector<mlir::Attribute> terms;
  llvm::SmallVector<mlir::Value> operands;
};

} // namespace attn::onnx

#endif
