// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NodeWriter.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;

std::string NodeWriter::name(StringRef part) const {
  StringRef own = node.name().empty() ? node.output(0) : node.name();
  return (own + "/" + part).str();
}

const AttributeProto *NodeWriter::find(StringRef attribute) const {
  for (const AttributeProto &one : node.attribute())
    if (one.name() == attribute)
      return &one;
  return nullptr;
}

int64_t NodeWriter::getInt(StringRef attribute, int64_t fallback) const {
  const AttributeProto *given = find(attribute);
  return given ? given->i() : fallback;
}

NodeProto &NodeWriter::add(StringRef part, StringRef op,
                           ArrayRef<std::string> inputs, StringRef output) {
  NodeProto &made = *into.Add();
  made.set_name(name(part));
  made.set_op_type(op.str());
  for (const std::string &one : inputs)
    made.add_input(one);
  made.add_output(output.str());
  return made;
}

std::string NodeWriter::add(StringRef part, StringRef op,
                            ArrayRef<std::string> inputs) {
  return add(part, op, inputs, name(part)).output(0);
}

void NodeWriter::setInt(NodeProto &made, StringRef attribute, int64_t value) {
  AttributeProto &one = *made.add_attribute();
  one.set_name(attribute.str());
  one.set_type(AttributeProto::INT);
  one.set_i(value);
}

void NodeWriter::setFloat(NodeProto &made, StringRef attribute, double value) {
  AttributeProto &one = *made.add_attribute();
  one.set_name(attribute.str());
  one.set_type(AttributeProto::FLOAT);
  one.set_f(static_cast<float>(value));
}

std::string NodeWriter::integer(StringRef part, int64_t value) {
  AttributeProto &one = *add(part, "Constant", {}, name(part)).add_attribute();
  one.set_name("value_ints");
  one.set_type(AttributeProto::INTS);
  one.add_ints(value);
  return name(part);
}

std::string NodeWriter::number(StringRef part, double value) {
  setFloat(add(part, "Constant", {}, name(part)), "value_float", value);
  return name(part);
}
