// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of a model, which exporters write for modules and for operators of
// their own, are bodies for the nodes that call them.
//
// Before:  scaled(a) <by>  { f = Constant <value_float = @by>   b = Mul(a, f) }
//          node 'first':  y = scaled <by = 2.0>(x)
// After:   node 'first/..':  first#1/f = Constant <value_float = 2.0>
//                            y = Mul(x, first#1/f)
//
// ONNX's IR specification, "Functions", says what a call means: an attribute
// that refers to one of the call's takes its value, else the function's
// default, and is absent without one; a body sees no names of its caller.
#include "InlineFunctions.h"
#include "llvm/ADT/StringMap.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

/// Calls inside of each other; nodes, and bytes of them, after all.
static constexpr unsigned mostCalls = 32;
static constexpr int64_t mostNodes = 1 << 18, mostBytes = 1ll << 31;

namespace {
/// What the names and attributes of a body mean at one call.
struct Call {
  const NodeProto &node;
  const llvm::StringMap<AttributeProto> &defaults;
  std::string prefix;
  llvm::StringMap<std::string> names;

  std::string nameOf(StringRef name) const {
    auto known = names.find(name);
    if (name.empty() || known != names.end())
      return name.empty() ? "" : known->second;
    return prefix + name.str();
  }
};

class Inliner {
public:
  Inliner(::onnx::ModelProto &model, Location loc) : model(model), loc(loc) {}

  LogicalResult run();

private:
  struct Function {
    const FunctionProto *proto;
    llvm::StringMap<AttributeProto> defaults;
  };

  /// ONNX's own domain has two names.
  static StringRef known(StringRef domain) {
    return domain == "ai.onnx" ? "" : domain;
  }
  static std::string keyOf(StringRef domain, StringRef name) {
    return (known(domain) + ":" + name).str();
  }
  LogicalResult collect(const FunctionProto &function);
  LogicalResult importOpset(const FunctionProto &function,
                            const ::onnx::OperatorSetIdProto &wanted);
  LogicalResult expandGraphs(NodeProto &node, unsigned depth);
  LogicalResult expand(Nodes &nodes, unsigned depth);
  LogicalResult expandCall(const NodeProto &node, const Function &function,
                           unsigned depth, Nodes &into);

  ::onnx::ModelProto &model;
  Location loc;
  llvm::StringMap<Function> functions;
  int64_t calls = 0, nodes = 0, bytes = 0;
};
} // namespace

/// The messages of ONNX 1.12 lack the field of attributes with defaults, which
/// is kept as bytes.
static llvm::StringMap<AttributeProto>
defaultsOf(const FunctionProto &function) {
  constexpr int field = 11; // attribute_proto
  using google::protobuf::internal::WireFormatLite;
  llvm::StringMap<AttributeProto> defaults;
  std::string bytes = function.SerializeAsString();
  google::protobuf::io::ArrayInputStream array(bytes.data(), bytes.size());
  google::protobuf::io::CodedInputStream stream(&array);
  while (uint32_t tag = stream.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) != field) {
      if (!WireFormatLite::SkipField(&stream, tag))
        break;
      continue;
    }
    uint32_t size = 0;
    std::string message;
    AttributeProto attribute;
    if (!stream.ReadVarint32(&size) || !stream.ReadString(&message, size) ||
        !attribute.ParseFromString(message))
      break;
    defaults[attribute.name()] = attribute;
  }
  return defaults;
}

//===----------------------------------------------------------------------===//
// One body
//===----------------------------------------------------------------------===//

static void rename(NodeProto &node, const Call &call);

static void rename(GraphProto &graph, const Call &call) {
  for (auto &input : *graph.mutable_input())
    input.set_name(call.nameOf(input.name()));
  for (auto &output : *graph.mutable_output())
    output.set_name(call.nameOf(output.name()));
  for (auto &tensor : *graph.mutable_initializer())
    tensor.set_name(call.nameOf(tensor.name()));
  for (NodeProto &node : *graph.mutable_node())
    rename(node, call);
}

/// An attribute that refers to one of the call, in its place; false: it is
/// absent there.
static bool resolve(AttributeProto &attribute, const Call &call) {
  if (attribute.ref_attr_name().empty())
    return true;
  std::string name = attribute.name(), wanted = attribute.ref_attr_name();
  auto given =
      llvm::find_if(call.node.attribute(), [&](const AttributeProto &other) {
        return other.name() == wanted;
      });
  auto preset = call.defaults.find(wanted);
  if (given != call.node.attribute().end())
    attribute = AttributeProto(*given);
  else if (preset != call.defaults.end())
    attribute = preset->second;
  else
    return false;
  attribute.set_name(name);
  return true;
}

