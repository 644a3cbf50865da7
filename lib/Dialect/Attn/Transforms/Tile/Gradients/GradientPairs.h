// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one pair of a query and a key has to do with a gradient, as scalar code.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTPAIRS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_GRADIENTPAIRS_H

#include "Tile/AttentionItem.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"

namespace attn {

/// Writes the pairs of one attention.
class GradientPairs {
public:
  /// Computes what rows have in common where `rewriter` stands.
  GradientPairs(SdpaGradOp op, mlir::RewriterBase &rewriter);
  ~GradientPairs() { attention.erase(); }

  /// One query of one head.
  struct Row {
    Value batch, head, keyHead, query;
    Value lse, delta; ///< null where weights are those of sigmoid
    ItemMask mask;
    MaskContext context;
    Formula formula; ///< null: each key is seen
    SymbolValues symbols;
  };
  Row row(Value batch, Value head, Value query);

  /// What a pair adds to: `sums`, which the body returns with it added.
  struct Terms {
    Value weight; ///< p
    Value used;   ///< p behind the dropout, which meets the value
    Value slope;  ///< the gradient by the final score
    Value change; ///< by the product of query and key
    struct Read {
      llvm::SmallVector<Value> at; ///< the element of the capture
      Value slope;                 ///< the gradient by it
    };
    llvm::SmallVector<Read> reads; ///< of learned captures, in their order
  };
  using Sums = llvm::SmallVector<Value>;
  using Body =
      llvm::function_ref<Sums(const Terms &terms, mlir::ValueRange sums)>;
  /// `sums` with what the pair adds; nothing where it is excluded or has a
  /// weight of 0.
  Sums add(const Row &row, Value key, mlir::ValueRange sums, Body body);

  /// The captures of which reads are in `Terms`, by the place of each read.
  llvm::ArrayRef<unsigned> learnedReads() const { return captureOfRead; }

  mlir::Type element; ///< of sums
  Value batches, heads, keyHeads, group, queries, keys;

  Value index(int64_t value);
  /// for (i = begin; i < end; ++i), with the sums carried.
  Sums loop(Value begin, Value end, mlir::ValueRange sums,
            llvm::function_ref<Sums(Value i, mlir::ValueRange sums)> body);
  /// An element of a tensor with heads, in the type of sums.
  Value load(Value tensor, HeadDims dims, Value batch, Value head, Value row,
             Value feature);

private:
  Value load(Value tensor, mlir::ValueRange at);
  Value number(double value);
  Value isEqual(Value x, double value);
  Value select(Value condition, Value x, Value y);
  /// The sum over the features of two tensors' products.
  Value dot(Value x, HeadDims ofX, Value y, HeadDims ofY, const Row &row,
            Value key);
  Value sees(const Row &row, Value key);
  Value ofPair(Value tensor, const Row &row, Value key);
  llvm::SmallVector<Value> clampPlace(mlir::tensor::ExtractOp read);
  /// The final score, with the tangents of the score function.
  Value score(const Row &row, Value key, Value &tangent,
              llvm::SmallVectorImpl<Terms::Read> &reads);
  Value drop(const Row &row, Value key, Value u, Terms &terms);
  Sums addSeen(const Row &row, Value key, mlir::ValueRange sums, Body body);

  SdpaGradOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  SdpaOp attention; ///< with the tangents of its score function
  Value deltas;     ///< a tensor like lse
  llvm::SmallVector<unsigned> captureOfRead;
  llvm::SmallVector<mlir::Operation *> reads;
};

} // namespace attn

#endif
