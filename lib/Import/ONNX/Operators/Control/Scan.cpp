// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scan, as of operator set 9: a turn for each part of its inputs along an axis.
#include "Body.h"
#include "OperatorTable.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// An input of which each turn reads a part of the first dimension.
struct Scanned {
  Tensor whole;
  bool isReverse;
};
} // namespace

/// One number per tensor, each 0 if there are none.
static FailureOr<SmallVector<int64_t>> perTensor(Node &node, StringRef name,
                                                 size_t count) {
  SmallVector<int64_t> all =
      node.getInts(name).value_or(SmallVector<int64_t>(count, 0));
  if (all.size() != count)
    return node.fail("expects " + Twine(count) + " numbers in " + name +
                     ", but got " + Twine(all.size()));
  return all;
}

static FailureOr<std::vector<Scanned>> scannedBy(Node &node, size_t states) {
  size_t count = node.inputs() - states;
  auto axes = perTensor(node, "scan_input_axes", count),
       directions = perTensor(node, "scan_input_directions", count);
  if (failed(axes) || failed(directions))
    return failure();
  std::vector<Scanned> all;
  for (size_t i = 0; i < count; ++i) {
    Tensor &whole = node.input(states + i);
    FailureOr<int64_t> axis = node.axis((*axes)[i], whole.rank());
    if (failed(axis))
      return failure();
    SmallVector<int64_t> order{*axis};
    for (int64_t dim = 0; dim < whole.rank(); ++dim)
      if (dim != *axis)
        order.push_back(dim);
    all.push_back({*axis ? node.build().transpose(whole, order) : whole,
                   (*directions)[i] != 0});
    if (failed(node.expectEqual(
            all[0].whole.shape[0], whole.shape[*axis],
            "all inputs have a part for each turn",
            "expects as many parts of each input, but got " + describe(whole) +
                " beside " + describe(node.input(states)))))
      return failure();
  }
  return all;
}

/// Results whose turns are another dimension than the first.
static FailureOr<Tensor> turned(Node &node, Tensor &result, int64_t axis) {
  FailureOr<int64_t> to = node.axis(axis, result.rank());
  if (failed(to))
    return failure();
  if (*to == 0)
    return result;
  SmallVector<int64_t> order;
  for (int64_t i = 1; i < result.rank(); ++i)
    order.push_back(i);
  order.insert(order.begin() + *to, 0);
  return node.build().transpose(result, order);
}

static LogicalResult importScan(Node &node) {
  const auto *body = node.find("body");
  int64_t scans = node.getInt("num_scan_inputs", 0);
  if (!body || !body->has_g() || scans < 1 || scans > node.inputs() ||
      node.inputs() - scans > node.outputs())
    return node.fail("expects a body, num_scan_inputs of at least 1, and an "
                     "output for each state");
  for (unsigned i = 0; i < node.inputs(); ++i)
    if (!node.hasInput(i))
      return node.fail("expects all inputs");
  size_t states = node.inputs() - scans;
  auto scanned = scannedBy(node, states);
  size_t results = node.outputs() - states;
  auto axes = perTensor(node, "scan_output_axes", results),
       directions = perTensor(node, "scan_output_directions", results);
  if (failed(scanned) || failed(axes) || failed(directions))
    return failure();

  TensorBuilder &t = node.build();
  // What the turns read stands in front of them.
  for (Scanned &each : *scanned)
    t.value(each.whole);
  Tensors first;
  for (size_t i = 0; i < states; ++i)
    first.push_back(node.input(i));
  Size count = (*scanned)[0].whole.shape[0];
  auto turn = [&](Value index, ArrayRef<Tensor> given) -> std::optional<Turn> {
    Tensors inputs(given.begin(), given.end());
    for (Scanned &each : *scanned)
      inputs.push_back(partOf(
          t, each.whole, each.isReverse ? fromTheEnd(t, count, index) : index));
    std::optional<Tensors> outputs = importBody(node, "body", inputs);
    if (!outputs)
      return std::nullopt;
    if (failed(expectAlike(node, first, ArrayRef(*outputs).take_front(states))))
      return std::nullopt;
    auto behind = std::next(outputs->begin(), states);
    return Turn{{outputs->begin(), behind}, {behind, outputs->end()}};
  };
  SmallVector<bool> isReverse(directions->begin(), directions->end());
  Course course = inTurns(t, count, first, isReverse, turn);
  if (course.outcome == Course::StateChanges)
    return node.fail("expects states of one shape in all turns");
  if (course.outcome == Course::ResultChanges)
    return node.fail("expects results of one shape in all turns");
  if (course.outcome == Course::Reported)
    return failure();
  for (auto [i, state] : llvm::enumerate(course.states))
    node.setOutput(i, state);
  for (auto [i, result] : llvm::enumerate(course.results)) {
    FailureOr<Tensor> one = turned(node, result, (*axes)[i]);
    if (failed(one))
      return failure();
    node.setOutput(states + i, *one);
  }
  return success();
}

ArrayRef<Operator> attn::onnx::scanOperators() {
  static const Operator all[] = {
      {"", "Scan", importScan, 1, anyNumber, /*since=*/9},
  };
  return all;
}
