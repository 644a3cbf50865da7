// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized models are computed in floating point. Weights that are stored in 4
// to 16 bits become what they stand for; other quantized tensors are whole
// numbers in f32, rounded and saturated where the model says so.
//
// Before:  q = QuantizeLinear(x, 0.1, zero : UINT8)
//          y = MatMulInteger(q, w : INT8, zero)    z = Cast <to = FLOAT>(y)
// After:   q = Clip(Add(Round(Div(x, 0.1)), zero), 0, 255)
//          z = MatMul(Sub(q, zero), w)
//
// zero and w are FLOAT then. Sums of whole numbers are exact up to 2^24, and
// rounded to 24 bits beyond, where a processor of integers would keep all.
#include "ExpandQuantized.h"
#include "OrderNodes.h"
#include "QuantizedOperators.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {
class QuantizedModel {
public:
  QuantizedModel(TensorReader &reader, Location loc)
      : reader(reader), loc(loc) {}

  LogicalResult expand(GraphProto &graph, const QuantizedScope *outer);
  /// Constants that are read as whole numbers.
  LogicalResult makeFloat(GraphProto &graph);
  LogicalResult checkOutputs(const GraphProto &graph);
  int count = 0; ///< of the operators that were there

private:
  LogicalResult makeFloat(TensorProto &tensor, StringRef name);

  TensorReader &reader;
  Location loc;
};
} // namespace

static TensorProto *valueOf(NodeProto &node) {
  if (node.op_type() == "Constant")
    for (AttributeProto &one : *node.mutable_attribute())
      if (one.name() == "value" && one.has_t())
        return one.mutable_t();
  return nullptr;
}

static bool isCastToFloat(const NodeProto &node) {
  return node.op_type() == "Cast" &&
         llvm::any_of(node.attribute(), [](const AttributeProto &one) {
           return one.name() == "to" && one.i() == TensorProto::FLOAT;
         });
}

/// Adds what is read by any node but such a cast.
static void findOtherReads(const GraphProto &graph, llvm::StringSet<> &names) {
  for (const NodeProto &node : graph.node()) {
    if (!isCastToFloat(node))
      for (const std::string &input : node.input())
        names.insert(input);
    for (const AttributeProto &one : node.attribute())
      if (one.has_g())
        findOtherReads(one.g(), names);
  }
  for (const auto &output : graph.output())
    names.insert(output.name());
}

LogicalResult QuantizedModel::expand(GraphProto &graph,
                                     const QuantizedScope *outer) {
  QuantizedScope scope{outer};
  for (const TensorProto &tensor : graph.initializer())
    scope.constants[tensor.name()] = &tensor;
  llvm::StringSet<> others;
  findOtherReads(graph, others);
  for (NodeProto &node : *graph.mutable_node())
    for (const std::string &output : node.output()) {
      if (const TensorProto *value = valueOf(node))
        scope.constants[output] = value;
      if (!others.contains(output))
        scope.castToFloat.insert(output);
    }
  Nodes expanded;
  bool failed = false;
  for (NodeProto &node : *graph.mutable_node()) {
    FailureOr<bool> done =
        expandQuantizedNode(node, expanded, scope, reader, loc);
    failed |= mlir::failed(done);
    if (mlir::failed(done) || *done) {
      ++count;
      continue;
    }
    for (AttributeProto &one : *node.mutable_attribute())
      if (one.has_g())
        failed |= mlir::failed(expand(*one.mutable_g(), &scope));
    expanded.Add()->Swap(&node);
  }
  graph.mutable_node()->Swap(&expanded);
  return failure(failed);
}

LogicalResult QuantizedModel::makeFloat(TensorProto &tensor, StringRef name) {
  if (!rangeOf(tensor.data_type()))
    return success();
  auto numbers = readNumbers(reader, tensor, [&](const Twine &reason) {
    emitError(loc) << "initializer '" << name << "': " << reason;
  });
  if (!numbers)
    return failure();
  TensorProto made;
  made.set_name(name.str());
  writeNumbers(*numbers, TensorProto::FLOAT, made);
  tensor.Swap(&made);
  return success();
}

LogicalResult QuantizedModel::makeFloat(GraphProto &graph) {
  bool failed = false;
  for (TensorProto &tensor : *graph.mutable_initializer())
    failed |= mlir::failed(makeFloat(tensor, std::string(tensor.name())));
  for (NodeProto &node : *graph.mutable_node()) {
    if (TensorProto *value = valueOf(node))
      failed |= mlir::failed(makeFloat(*value, node.output(0)));
    for (AttributeProto &one : *node.mutable_attribute())
      if (one.has_g())
        failed |= mlir::failed(makeFloat(*one.mutable_g()));
  }
  return failure(failed);
}

LogicalResult QuantizedModel::checkOutputs(const GraphProto &graph) {
  bool failed = false;
  for (const auto &output : graph.output()) {
    int32_t type = output.type().tensor_type().elem_type();
    if (!rangeOf(type))
      continue;
    failed = true;
    emitError(loc) << "output '" << output.name() << "': elements of type "
                   << elementTypeName(type) << " are not supported";
  }
  return failure(failed);
}

LogicalResult attn::onnx::expandQuantized(::onnx::ModelProto &model,
                                          TensorReader &reader, Location loc) {
  GraphProto &graph = *model.mutable_graph();
  QuantizedModel quantized(reader, loc);
  if (failed(quantized.expand(graph, nullptr)))
    return failure();
  if (quantized.count == 0)
    return success();
  remark::analysis(loc, remark::RemarkOpts::name("Quantized").category("onnx"))
      << ("computed in floating point: " + Twine(quantized.count) +
          " quantized operators, whose weights take the memory of f32")
             .str();
  orderNodes(graph); // forgets constants that nobody reads any more
  LogicalResult isValid = quantized.checkOutputs(graph);
  return failed(quantized.makeFloat(graph)) ? failure() : isValid;
}
