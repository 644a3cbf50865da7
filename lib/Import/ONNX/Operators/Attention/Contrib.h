// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the attention operators of com.microsoft share.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_ATTENTION_CONTRIB_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_ATTENTION_CONTRIB_H

#include "AttentionSteps.h"

namespace attn::onnx {

/// (B, S, H*D) as heads, or (B, H, S, D) as it stands.
mlir::FailureOr<Tensor> asHeads(Node &node, Tensor x, int64_t heads);
/// Reports inputs that are there.
mlir::LogicalResult
expectNoInput(Node &node,
              llvm::ArrayRef<std::pair<unsigned, llvm::StringRef>> all);
/// The attribute, of which 0 means 1 / sqrt(features).
double scaleOf(Node &node, const Tensor &query);
/// Lengths, or an INT32 per key that is 0 where it is padding.
mlir::LogicalResult addPadding(Node &node, unsigned input,
                               AttentionSteps &steps);
/// `begin` of `whole`'s last dimension, `size` columns of it, plus those of the
/// bias if there is one.
mlir::FailureOr<Tensor> columnsWithBias(Node &node, Tensor x, Tensor *bias,
                                        int64_t begin);
/// `now` behind `before`, which may be null, along the sequence.
mlir::FailureOr<Tensor> behindPast(Node &node, Tensor *before, Tensor now);

} // namespace attn::onnx

#endif
