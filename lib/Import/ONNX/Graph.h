// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the nodes of a graph share.
#ifndef ATTN_LIB_IMPORT_ONNX_GRAPH_H
#define ATTN_LIB_IMPORT_ONNX_GRAPH_H

#include "Model.h"
#include "TensorBuilder.h"
#include "attn/Import/ONNX/OnnxOptions.h"
#include "llvm/ADT/StringMap.h"

namespace attn::onnx {

class Graph {
public:
  Graph(const ::onnx::ModelProto &model, llvm::StringRef path,
        mlir::OpBuilder &b, const OnnxOptions &options);
  virtual ~Graph() = default;

  /// Version of the operator set of `domain`; 0: the model imports none.
  int64_t opset(llvm::StringRef domain) const;
  /// File and node.
  mlir::Location location(const ::onnx::NodeProto &node) const;
  const OnnxOptions &options() const { return chosen; }
  /// The tensor called `name`, or null.
  Tensor *find(llvm::StringRef name);
  void define(llvm::StringRef name, Tensor t) { tensors[name] = std::move(t); }
  /// Reads a tensor of an attribute. `fail` as for TensorReader.
  mlir::ElementsAttr read(const ::onnx::TensorProto &tensor,
                          llvm::function_ref<void(const llvm::Twine &)> fail) {
    return reader.read(b.getContext(), tensor, fail);
  }
  /// Imports a graph of an attribute in place, with `arguments` for its inputs.
  /// None after reports.
  virtual std::optional<std::vector<Tensor>>
  inlineGraph(const ::onnx::GraphProto &graph,
              llvm::ArrayRef<Tensor> arguments) = 0;

  /// Says that `a` and `b` must be equal, which the model does not show.
  /// Returns what that means for its inputs, such as "batch_1 = batch", or
  /// nothing where they can not be equal, or need more than that. The model is
  /// then to be imported once more.
  virtual std::string assumeEqual(const Size &a, const Size &b) = 0;
  /// The same where `divisor` must divide `size`: "frames is a multiple of 4".
  virtual std::string assumeMultiple(const Size &size, const Size &divisor) = 0;

  TensorBuilder build;

protected:
  const ::onnx::ModelProto &model;
  mlir::OpBuilder &b;
  mlir::Location fileLocation;
  llvm::StringMap<Tensor> tensors;

private:
  const OnnxOptions &chosen;
  Sizes sizes;
  TensorReader reader;
};

/// `file` and the node.
mlir::Location nodeLocation(const ::onnx::NodeProto &node, mlir::Location file);

/// "" for ONNX's own, which has two names.
std::string domainOf(const ::onnx::NodeProto &node);

} // namespace attn::onnx

#endif
