// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define ATTN_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace attn::onnx {

/// Imports the graph of one model into one function.
class GraphImporter : public Graph {
public:
  using Graph::Graph;

  /// The function, or null after reports.
  mlir::func::FuncOp import();
  std::optional<std::vector<Tensor>>
  inlineGraph(const ::onnx::GraphProto &graph,
              llvm::ArrayRef<Tensor> arguments) override;
  std::string assumeEqual(const Size &a, const Size &b) override;
  std::string assumeMultiple(const Size &size, const Size &divisor) override;

  /// A size of the inputs by its name, and the other one, or the number, that
  /// it must be, or of which it must be a multiple.
  struct Assumption {
    std::string name, other;
    std::optional<int64_t> number, divisor;
  };
  std::optional<Assumption> assumption;
  /// Sizes that are multiples of a number, by their names.
  llvm::StringMap<int64_t> multiples;

private:
  mlir::LogicalResult checkOperators(const ::onnx::GraphProto &graph);
  mlir::LogicalResult checkNode(const ::onnx::NodeProto &node);
  mlir::LogicalResult readInitializers(const ::onnx::GraphProto &graph);
  mlir::LogicalResult addArguments();
  mlir::LogicalResult importNodes(const ::onnx::GraphProto &graph);
  mlir::LogicalResult importNode(const ::onnx::NodeProto &node);
  mlir::LogicalResult checkOutputs(const ::onnx::NodeProto &node);
  mlir::LogicalResult addResults();
  std::string nameOf(const Size &size) const;
  std::string assume(const std::optional<std::pair<Size, int64_t>> &multiple);
  mlir::FailureOr<Tensor> argumentOf(const ::onnx::ValueInfoProto &input);

  mlir::func::FuncOp function;
  /// Outputs of nodes that were not imported: what reads them is not reported.
  llvm::StringSet<> missing;
  llvm::StringMap<Size> namedSizes;
  unsigned depth = 0;
  int64_t inlined = 0; ///< nodes of graphs of attributes
};

} // namespace attn::onnx

#endif
