// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a fragment of scores, and what its step knows of it.
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIR_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_SCORE_PAIR_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/IR/Builders.h"

namespace attn::gpucode {

/// What attn.online and attn.weigh say of the pairs of a tile.
struct PairOperands {
  template <typename Op>
  explicit PairOperands(Op op)
      : loc(op.getLoc()), key(op.getKey()), queryBegin(op.getQueryBegin()),
        keyBegin(op.getKeyBegin()), queryLength(op.getQueryLength()),
        keyLength(op.getKeyLength()), bias(op.getBias()),
        maskOperands(op.getMaskOperands()), captures(op.getCaptures()),
        mask(op.getMaskAttr()), function(scoreFunctionOf(op)) {
    if constexpr (std::is_same_v<Op, OnlineOp>)
      heads = static_cast<int64_t>(op.getHeads());
  }

  mlir::Location loc;
  mlir::Value key, queryBegin, keyBegin, queryLength, keyLength;
  int64_t heads = 1; ///< that each query is there for
  mlir::Value bias;  ///< or null
  mlir::ValueRange maskOperands, captures;
  mlir::Attribute mask;   ///< or null
  mlir::Region *function; ///< or null
};

/// Query and key of an element, of index type, and how far both are from the
/// thread's first ones. Of several heads, the query is that far from the step's
/// first one, and the head from that of the step.
struct Pair {
  mlir::Value query, key, queryDistance, keyDistance;
  mlir::Value firstQuery, firstKey;
  mlir::Value head{}; ///< null: that of the step
};

/// The index that is nearest to `index` and inside of the dimension.
mlir::Value clampIndex(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value memref, int64_t dim, mlir::Value index);

/// The element of a matrix that broadcasts to (queries x keys); pairs behind
/// the last ones read the last ones'.
mlir::Value loadOfPair(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value matrix, const Pair &pair);

} // namespace attn::gpucode

#endif
