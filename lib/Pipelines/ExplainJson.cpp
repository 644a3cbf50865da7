// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain=json: what the text says, for programs.
#include "ExplainFacts.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

static json::Object toJson(const Length &length) {
  json::Object object{{"text", length.text}};
  if (length.value)
    object["value"] = *length.value;
  return object;
}

static json::Array texts(const MaskContext &context,
                         const std::vector<Linear> &linears) {
  json::Array array;
  for (const Linear &linear : linears)
    array.push_back(context.toString(linear) + " >= 0");
  return array;
}

/// The bounds of kt: the largest of `lower` and the smallest of `upper`.
static json::Array bounds(const MaskContext &context,
                          const std::vector<KeyBound> &bounds,
                          const char *rounding) {
  json::Array array;
  for (const KeyBound &bound : bounds) {
    std::string text = context.toString(bound.expression);
    if (bound.divisor != 1)
      text = std::string(rounding) + "((" + text + ")/" +
             std::to_string(bound.divisor) + ")";
    array.push_back(text);
  }
  return array;
}

static json::Object toJson(const MaskContext &context, const KeySet &set) {
  json::Array parts;
  for (const KeyInterval &part : set.parts)
    parts.push_back(json::Object{
        {"lower", bounds(context, part.lower, "ceil")},
        {"upper", bounds(context, part.upper, "floor")},
        {"if", texts(context, part.guards)},
        {"tests", texts(context, part.tests)},
    });
  return json::Object{{"exact", set.exact}, {"parts", std::move(parts)}};
}

static const char *nameOf(KeyLoopForm form) {
  switch (form) {
  case KeyLoopForm::None:
    return "none";
  case KeyLoopForm::Loops:
    return "loops";
  case KeyLoopForm::Walk:
    return "walk";
  }
  llvm_unreachable("all forms are named");
}

static json::Object toJson(const AttentionFacts &facts) {
  json::Object tiles{{"queries", facts.ranges.tiles.query},
                     {"keys", facts.ranges.tiles.key}};
  json::Object object{
      {"at", facts.position},
      {"lengths", json::Object{{"Sq", toJson(facts.queries)},
                               {"Skv", toJson(facts.keys)}}},
      {"mask", facts.mask},
      {"form", nameOf(facts.ranges.form)},
      {"too_complex", facts.ranges.gaveUp},
      {"visit", toJson(facts.ranges.context, facts.ranges.visit)},
      {"not_full", toJson(facts.ranges.context, facts.ranges.notFull)},
  };
  if (int64_t keys = facts.keysPerItem) {
    json::Object split{{"keys", keys}};
    if (int64_t queries = facts.schedule.getSplitQueries()) {
      split["most_queries"] = queries;
      split["least_keys"] = leastSplitKeys(facts.schedule);
    }
    object["split"] = std::move(split);
  }
  if (!facts.counts) {
    tiles["depend_on"] = facts.notCounted;
    object["tiles"] = std::move(tiles);
    return object;
  }
  const TileCounts &counts = *facts.counts;
  tiles["all"] = counts.all;
  tiles["visited"] = counts.visited;
  tiles["full"] = counts.visited - counts.edge;
  tiles["edge"] = counts.edge;
  tiles["skipped"] = counts.all - counts.visited;
  if (counts.testedPairs) {
    tiles["empty_visited"] = counts.emptyVisited;
    object["pairs"] = json::Object{{"visible", counts.visiblePairs},
                                   {"visited", counts.visitedPairs}};
    object["flops"] = facts.flops(counts.visiblePairs);
  }
  object["tiles"] = std::move(tiles);
  return object;
}

json::Value attn::kernelsAsJson(ModuleOp module, const SymbolSizes &sizes) {
  json::Array functions;
  // Asking for a size leaves ops behind.
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto function : copy->getOps<func::FuncOp>()) {
    if (!function->hasAttr("attn.ports"))
      continue;
    json::Array attentions;
    function.walk([&](SdpaOp op) {
      attentions.push_back(toJson(factsOf(op, sizes).front()));
    });
    functions.push_back(json::Object{{"name", function.getName()},
                                     {"attentions", std::move(attentions)}});
  }
  return functions;
}
