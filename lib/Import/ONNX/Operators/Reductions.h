// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of tensors, and arithmetic beside them. Reduced dimensions stay,
// with a size of 1.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_REDUCTIONS_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_REDUCTIONS_H

#include "TensorBuilder.h"

namespace attn::onnx {

/// Arithmetic on whole tensors, the second broadcast to the first.
template <typename Op> Tensor combine(TensorBuilder &t, Tensor &a, Tensor &b) {
  mlir::Value right = t.broadcast(b, a.shape);
  return t.made(t.b.createOrFold<Op>(t.loc, t.value(a), right), a.shape);
}

/// Of f32 where the elements have 16 bits: what is reduced.
Tensor wide(TensorBuilder &t, Tensor &x);

/// The lowest number that there is, or the highest.
mlir::TypedAttr limit(TensorBuilder &t, mlir::Type element, bool lowest);

Tensor sumOf(TensorBuilder &t, Tensor &x, llvm::ArrayRef<int64_t> axes);
Tensor meanOf(TensorBuilder &t, Tensor &x, llvm::ArrayRef<int64_t> axes);
Tensor maximumOf(TensorBuilder &t, Tensor &x, llvm::ArrayRef<int64_t> axes);
Tensor minimumOf(TensorBuilder &t, Tensor &x, llvm::ArrayRef<int64_t> axes);
/// log(sum(exp x)), whatever the size of x; -inf where all of x is.
Tensor logSumExpOf(TensorBuilder &t, Tensor &x, llvm::ArrayRef<int64_t> axes);

} // namespace attn::onnx

#endif
