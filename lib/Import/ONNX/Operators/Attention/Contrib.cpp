// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Contrib.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::onnx;

FailureOr<Tensor> attn::onnx::asHeads(Node &node, Tensor x, int64_t heads) {
  if (x.rank() == 4)
    return x;
  std::optional<int64_t> all =
      x.rank() == 3 ? x.shape[2].constant() : std::nullopt;
  if (!all || heads < 1 || *all % heads)
    return node.fail("expects rank 3 and a last size that is known and a "
                     "multiple of " +
                     Twine(heads) + " heads, but got " + describe(x));
  return splitHeads(node.build(), x, heads);
}

LogicalResult
attn::onnx::expectNoInput(Node &node,
                          ArrayRef<std::pair<unsigned, StringRef>> all) {
  for (auto [i, name] : all)
    if (node.hasInput(i))
      return node.fail("input " + name + " is not supported");
  return success();
}

double attn::onnx::scaleOf(Node &node, const Tensor &query) {
  double given = node.getFloat("scale", 0); // 0 means the usual one
  int64_t features = query.shape[3].constant().value_or(1);
  return given != 0 || features == 0
             ? given
             : 1 / std::sqrt(static_cast<double>(features));
}

LogicalResult attn::onnx::addPadding(Node &node, unsigned input,
                                     AttentionSteps &steps) {
  Tensor *padding = node.optionalInput(input);
  if (!padding)
    return success();
  TensorBuilder &t = node.build();
  if (!padding->element.isInteger(32))
    return node.fail("expects padding of INT32, but got " + describe(*padding));
  node.remark("PaddingExcludes",
              "padding excludes; mask_filter_value is not looked at");
  if (padding->rank() == 1 && padding->shape[0] == steps.query.shape[0]) {
    steps.addKeyLength(*padding, /*movesQueries=*/false);
    return success();
  }
  if (padding->rank() != 2 && padding->rank() != 3)
    return node.fail("expects padding as lengths, or as a number per "
                     "key, but got " +
                     describe(*padding));
  Tensor seen = t.cast(*padding, t.b.getI1Type());
  Shape shape = {seen.shape[0], 1};
  shape.push_back(padding->rank() == 3 ? seen.shape[1] : Size(1));
  shape.push_back(seen.shape.back());
  return steps.addMask(*t.reshaped(seen, shape));
}

FailureOr<Tensor> attn::onnx::columnsWithBias(Node &node, Tensor x,
                                              Tensor *bias, int64_t begin) {
  if (!bias)
    return x;
  TensorBuilder &t = node.build();
  std::optional<int64_t> size = x.shape.back().constant(),
                         all = bias->rank() == 1 ? bias->shape[0].constant()
                                                 : std::nullopt;
  if (x.rank() != 3 || !size || !all || begin + *size > *all ||
      bias->element != x.element)
    return node.fail("expects one bias of queries, keys and values, but got " +
                     describe(*bias));
  Tensor part = t.slice(*bias, 0, begin, *size);
  Value everywhere = t.broadcast(part, x.shape);
  return t.elementwise<arith::AddFOp>({t.value(x), everywhere}, x.shape);
}

FailureOr<Tensor> attn::onnx::behindPast(Node &node, Tensor *before,
                                         Tensor now) {
  if (!before)
    return now;
  bool fits = before->rank() == 4 && before->element == now.element &&
              before->shape[1] == now.shape[1] &&
              before->shape[3] == now.shape[3];
  if (!fits)
    return node.fail("expects past entries that fit those of now, but got " +
                     describe(*before) + " and " + describe(now));
  Tensor parts[] = {*before, now};
  return node.build().concat(parts, 2);
}
