// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft:
// a residual sum and the norm of its rows.
#include "Norms.h"
#include "OperatorTable.h"
#include "Operators/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn::onnx;

static LogicalResult importSkipNorm(Node &node) {
  TensorBuilder &t = node.build();
  bool isSimplified = node.op() == "SkipSimplifiedLayerNormalization";
  unsigned biasInput = isSimplified ? 3 : 4;
  Tensor sum = node.input(0);
  Tensor *beta = isSimplified ? nullptr : node.optionalInput(3);
  for (unsigned i = 0; i < node.inputs(); ++i) {
    Tensor *x = node.optionalInput(i);
    if (!x)
      continue;
    std::optional<Shape> both = broadcastShape(sum.shape, x->shape);
    if (!x->isFloat() || x->element != sum.element || !both ||
        !ArrayRef(*both).equals(sum.shape))
      return node.fail("expects inputs of one floating-point type that "
                       "broadcast to the first, but got " +
                       describe(*x) + " for " + describe(sum));
  }
  if (sum.rank() < 1)
    return node.fail("expects rows, but got " + describe(sum));
  for (unsigned i : {1u, biasInput})
    if (Tensor *added = node.optionalInput(i))
      sum = combine<arith::AddFOp>(t, sum, *added);
  for (unsigned i : {1u, 2u})
    if (node.hasOutput(i))
      return node.fail("outputs mean and inv_std_var are not supported");
  node.setOutput(3, sum);
  NormWeights weights{&node.input(2), beta, node.getFloat("epsilon", 1e-12)};
  auto make = isSimplified ? rmsNorm : layerNorm;
  return node.give(make(t, sum, weights, sum.rank() - 1));
}

ArrayRef<Operator> attn::onnx::skipNormOperators() {
  static const Operator all[] = {
      {"com.microsoft", "SkipLayerNormalization", importSkipNorm, 3, 5},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", importSkipNorm, 3,
       4},
  };
  return all;
}
