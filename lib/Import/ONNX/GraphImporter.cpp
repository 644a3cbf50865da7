// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph becomes a function: initializers constants, inputs arguments, nodes
// what their operators' importers write, outputs results.
//
// All nodes are looked at before the first is imported, so that operators that
// are not supported are reported together. A node that fails later takes those
// with it that read it, without a report of their own.
#include "GraphImporter.h"
#include "OperatorTable.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

/// Graphs inside of each other, by attributes.
static constexpr unsigned maxDepth = 8;
/// Nodes of such graphs, each as often as it is written out.
static constexpr int64_t maxInlined = int64_t(1) << 16;
/// Operator sets whose nodes mean what is written here.
static constexpr int64_t leastOpset = 11, mostOpset = 28;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::checkNode(const ::onnx::NodeProto &node) {
  std::string domain = domainOf(node);
  std::string named = (domain.empty() ? "" : domain + ".") + node.op_type();
  if (!knowsOperator(domain, node.op_type()))
    return emitError(location(node))
           << "operator " << named << " is not supported";
  int64_t version = opset(domain);
  if (version == 0)
    return emitError(location(node))
           << "the model imports no operator set of the domain '" << domain
           << "'";
  const Operator *known = findOperator(domain, node.op_type(), version);
  if (!known)
    return emitError(location(node))
           << "operator " << named << " is not supported in version " << version
           << " of its operator set";
  auto inputs = static_cast<unsigned>(node.input_size());
  bool isWhole = inputs >= known->leastInputs && inputs <= known->mostInputs;
  for (unsigned i = 0; isWhole && i < known->leastInputs; ++i)
    isWhole = !node.input(static_cast<int>(i)).empty();
  if (!isWhole || node.output_size() == 0)
    return emitError(location(node))
           << "expects " << known->leastInputs << " to " << known->mostInputs
           << " inputs and an output, but got " << inputs << " inputs and "
           << node.output_size() << " outputs";
  return success();
}

LogicalResult GraphImporter::checkOperators(const ::onnx::GraphProto &graph) {
  bool failed = false;
  for (const ::onnx::NodeProto &node : graph.node())
    failed |= mlir::failed(checkNode(node));
  return failure(failed);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::readInitializers(const ::onnx::GraphProto &graph) {
  bool failed = graph.sparse_initializer_size() > 0;
  if (failed)
    emitError(fileLocation) << "sparse initializers are not supported";
  for (const ::onnx::TensorProto &tensor : graph.initializer()) {
    ElementsAttr contents = read(tensor, [&](const Twine &reason) {
      emitError(fileLocation)
          << "initializer '" << tensor.name() << "': " << reason;
    });
    failed |= !contents;
    if (contents)
      define(tensor.name(), build.constant(contents));
  }
  return failure(failed);
}

FailureOr<Tensor>
GraphImporter::argumentOf(const ::onnx::ValueInfoProto &input) {
  auto fail = [&](const Twine &reason) {
    return emitError(fileLocation)
           << "input '" << input.name() << "': " << reason;
  };
  if (!input.type().has_tensor_type())
    return fail("expects a tensor");
  const auto &type = input.type().tensor_type();
  Tensor t;
  t.element = elementType(b.getContext(), type.elem_type());
  if (!t.element)
    return fail("elements of type " + elementTypeName(type.elem_type()) +
                " are not supported");
  if (!type.has_shape())
    return fail("expects a known rank, but the model gives none; set it with "
                "onnx.shape_inference or when exporting");
  SmallVector<int64_t> dims;
  for (const auto &dim : type.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0)
      return fail("expects sizes of at least 0, but got " +
                  Twine(dim.dim_value()));
    dims.push_back(dim.has_dim_value() ? dim.dim_value()
                                       : ShapedType::kDynamic);
  }
  if (dims.size() > 8)
    return fail("expects at most 8 dimensions, but got " + Twine(dims.size()));
  t.value = function.getBody().front().addArgument(
      RankedTensorType::get(dims, t.element), fileLocation);
  for (auto [i, dim] : llvm::enumerate(type.shape().dim())) {
    if (dim.has_dim_value()) {
      t.shape.push_back(dim.dim_value());
      continue;
    }
    bool isNamed = dim.has_dim_param() && !dim.dim_param().empty();
    auto known = namedSizes.find(isNamed ? dim.dim_param() : "");
    if (isNamed && known != namedSizes.end()) {
      t.shape.push_back(known->second);
      continue;
    }
    Value size = tensor::DimOp::create(b, fileLocation, t.value,
                                       static_cast<int64_t>(i));
    t.shape.push_back(build.unknown(size));
    if (int64_t divisor = isNamed ? multiples.lookup(dim.dim_param()) : 0)
      t.shape.back() = build.sizes.multiple(t.shape.back(), divisor);
    if (isNamed)
      namedSizes[dim.dim_param()] = t.shape.back();
  }
  return t;
}

