// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to write one softmax, of which attention is read from the first that
// fits.
//
//   HeadsApart  (B*H, S, T) as (B, H, S, T), where a tensor that the scores are
//               made of was (B, H, ..): Bart's layout, with masks of (B, 1, S,
//               T)
//   OneHead     (N, S, T) as (N, 1, S, T), where N is unknown
//   Ordered     its dimensions in another order, the one along which it goes
//               last: columns of K * Q' as rows, (B, S, T, H) as (B, H, S, T);
//               of five, two are one: groups of queries (B, H, G, S, T)
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SOFTMAXFORMS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_SOFTMAXFORMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {

struct SoftmaxForm {
  enum Kind { HeadsApart, OneHead, Ordered };
  Kind kind = Ordered;
  llvm::SmallVector<int64_t, 4> order = {}; ///< of an ordered one
  int64_t joined = -1; ///< the dimension that is one with the next, if any
};

/// The forms that `op` has, the likeliest first.
llvm::SmallVector<SoftmaxForm, 0> formsOf(mlir::linalg::SoftmaxOp op);

struct WrittenSoftmax {
  mlir::linalg::SoftmaxOp op;
  mlir::Value result; ///< as that of the softmax that was given
};

/// The softmax in one of its forms, whose result is read in place of that of
/// `op`.
WrittenSoftmax writeAs(const SoftmaxForm &form, mlir::linalg::SoftmaxOp op,
                       mlir::IRRewriter &rewriter);

} // namespace attn

#endif
