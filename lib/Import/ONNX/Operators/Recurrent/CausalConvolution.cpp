// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CausalConvWithState of operator set 27: each channel's last k elements by its
// own weights, as in front of a linear attention or in a state space model. The
// state is what the first elements see of an earlier call.
//   all = concat(past_state, x); out = conv(all, weight) + bias
//   present_state = the last k - 1 elements of all
#include "OperatorTable.h"
#include "Operators/Images/Depthwise.h"
#include "Operators/Whole.h"

using namespace mlir;
using namespace attn::onnx;

static LogicalResult importCausalConvolution(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0), &w = node.input(1);
  int64_t kernel = w.rank() == 3 ? w.shape[2].constant().value_or(0) : 0;
  if (!x.isFloat() || x.rank() != 3 || kernel < 1 || kernel > mostProducts ||
      !w.shape[1].is(1) || !w.shape[0].constant() || w.shape[0] != x.shape[1] ||
      w.element != x.element)
    return node.fail("expects an input (batch, channels, length) and weights "
                     "(channels, 1, k) of known sizes, k of at most " +
                     Twine(mostProducts) + ", but got " + describe(x) +
                     " and " + describe(w));
  Tensor *bias = node.optionalInput(2);
  if (bias && (bias->rank() != 1 || bias->shape[0] != w.shape[0] ||
               bias->element != x.element))
    return node.fail("expects a bias per channel, but got " + describe(*bias));
  std::string activation = node.getString("activation", "none");
  if (!llvm::is_contained({"none", "silu", "swish"}, activation))
    return node.fail("expects activation none, silu or swish, but got " +
                     activation);
  Shape shape{x.shape[0], x.shape[1], kernel - 1};
  Tensor past = node.hasInput(3) ? node.input(3) : t.splat(shape, x.element, 0);
  std::string wrong = "expects a past_state of shape (batch, channels, k - 1), "
                      "but got " +
                      describe(past);
  if (past.element != x.element || past.rank() != 3 ||
      past.shape[1] != shape[1] || past.shape[2] != shape[2])
    return node.fail(wrong);
  if (failed(node.expectEqual(x.shape[0], past.shape[0],
                              "each batch entry has a past_state", wrong)))
    return failure();

  Tensor parts[] = {past, x};
  Tensor all = kernel > 1 ? t.concat(parts, 2) : x;
  Window window{1, {kernel}, {1}, {1}, {0, 0}, *w.shape[0].constant()};
  Size length = x.shape[2];
  Tensor out = depthwise(t, {all, w, bias, window, length});
  if (activation != "none") {
    Whole whole{t, out.shape};
    Value value = t.value(out);
    out =
        t.made(whole.op<arith::MulFOp>(value, whole.sigmoid(value)), out.shape);
  }
  node.setOutput(0, out);
  node.setOutput(1, t.slice(all, 2, length, kernel - 1));
  return success();
}

ArrayRef<Operator> attn::onnx::causalConvolutionOperators() {
  static const Operator all[] = {
      {"", "CausalConvWithState", importCausalConvolution, 2, 4, /*since=*/27},
  };
  return all;
}
