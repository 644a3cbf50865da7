// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph.h"

using namespace mlir;
using namespace attn::onnx;

Graph::Graph(const ::onnx::ModelProto &model, StringRef path, OpBuilder &b,
             const OnnxOptions &options)
    : build(b, sizes), model(model), b(b),
      fileLocation(FileLineColLoc::get(b.getContext(), path, 0, 0)),
      chosen(options), reader(path, options.filesRead) {}

std::string attn::onnx::domainOf(const ::onnx::NodeProto &node) {
  return node.domain() == "ai.onnx" ? "" : node.domain();
}

int64_t Graph::opset(StringRef domain) const {
  for (const auto &import : model.opset_import())
    if (import.domain() == domain ||
        (domain.empty() && import.domain() == "ai.onnx"))
      return import.version();
  return 0;
}

Location attn::onnx::nodeLocation(const ::onnx::NodeProto &node,
                                  Location file) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0)
    name = "of " + node.output(0);
  auto text = StringAttr::get(file.getContext(),
                              "node '" + name + "' (" + node.op_type() + ")");
  return NameLoc::get(text, file);
}

Location Graph::location(const ::onnx::NodeProto &node) const {
  return nodeLocation(node, fileLocation);
}

Tensor *Graph::find(StringRef name) {
  auto entry = tensors.find(name);
  return entry == tensors.end() ? nullptr : &entry->second;
}
