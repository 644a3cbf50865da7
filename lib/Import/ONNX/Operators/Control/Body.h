// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What If, Loop and Scan share.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_CONTROL_BODY_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_CONTROL_BODY_H

#include "Node.h"
#include "Operators/Turns.h"

namespace attn::onnx {

/// The graph `name` of a node in the place of the builder, whose outputs are
/// `more` than those of the node; none after reports.
std::optional<Tensors> importBody(Node &node, llvm::StringRef name,
                                  llvm::ArrayRef<Tensor> inputs,
                                  unsigned more = 0);

/// Whether a tensor has one element, of `bits` bits.
bool isOne(const Tensor &tensor, unsigned bits);
/// That element.
mlir::Value elementOf(TensorBuilder &t, Tensor &tensor);

/// Takes it for a fact that states behind a turn have the sizes of `first`,
/// where only the names of these differ: a failure where the node is then to be
/// imported once more.
mlir::LogicalResult expectAlike(Node &node, llvm::ArrayRef<Tensor> first,
                                llvm::ArrayRef<Tensor> behind);

} // namespace attn::onnx

#endif
