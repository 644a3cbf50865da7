// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Node.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace attn::onnx;

Node::Node(const ::onnx::NodeProto &proto, Graph &graph)
    : proto(proto), graph(graph), version(graph.opset(domainOf(proto))),
      location(graph.location(proto)) {}

const attn::OnnxOptions &Node::options() const { return graph.options(); }

const ::onnx::AttributeProto *Node::find(StringRef name) const {
  for (const ::onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Node::getInt(StringRef name, int64_t fallback) const {
  const auto *attribute = find(name);
  return attribute ? attribute->i() : fallback;
}

double Node::getFloat(StringRef name, double fallback) const {
  const auto *attribute = find(name);
  return attribute ? attribute->f() : fallback;
}

std::string Node::getString(StringRef name, StringRef fallback) const {
  const auto *attribute = find(name);
  return attribute ? attribute->s() : fallback.str();
}

SmallVector<StringRef> Node::getStrings(StringRef name) const {
  const auto *attribute = find(name);
  if (!attribute)
    return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

std::optional<SmallVector<int64_t>> Node::getInts(StringRef name) const {
  const auto *attribute = find(name);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

bool Node::hasInput(unsigned i) const {
  return i < inputs() && !proto.input(static_cast<int>(i)).empty();
}

bool Node::hasOutput(unsigned i) const {
  return i < outputs() && !proto.output(static_cast<int>(i)).empty();
}

Tensor &Node::input(unsigned i) {
  return *graph.find(proto.input(static_cast<int>(i)));
}

void Node::setOutput(unsigned i, Tensor t) {
  if (hasOutput(i))
    graph.define(proto.output(static_cast<int>(i)), std::move(t));
}

TensorBuilder &Node::build() { return graph.build; }

LogicalResult Node::fail(const Twine &reason) const {
  return emitError(location) << reason;
}

void Node::remark(StringRef name, const Twine &text) const {
  remark::analysis(location, remark::RemarkOpts::name(name).category("onnx"))
      << text.str();
}

FailureOr<int64_t> Node::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    return fail("expects an axis of " + Twine(rank) + " dimensions, but got " +
                Twine(axis));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> Node::axes(unsigned i, int64_t rank) {
  SmallVector<int64_t> all = getInts("axes").value_or(SmallVector<int64_t>());
  if (hasInput(i)) {
    auto given = integers(i);
    if (failed(given))
      return failure();
    all = *given;
  }
  for (int64_t &one : all) {
    FailureOr<int64_t> valid = axis(one, rank);
    if (failed(valid))
      return failure();
    one = *valid;
  }
  llvm::sort(all);
  return all;
}

LogicalResult Node::expectFloats(unsigned i) {
  if (input(i).isFloat())
    return success();
  return fail("expects floating-point numbers in input " + Twine(i) +
              ", but got " + describe(input(i)));
}

LogicalResult Node::expectEqual(const Size &a, const Size &b, const Twine &what,
                                const Twine &otherwise) {
  if (a == b)
    return success();
  std::string assumed = graph.assumeEqual(a, b);
  if (assumed.empty())
    return fail(otherwise);
  remark("SizesAssumed",
         what + " only where " + assumed + "; other calls are refused");
  return failure();
}

FailureOr<Shape> Node::numbers(unsigned i) {
  if (input(i).numbers)
    return *input(i).numbers;
  return fail("expects an input " + Twine(i) +
              " that follows from constants and the sizes of inputs, but '" +
              proto.input(static_cast<int>(i)) +
              "' is known only when the model runs");
}

FailureOr<SmallVector<int64_t>> Node::integers(unsigned i) {
  FailureOr<Shape> sizes = numbers(i);
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> known;
  for (const Size &size : *sizes) {
    std::optional<int64_t> constant = size.constant();
    if (!constant)
      return fail("expects constants in input " + Twine(i) +
                  ", but got a number that depends on sizes of inputs");
    known.push_back(*constant);
  }
  return known;
}

std::string attn::onnx::describe(const Tensor &t) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(t.shape, stream, [&](const Size &size) {
    if (std::optional<int64_t> constant = size.constant())
      stream << *constant;
    else
      stream << '?';
  });
  stream << "] x " << t.element;
  return text;
}
