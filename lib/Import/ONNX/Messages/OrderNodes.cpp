// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tools write nodes in front of those that they read, nodes and initializers
// that nobody reads, and names for outputs that nobody reads.
//
// Before:  y = Relu(n)   n, mean = LayerNormalization(x, w)   z = Unique(x)
// After:   n, "" = LayerNormalization(x, w)   y = Relu(n)
//
// Nodes keep their order where it is one (A. B. Kahn, "Topological sorting of
// large networks", 1962). Those of a cycle stay last, for their importers to
// refuse.
#include "OrderNodes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

/// All names that a node reads, also those in its graphs.
static void eachRead(const NodeProto &node,
                     llvm::function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input())
    visit(input);
  for (const AttributeProto &attribute : node.attribute()) {
    if (!attribute.has_g())
      continue;
    for (const NodeProto &inner : attribute.g().node())
      eachRead(inner, visit);
    for (const auto &output : attribute.g().output())
      visit(output.name());
  }
}

namespace {
class NodeOrder {
public:
  explicit NodeOrder(GraphProto &graph) : graph(graph) {}

  void run() {
    findNeeded();
    sort();
    forgetUnread();
  }

private:
  void findNeeded();
  void sort();
  void forgetUnread();

  GraphProto &graph;
  llvm::StringMap<int> producers; ///< of each name
  llvm::StringSet<> read;
  llvm::BitVector needed;
};
} // namespace

void NodeOrder::findNeeded() {
  needed.resize(graph.node_size());
  for (auto [i, node] : llvm::enumerate(graph.node()))
    for (const std::string &output : node.output())
      if (!output.empty())
        producers.try_emplace(output, static_cast<int>(i));
  SmallVector<int> todo;
  auto need = [&](StringRef name) {
    read.insert(name);
    auto producer = producers.find(name);
    if (producer == producers.end() || needed.test(producer->second))
      return;
    needed.set(producer->second);
    todo.push_back(producer->second);
  };
  for (const auto &output : graph.output())
    need(output.name());
  while (!todo.empty())
    eachRead(graph.node(todo.pop_back_val()), need);
}

void NodeOrder::sort() {
  // For each node how many it waits for, and who waits for it.
  SmallVector<int> waiting(graph.node_size());
  llvm::DenseMap<int, SmallVector<int>> readers;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i : needed.set_bits()) {
    eachRead(graph.node(i), [&](StringRef name) {
      auto producer = producers.find(name);
      // A branch may call its result as the node does.
      if (producer == producers.end() || producer->second == i)
        return;
      ++waiting[i];
      readers[producer->second].push_back(i);
    });
    if (waiting[i] == 0)
      ready.push(i);
  }
  google::protobuf::RepeatedPtrField<NodeProto> sorted;
  auto take = [&](int i) {
    sorted.Add()->Swap(graph.mutable_node(i));
    needed.reset(i);
  };
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    take(i);
    for (int reader : readers.lookup(i))
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  for (int i : llvm::to_vector(needed.set_bits()))
    take(i);
  graph.mutable_node()->Swap(&sorted);
}

/// Outputs behind a node's first one, and initializers that are no inputs.
void NodeOrder::forgetUnread() {
  for (NodeProto &node : *graph.mutable_node()) {
    for (int i = 1; i < node.output_size(); ++i)
      if (!read.contains(node.output(i)))
        node.mutable_output(i)->clear();
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        orderNodes(*attribute.mutable_g());
  }
  llvm::StringSet<> inputs;
  for (const auto &input : graph.input())
    inputs.insert(input.name());
  auto &all = *graph.mutable_initializer();
  auto last = std::remove_if(all.begin(), all.end(), [&](const auto &tensor) {
    return !read.contains(tensor.name()) && !inputs.contains(tensor.name());
  });
  all.erase(last, all.end());
}

void attn::onnx::orderNodes(GraphProto &graph) { NodeOrder(graph).run(); }