static void rename(NodeProto &node, const Call &call) {
  for (std::string &input : *node.mutable_input())
    input = call.nameOf(input);
  for (std::string &output : *node.mutable_output())
    output = call.nameOf(output);
  StringRef called = call.node.name();
  if (!called.empty())
    node.set_name((called + "/" + StringRef(node.name())).str());
  auto &attributes = *node.mutable_attribute();
  for (int i = attributes.size() - 1; i >= 0; --i) {
    bool isOwn = attributes[i].ref_attr_name().empty();
    if (!resolve(attributes[i], call))
      attributes.DeleteSubrange(i, 1);
    else if (isOwn && attributes[i].has_g())
      rename(*attributes[i].mutable_g(), call);
  }
}

LogicalResult Inliner::expandCall(const NodeProto &node,
                                  const Function &function, unsigned depth,
                                  Nodes &into) {
  const FunctionProto &proto = *function.proto;
  if (depth == mostCalls)
    return emitError(loc) << "expects functions in at most " << mostCalls
                          << " others, but '" << proto.name()
                          << "' is in more, or calls itself";
  if (node.input_size() > proto.input_size() ||
      node.output_size() > proto.output_size())
    return emitError(loc) << "node '" << node.name() << "' (" << proto.name()
                          << "): expects at most " << proto.input_size()
                          << " inputs and " << proto.output_size()
                          << " outputs, as the model's function has";
  Call call{node, function.defaults, {}, {}};
  StringRef named = node.name().empty() ? proto.name() : node.name();
  call.prefix = (named + "#" + Twine(++calls) + "/").str();
  for (auto [i, input] : llvm::enumerate(proto.input()))
    call.names[input] =
        static_cast<int>(i) < node.input_size() ? node.input(i) : "";
  Nodes body(proto.node()), same;
  for (auto [i, output] : llvm::enumerate(proto.output())) {
    if (static_cast<int>(i) >= node.output_size() || node.output(i).empty())
      continue;
    auto [known, isNew] = call.names.try_emplace(output, node.output(i));
    if (isNew)
      continue;
    // An input, or what another output is, too.
    NodeProto &identity = *same.Add();
    identity.set_op_type("Identity");
    identity.add_input(known->second);
    identity.add_output(node.output(i));
  }
  for (NodeProto &inner : body)
    rename(inner, call);
  body.MergeFrom(same);
  if (failed(expand(body, depth + 1)))
    return failure();
  into.MergeFrom(body);
  return success();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

LogicalResult Inliner::expandGraphs(NodeProto &node, unsigned depth) {
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.has_g() &&
        failed(expand(*attribute.mutable_g()->mutable_node(), depth)))
      return failure();
  return success();
}

LogicalResult Inliner::expand(Nodes &list, unsigned depth) {
  Nodes expanded;
  for (NodeProto &node : list) {
    bytes += static_cast<int64_t>(node.ByteSizeLong());
    if (++nodes > mostNodes || bytes > mostBytes)
      return emitError(loc)
             << "expects at most " << mostNodes << " nodes and " << mostBytes
             << " bytes of them where functions are in their place";
    auto called = functions.find(keyOf(node.domain(), node.op_type()));
    if (called != functions.end()) {
      if (failed(expandCall(node, called->second, depth, expanded)))
        return failure();
      continue;
    }
    if (failed(expandGraphs(node, depth)))
      return failure();
    expanded.Add()->Swap(&node);
  }
  list.Swap(&expanded);
  return success();
}

/// A body's operators are those of the model's set: it imports those that it
/// lacks.
LogicalResult Inliner::importOpset(const FunctionProto &function,
                                   const ::onnx::OperatorSetIdProto &wanted) {
  for (const auto &import : model.opset_import()) {
    if (known(import.domain()) != known(wanted.domain()))
      continue;
    if (import.version() == wanted.version())
      return success();
    return emitError(loc) << "function '" << function.name()
                          << "' expects version " << wanted.version()
                          << " of the operator set '" << wanted.domain()
                          << "', but the model imports " << import.version();
  }
  *model.add_opset_import() = wanted;
  return success();
}

LogicalResult Inliner::collect(const FunctionProto &function) {
  auto [place, isNew] = functions.try_emplace(
      keyOf(function.domain(), function.name()), Function{&function, {}});
  if (!isNew)
    return emitError(loc) << "has two functions '" << function.name()
                          << "' of the domain '" << function.domain()
                          << "'; overloads are not supported";
  place->second.defaults = defaultsOf(function);
  for (const auto &wanted : function.opset_import())
    if (failed(importOpset(function, wanted)))
      return failure();
  return success();
}

LogicalResult Inliner::run() {
  for (const FunctionProto &function : model.functions())
    if (failed(collect(function)))
      return failure();
  return expand(*model.mutable_graph()->mutable_node(), 0);
}

LogicalResult attn::onnx::inlineFunctions(::onnx::ModelProto &model,
                                          Location loc) {
  return model.functions_size() ? Inliner(model, loc).run() : success();
}
