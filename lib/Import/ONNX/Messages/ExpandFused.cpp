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
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

namespace {
/// Writes the nodes of one.
class Expansion {
public:
  Expansion(const NodeProto &node, Nodes &into) : node(node), into(into) {}

  /// Whether there was something to write.
  bool run();

private:
  std::string name(StringRef part) const {
    StringRef own = node.name().empty() ? node.output(0) : node.name();
    return (own + "/" + part).str();
  }
  std::string input(int i) const {
    return i < node.input_size() ? node.input(i) : "";
  }
  std::string output(int i) const {
    return i < node.output_size() ? node.output(i) : "";
  }
  const AttributeProto *find(StringRef attribute) const {
    for (const AttributeProto &one : node.attribute())
      if (one.name() == attribute)
        return &one;
    return nullptr;
  }
  /// A node whose name is that of its part.
  NodeProto &add(StringRef part, StringRef op, ArrayRef<std::string> inputs,
                 StringRef output);
  std::string add(StringRef part, StringRef op, ArrayRef<std::string> inputs);
  static void setInt(NodeProto &made, StringRef attribute, int64_t value);
  static void setFloat(NodeProto &made, StringRef attribute, double value);
  std::string integer(StringRef part, int64_t value);
  std::string number(StringRef part, double value);

  std::vector<double> parameters() const;
  void activate(const std::string &x);
  void expandProduct(StringRef op, int inputs);
  void expandEmbedding();
  std::string positions();
  void countMask();

  const NodeProto &node;
  Nodes &into;
};
} // namespace

NodeProto &Expansion::add(StringRef part, StringRef op,
                          ArrayRef<std::string> inputs, StringRef output) {
  NodeProto &made = *into.Add();
  made.set_name(name(part));
  made.set_op_type(op.str());
  for (const std::string &one : inputs)
    made.add_input(one);
  made.add_output(output.str());
  return made;
}

std::string Expansion::add(StringRef part, StringRef op,
                           ArrayRef<std::string> inputs) {
  return add(part, op, inputs, name(part)).output(0);
}

void Expansion::setInt(NodeProto &made, StringRef attribute, int64_t value) {
  AttributeProto &one = *made.add_attribute();
  one.set_name(attribute.str());
  one.set_type(AttributeProto::INT);
  one.set_i(value);
}

void Expansion::setFloat(NodeProto &made, StringRef attribute, double value) {
  AttributeProto &one = *made.add_attribute();
  one.set_name(attribute.str());
  one.set_type(AttributeProto::FLOAT);
  one.set_f(static_cast<float>(value));
}

/// A constant of one dimension.
std::string Expansion::integer(StringRef part, int64_t value) {
  AttributeProto &one = *add(part, "Constant", {}, name(part)).add_attribute();
  one.set_name("value_ints");
  one.set_type(AttributeProto::INTS);
  one.add_ints(value);
  return name(part);
}

std::string Expansion::number(StringRef part, double value) {
  setFloat(add(part, "Constant", {}, name(part)), "value_float", value);
  return name(part);
}

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