std::string GraphImporter::nameOf(const Size &size) const {
  for (const auto &entry : namedSizes)
    if (entry.second == size)
      return entry.first().str();
  return {};
}

std::string
GraphImporter::assume(const std::optional<std::pair<Size, int64_t>> &multiple) {
  constexpr int64_t most = 1 << 16;
  if (!multiple || multiple->second < 2 || multiple->second > most)
    return {};
  std::string name = nameOf(multiple->first);
  int64_t divisor = multiple->second;
  for (const auto &known : multiples) // of which the multiple is one of more
    if (namedSizes.lookup(known.first()) ==
        Size(known.second) * multiple->first) {
      name = known.first().str();
      divisor *= known.second;
    }
  if (name.empty() || divisor > most)
    return {};
  if (!assumption)
    assumption = Assumption{name, "", std::nullopt, divisor};
  return name + " is a multiple of " + std::to_string(divisor);
}

std::string GraphImporter::assumeMultiple(const Size &size,
                                          const Size &divisor) {
  return assume(size.multipleFor(divisor));
}

std::string GraphImporter::assumeEqual(const Size &a, const Size &b) {
  auto solution = a.solved(b);
  if (!solution)
    return assume(build.sizes.multipleFor(a, b));
  Assumption found{nameOf(solution->first), nameOf(solution->second),
                   solution->second.constant(), std::nullopt};
  if (found.name.empty() || (found.other.empty() && !found.number))
    return {};
  assumption = found;
  return found.name + " = " +
         (found.number ? std::to_string(*found.number) : found.other);
}

/// Names of sizes that are not known; empty ones for all others.
static SmallVector<StringRef> sizeNames(const ::onnx::ValueInfoProto &input) {
  SmallVector<StringRef> names;
  for (const auto &dim : input.type().tensor_type().shape().dim())
    names.push_back(dim.has_dim_param() ? StringRef(dim.dim_param())
                                        : StringRef());
  return names;
}

LogicalResult GraphImporter::addArguments() {
  bool failed = false;
  SmallVector<Attribute> attributes;
  for (const ::onnx::ValueInfoProto &input : model.graph().input()) {
    if (find(input.name())) // an initializer
      continue;
    FailureOr<Tensor> t = argumentOf(input);
    if (mlir::failed(t)) {
      failed = true;
      continue;
    }
    define(input.name(), *t);
    SmallVector<NamedAttribute> own = {
        b.getNamedAttr("attn.name", b.getStringAttr(input.name()))};
    SmallVector<StringRef> names = sizeNames(input);
    if (llvm::any_of(names, [](StringRef name) { return !name.empty(); }))
      own.push_back(b.getNamedAttr("attn.sizes", b.getStrArrayAttr(names)));
    attributes.push_back(b.getDictionaryAttr(own));
  }
  function.setType(b.getFunctionType(
      function.getBody().front().getArgumentTypes(), TypeRange()));
  function.setAllArgAttrs(attributes);
  return failure(failed);
}

LogicalResult GraphImporter::addResults() {
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  build.loc = fileLocation;
  bool failed = false;
  for (const ::onnx::ValueInfoProto &output : model.graph().output()) {
    Tensor *t = find(output.name());
    if (!t) {
      if (!missing.contains(output.name()))
        emitError(fileLocation) << "output '" << output.name()
                                << "' is given by no node, input or "
                                   "initializer";
      failed = true;
      continue;
    }
    results.push_back(build.value(*t));
    attributes.push_back(b.getDictionaryAttr(
        b.getNamedAttr("attn.name", b.getStringAttr(output.name()))));
  }
  if (results.empty() && !failed)
    return emitError(fileLocation) << "the graph has no output";
  if (failed)
    return failure();
  func::ReturnOp::create(b, fileLocation, results);
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     TypeRange(ValueRange(results))));
  function.setAllResultAttrs(attributes);
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::importNode(const ::onnx::NodeProto &node) {
  for (const std::string &name : node.input()) {
    if (name.empty() || find(name))
      continue;
    if (!missing.contains(name))
      emitError(location(node))
          << "reads '" << name
          << "', which no earlier node, input or initializer gives";
    return failure();
  }
  for (const std::string &name : node.output())
    if (!name.empty() && find(name))
      return emitError(location(node))
             << "gives '" << name << "', which has been given before";
  std::string domain = domainOf(node);
  Node imported(node, *this);
  build.loc = imported.loc();
  const Operator *known =
      findOperator(domain, node.op_type(), imported.opset());
  if (failed(known->import(imported)))
    return failure();
  for (const std::string &name : node.output())
    if (!name.empty() && !find(name))
      return emitError(location(node))
             << "output '" << name << "' is not supported";
  return checkOutputs(node);
}

