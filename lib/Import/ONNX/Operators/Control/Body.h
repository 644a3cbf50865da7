// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_CONTROL_BODY_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_CONTROL_BODY_H

#include "Node.h"
#include "Operators/Turns.h"

namespace attn::onnx {

/// The graph `name` of a node in the place of the builder, whose outputs are
/// `more` than those of the node; none after reports.
inline std::optional<Tensors> importBody(Node &node, llvm::StringRef name,
                                         llvm::ArrayRef<Tensor> inputs,
                                         unsigned more = 0) {
  const auto *body = node.find(name);
  if (!body || !body->has_g()) {
    (void)node.fail("expects a graph in " + name);
    return std::nullopt;
  }
  auto outputs = node.shared().inlineGraph(body->g(), inputs);
  if (outputs && outputs->size() != node.outputs() + more) {
    (void)node.fail("expects " + name + " to have " +
                    llvm::Twine(node.outputs() + more) + " outputs, but got " +
                    llvm::Twine(outputs->size()));
    return std::nullopt;
  }
  return outputs;
}

} // namespace attn::onnx

#endif
