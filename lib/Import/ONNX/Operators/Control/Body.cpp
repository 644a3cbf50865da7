// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Body.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

std::optional<Tensors> attn::onnx::importBody(Node &node, StringRef name,
                                              ArrayRef<Tensor> inputs,
                                              unsigned more) {
  const auto *body = node.find(name);
  if (!body || !body->has_g()) {
    (void)node.fail("expects a graph in " + name);
    return std::nullopt;
  }
  auto outputs = node.shared().inlineGraph(body->g(), inputs);
  if (outputs && outputs->size() != node.outputs() + more) {
    (void)node.fail("expects " + name + " to have " +
                    Twine(node.outputs() + more) + " outputs, but got " +
                    Twine(outputs->size()));
    return std::nullopt;
  }
  return outputs;
}

bool attn::onnx::isOne(const Tensor &tensor, unsigned bits) {
  return tensor.element.isInteger(bits) && product(tensor.shape).is(1);
}

Value attn::onnx::elementOf(TensorBuilder &t, Tensor &tensor) {
  SmallVector<Value> zeros(tensor.rank(), t.index(0));
  return tensor::ExtractOp::create(t.b, t.loc, t.value(tensor), zeros);
}

LogicalResult attn::onnx::expectAlike(Node &node, ArrayRef<Tensor> first,
                                      ArrayRef<Tensor> behind) {
  for (auto [before, after] : llvm::zip(first, behind))
    for (auto [a, b] : llvm::zip(before.shape, after.shape)) {
      auto symbols = a.solved(b);
      if (a != b && symbols && !symbols->second.constant() &&
          failed(node.expectEqual(a, b, "states keep their sizes",
                                  "expects states of one shape in all turns, "
                                  "but got " +
                                      describe(after) + " behind " +
                                      describe(before))))
        return failure();
    }
  return success();
}