/// Sizes that no processor addresses, before anything computes with them.
LogicalResult GraphImporter::checkOutputs(const ::onnx::NodeProto &node) {
  for (const std::string &name : node.output()) {
    if (name.empty())
      continue;
    Tensor &t = *find(name);
    Size bytes = 8;
    for (const Size &size : t.shape) {
      std::optional<int64_t> known = size.constant();
      if (known && *known < 0)
        return emitError(location(node)) << "expects sizes of at least 0, but '"
                                         << name << "' has " << *known;
      bytes = bytes * Size(known ? *known : 1);
    }
    bool isCountable =
        bytes.isValid() && bytes.constant().value_or(0) < (int64_t(1) << 56);
    for (const Size &size : t.shape)
      isCountable &= size.isValid();
    if (!isCountable)
      return emitError(location(node))
             << "expects tensors of less than 2^56 bytes, but '" << name
             << "' is larger";
  }
  return success();
}

LogicalResult GraphImporter::importNodes(const ::onnx::GraphProto &graph) {
  bool failed = false;
  for (const ::onnx::NodeProto &node : graph.node()) {
    if (succeeded(importNode(node)))
      continue;
    failed = true;
    for (const std::string &name : node.output())
      missing.insert(name);
  }
  return failure(failed);
}

std::optional<std::vector<Tensor>>
GraphImporter::inlineGraph(const ::onnx::GraphProto &graph,
                           ArrayRef<Tensor> arguments) {
  Location outer = build.loc;
  if (depth >= maxDepth) {
    emitError(outer) << "expects at most " << maxDepth
                     << " graphs inside each other";
    return std::nullopt;
  }
  inlined += graph.node_size();
  if (inlined > maxInlined) {
    emitError(outer) << "expects turns and branches of at most " << maxInlined
                     << " nodes in all";
    return std::nullopt;
  }
  if (graph.input_size() != static_cast<int>(arguments.size())) {
    emitError(outer) << "expects a graph of " << arguments.size()
                     << " inputs, but got " << graph.input_size();
    return std::nullopt;
  }
  if (failed(checkOperators(graph)))
    return std::nullopt;
  // Names of the inner graph hide those outside until it ends.
  llvm::StringMap<Tensor> saved = tensors;
  for (auto [input, argument] : llvm::zip(graph.input(), arguments))
    define(input.name(), argument);
  for (const ::onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      tensors.erase(name);
  ++depth;
  bool done =
      succeeded(readInitializers(graph)) && succeeded(importNodes(graph));
  --depth;
  std::vector<Tensor> results;
  for (const auto &output : graph.output())
    if (Tensor *t = find(output.name()))
      results.push_back(*t);
  tensors = std::move(saved);
  build.loc = outer;
  if (done && results.size() == static_cast<size_t>(graph.output_size()))
    return results;
  if (done)
    emitError(outer) << "an output of its graph is given by nothing";
  return std::nullopt;
}

func::FuncOp GraphImporter::import() {
  int64_t version = opset("");
  if (version < leastOpset || version > mostOpset) {
    emitError(fileLocation)
        << "expects version " << leastOpset << " to " << mostOpset
        << " of ONNX's operator set, but the model imports "
        << (version ? "version " + std::to_string(version) : "none");
    return {};
  }
  if (failed(checkOperators(model.graph())))
    return {};
  function = func::FuncOp::create(b, fileLocation, options().function,
                                  b.getFunctionType({}, {}));
  if (!options().strict)
    function->setAttr(AttnDialect::lowestExcludesAttr, b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock());
  build.loc = fileLocation;
  if (failed(readInitializers(model.graph())) || failed(addArguments()))
    return {};
  bool done = succeeded(importNodes(model.graph()));
  return succeeded(addResults()) && done ? function : func::FuncOp();
}
