// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes in the place of one.
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_NODEWRITER_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_NODEWRITER_H

#include "Model.h"

namespace attn::onnx {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

class NodeWriter {
public:
  /// Writes to the end of `into` what `node` becomes.
  NodeWriter(const ::onnx::NodeProto &node, Nodes &into)
      : node(node), into(into) {}

protected:
  /// The name of a part: "NODE/PART".
  std::string name(llvm::StringRef part) const;
  /// "" for one that is absent.
  std::string input(int i) const {
    return i < node.input_size() ? node.input(i) : "";
  }
  std::string output(int i) const {
    return i < node.output_size() ? node.output(i) : "";
  }
  const ::onnx::AttributeProto *find(llvm::StringRef attribute) const;
  int64_t getInt(llvm::StringRef attribute, int64_t fallback) const;

  /// A node whose name is that of its part.
  ::onnx::NodeProto &add(llvm::StringRef part, llvm::StringRef op,
                         llvm::ArrayRef<std::string> inputs,
                         llvm::StringRef output);
  /// The same, whose output is called like it.
  std::string add(llvm::StringRef part, llvm::StringRef op,
                  llvm::ArrayRef<std::string> inputs);
  static void setInt(::onnx::NodeProto &made, llvm::StringRef attribute,
                     int64_t value);
  static void setFloat(::onnx::NodeProto &made, llvm::StringRef attribute,
                       double value);
  /// A constant of one dimension and one number.
  std::string integer(llvm::StringRef part, int64_t value);
  /// A number.
  std::string number(llvm::StringRef part, double value);

  const ::onnx::NodeProto &node;
  Nodes &into;
};

} // namespace attn::onnx

#endif
