// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One node of a graph, as the importer of its operator sees it.
#ifndef ATTN_LIB_IMPORT_ONNX_NODE_H
#define ATTN_LIB_IMPORT_ONNX_NODE_H

#include "Graph.h"

namespace attn::onnx {

class Node {
public:
  Node(const ::onnx::NodeProto &proto, Graph &graph);

  // --- what it says of itself ---
  llvm::StringRef op() const { return proto.op_type(); }
  /// The version of its operator set.
  int64_t opset() const { return version; }
  const OnnxOptions &options() const;

  int64_t getInt(llvm::StringRef name, int64_t fallback) const;
  double getFloat(llvm::StringRef name, double fallback) const;
  std::string getString(llvm::StringRef name, llvm::StringRef fallback) const;
  llvm::SmallVector<llvm::StringRef> getStrings(llvm::StringRef name) const;
  /// None: the attribute is not there.
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name) const;
  const ::onnx::AttributeProto *find(llvm::StringRef name) const;

  // --- its tensors ---
  unsigned inputs() const { return proto.input_size(); }
  unsigned outputs() const { return proto.output_size(); }
  bool hasInput(unsigned i) const;
  bool hasOutput(unsigned i) const;
  /// Required inputs have been checked by the table.
  Tensor &input(unsigned i);
  Tensor *optionalInput(unsigned i) {
    return hasInput(i) ? &input(i) : nullptr;
  }
  void setOutput(unsigned i, Tensor t);
  /// Another name for the same tensor.
  mlir::LogicalResult give(Tensor t) {
    return setOutput(0, std::move(t)), ok();
  }

  // --- code and messages ---
  TensorBuilder &build();
  Graph &shared() { return graph; }
  mlir::Location loc() const { return location; }
  /// Reports why the node cannot be compiled; a failure.
  mlir::LogicalResult fail(const llvm::Twine &reason) const;
  /// What someone who reads --explain should know.
  void remark(llvm::StringRef name, const llvm::Twine &text) const;

  // --- checks that many operators share ---
  /// `axis`, which may count from the end, or a failure.
  mlir::FailureOr<int64_t> axis(int64_t axis, int64_t rank) const;
  /// The axes of input `i`, or where that is absent of the attribute `axes`,
  /// sorted. None where neither is there.
  mlir::FailureOr<llvm::SmallVector<int64_t>> axes(unsigned i, int64_t rank);
  mlir::LogicalResult expectFloats(unsigned i);
  /// Sees to it that two sizes agree: a failure where they cannot, for the
  /// reason `otherwise`, and where it has to be assumed, which a remark says of
  /// `what`; the node is then imported once more.
  mlir::LogicalResult expectEqual(const Size &a, const Size &b,
                                  const llvm::Twine &what,
                                  const llvm::Twine &otherwise);
  /// The integers of an input that must be known when the model is read.
  mlir::FailureOr<llvm::SmallVector<int64_t>> integers(unsigned i);
  /// The same, from sizes of inputs.
  mlir::FailureOr<Shape> numbers(unsigned i);

private:
  static mlir::LogicalResult ok() { return mlir::success(); }
  const ::onnx::NodeProto &proto;
  Graph &graph;
  int64_t version;
  mlir::Location location;
};

/// Text of a type, such as [2, ?, 64] x f32.
std::string describe(const Tensor &t);

} // namespace attn::onnx

#endif
