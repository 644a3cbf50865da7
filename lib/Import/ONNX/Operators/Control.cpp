// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If, of which one branch is left when the model has been read. Exporters write
// it around questions about sizes, such as whether there is a past.
#include "OperatorTable.h"

using namespace mlir;
using namespace attn::onnx;

static LogicalResult importIf(Node &node) {
  auto known = dyn_cast_or_null<DenseIntElementsAttr>(node.input(0).constant);
  if (!known || known.getNumElements() != 1)
    return node.fail("expects a condition that follows from constants and the "
                     "sizes of inputs; branches that are chosen when the model "
                     "runs are not supported");
  bool isTrue = !(*known.begin()).isZero();
  const auto *branch = node.find(isTrue ? "then_branch" : "else_branch");
  if (!branch || !branch->has_g())
    return node.fail("expects a then_branch and an else_branch");
  auto results = node.shared().inlineGraph(branch->g(), {});
  if (!results)
    return failure();
  if (results->size() != node.outputs())
    return node.fail("expects branches of " + Twine(node.outputs()) +
                     " outputs, but got " + Twine(results->size()));
  for (auto [i, result] : llvm::enumerate(*results))
    node.setOutput(i, result);
  return success();
}

ArrayRef<Operator> attn::onnx::controlOperators() {
  static const Operator all[] = {
      {"", "If", importIf, 1, 1},
  };
  return all;
}
