// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of com.microsoft that ONNX Runtime's optimizer writes in the place
// of several nodes become these nodes again.
//
// Before:  node 'c':  y = FusedConv <activation = "Relu">(x, w, b, z)
// After:   c/product = Conv(x, w, b)
//          c/sum = Add(c/product, z)
//          y = Relu(c/sum)
//
// Their meaning is that of ONNX Runtime's ContribOperators.md. FusedMatMul,
// which takes the ranks of its inputs to write, has an importer.
#include "ExpandFused.h"
#include "NodeWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {
/// Writes the nodes of one.
class Expansion : NodeWriter {
public:
  using NodeWriter::NodeWriter;

  /// Whether there was something to write.
  bool run();

private:
  std::vector<double> parameters() const;
  void activate(const std::string &x);
  void expandProduct(StringRef op, int inputs);
  void expandEmbedding();
  std::string positions();
  void countMask();
};
} // namespace

//===----------------------------------------------------------------------===//
// FusedGemm, FusedConv
//===----------------------------------------------------------------------===//

/// Of the activation.
std::vector<double> Expansion::parameters() const {
  if (const AttributeProto *all = find("activation_params"))
    return {all->floats().begin(), all->floats().end()};
  std::vector<double> each;
  for (StringRef one :
       {"activation_alpha", "activation_beta", "activation_gamma"})
    if (const AttributeProto *given = find(one))
      each.push_back(given->f());
  return each;
}

void Expansion::activate(const std::string &x) {
  const AttributeProto *chosen = find("activation");
  std::string op = chosen ? chosen->s() : "Identity";
  std::vector<double> given = parameters();
  std::vector<std::string> inputs = {x};
  if (op == "Clip")
    for (auto [i, value] : llvm::enumerate(given))
      inputs.push_back(number("limit" + std::to_string(i), value));
  NodeProto &made = add("activation", op, inputs, output(0));
  static constexpr StringLiteral names[] = {"alpha", "beta"};
  if (op != "Clip")
    for (auto [attribute, value] : llvm::zip(names, given))
      setFloat(made, attribute, value);
}

/// A product with as many inputs, what is added, and an activation.
void Expansion::expandProduct(StringRef op, int inputs) {
  std::vector<std::string> own;
  for (int i = 0; i < std::min(inputs, node.input_size()); ++i)
    own.push_back(input(i));
  NodeProto &made = add("product", op, own, name("product"));
  for (const AttributeProto &one : node.attribute())
    if (!StringRef(one.name()).starts_with("activation"))
      *made.add_attribute() = one;
  std::string sum = name("product");
  if (!input(inputs).empty())
    sum = add("sum", "Add", {sum, input(inputs)});
  activate(sum);
}

//===----------------------------------------------------------------------===//
// EmbedLayerNormalization
//===----------------------------------------------------------------------===//

/// Rows of the table of positions, those of each word or the first ones.
std::string Expansion::positions() {
  if (!input(8).empty())
    return add("positions", "Gather", {input(3), input(8)});
  std::string shape = add("shape", "Shape", {input(0)}),
              length = add("length", "Gather", {shape, integer("one", 1)}),
              zero = integer("zero", 0);
  return add("positions", "Slice", {input(3), zero, length, zero});
}

/// How many numbers of a row of the mask are not hidden; 0 without a mask.
void Expansion::countMask() {
  if (!input(7).empty()) {
    NodeProto &sum = add("count", "ReduceSum", {input(7)}, output(1));
    AttributeProto &axes = *sum.add_attribute();
    axes.set_name("axes");
    axes.set_type(AttributeProto::INTS);
    axes.add_ints(1);
    return setInt(sum, "keepdims", 0);
  }
  std::string shape = add("shape of all", "Shape", {input(0)}),
              batch = add("batch", "Gather", {shape, integer("first", 0)});
  AttributeProto &value =
      *add("count", "ConstantOfShape", {batch}, output(1)).add_attribute();
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(TensorProto::INT32);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int32_data(0);
}

/// The norm of the sum of a word's, its position's and its segment's rows.
void Expansion::expandEmbedding() {
  std::string words = add("words", "Gather", {input(2), input(0)}),
              sum = add("with positions", "Add", {words, positions()});
  if (!input(1).empty()) {
    std::string segments = add("segments", "Gather", {input(4), input(1)});
    sum = add("with segments", "Add", {sum, segments});
  }
  if (!output(2).empty())
    add("sum", "Identity", {sum}, output(2));
  NodeProto &norm =
      add("norm", "LayerNormalization", {sum, input(5), input(6)}, output(0));
  const AttributeProto *epsilon = find("epsilon");
  setFloat(norm, "epsilon", epsilon ? epsilon->f() : 1e-12);
  if (!output(1).empty())
    countMask();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

bool Expansion::run() {
  if (node.domain() != "com.microsoft" || node.output_size() == 0)
    return false;
  if (node.op_type() == "FusedGemm")
    return expandProduct("Gemm", 3), true;
  if (node.op_type() == "FusedConv")
    return expandProduct("Conv", 3), true;
  if (node.op_type() == "EmbedLayerNormalization")
    return expandEmbedding(), true;
  return false;
}

void attn::onnx::expandFused(GraphProto &graph) {
  Nodes expanded;
  for (NodeProto &node : *graph.mutable_node()) {
    if (Expansion(node, expanded).run())
      continue;
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        expandFused(*attribute.mutable_g());
    expanded.Add()->Swap(&node);
  }
  graph.mutable_node()->Swap(&expanded);
}
