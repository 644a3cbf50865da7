// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain=json: what the text says, for programs.
#include "ExplainFacts.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Pipelines/Positions.h"
#include "llvm/ADT/TypeSwitch.h"
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

/// None where a target has nothing to choose.
static json::Value toJson(ScheduleInterface schedule) {
  if (!schedule)
    return nullptr;
  json::Object object{{"kind", stringifyKind(schedule.getKind())},
                      {"queries", schedule.getQueryTile()},
                      {"keys", schedule.getKeyTile()}};
  if (auto gpu = dyn_cast<GPUScheduleAttr>(schedule)) {
    object["warps"] = gpu.getWarps();
    return object;
  }
  auto cpu = cast<CPUScheduleAttr>(schedule);
  object["rows"] = cpu.getRows();
  object["vectors"] = cpu.getVectors();
  object["lanes"] = cpu.getLanes();
  object["products"] = stringifyProducts(cpu.getProducts());
  return object;
}

static json::Object toJson(const AttentionFacts &facts) {
  json::Object tiles{{"queries", facts.ranges.tiles.query},
                     {"keys", facts.ranges.tiles.key}};
  json::Object object{
      {"at", json::fixUTF8(facts.position)},
      {"lengths", json::Object{{"Sq", toJson(facts.queries)},
                               {"Skv", toJson(facts.keys)}}},
      {"mask", facts.mask},
      {"schedule", toJson(facts.schedule)},
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

/// What is not known is null.
static json::Object toJson(const PartsFacts &parts) {
  auto known = [](int64_t number) {
    return number < 0 ? json::Value(nullptr) : json::Value(number);
  };
  return json::Object{{"count", known(parts.parts)},
                      {"heads", parts.heads},
                      {"blocks", parts.blocks},
                      {"reads", parts.reads},
                      {"key_bytes", known(parts.keyBytes)},
                      {"state_bytes", known(parts.stateBytes)}};
}

/// One attention. Where lengths decide about two schedules, `few_queries` is
/// what holds for the second.
static json::Object toJson(SdpaOp op, const SymbolSizes &sizes) {
  std::vector<AttentionFacts> all = factsOf(op, sizes);
  json::Object object = toJson(all.front());
  if (auto parts = partsOf(op, all.back(), all.back().schedule))
    object["parts"] = toJson(*parts);
  object["maps"] = op.isDifferential() ? 2 : 1;
  object["normalization"] = stringifyNormalization(op.getNormalization());
  if (all.size() > 1)
    object["few_queries"] = toJson(all.back());
  if (op.getScheduleAttr() && op.getDecodeScheduleAttr())
    object["most_few_queries"] = mostDecodeQueries(op);
  return object;
}

static json::Object toJson(SdpaGradOp op, const SymbolSizes &sizes) {
  GradientFacts facts = factsOf(op, sizes);
  json::Object object = toJson(facts.attention);
  object["by"] = json::Array(facts.by);
  object["products"] = json::Array(facts.products);
  object["dropped"] = json::Array(facts.dropped);
  return object;
}

static json::Object toJson(const ResidualFacts &residual) {
  json::Object object{{"name", residual.name}, {"bytes", residual.bytes}};
  if (residual.value)
    object["bytes"] = *residual.value;
  return object;
}

static json::Object stepAsJson(Operation *op, StringRef what,
                               ScheduleInterface schedule) {
  return json::Object{{"at", json::fixUTF8(positionOf(op->getLoc()))},
                      {"what", what},
                      {"schedule", toJson(schedule)}};
}

static json::Object portAsJson(PortAttr port) {
  json::Array shape;
  for (auto [size, symbol] : llvm::zip(port.getSizes(), port.getSymbols()))
    shape.push_back(size >= 0 ? json::Value(size)
                              : json::Value(symbol.getValue()));
  std::string element;
  llvm::raw_string_ostream(element) << port.getElementType();
  return json::Object{{"name", port.getName().getValue()},
                      {"input", port.getInput()},
                      {"element", element},
                      {"shape", std::move(shape)}};
}

static json::Object toJson(func::FuncOp function, const SymbolSizes &sizes) {
  json::Array ports, attentions, gradients, residuals, steps;
  for (PortAttr port : PortAttr::of(function))
    ports.push_back(portAsJson(port));
  function.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](SdpaOp sdpa) { attentions.push_back(toJson(sdpa, sizes)); })
        .Case(
            [&](SdpaGradOp grad) { gradients.push_back(toJson(grad, sizes)); })
        .Case<ProjectOp, MergeStatesOp, FinalizeStateOp>([&](auto step) {
          StringRef name = step->getName().stripDialect();
          steps.push_back(stepAsJson(op, name, step.getScheduleAttr()));
        });
  });
  for (const ResidualFacts &residual : residualsOf(function, sizes))
    residuals.push_back(toJson(residual));
  json::Object object{{"name", function.getName()},
                      {"ports", std::move(ports)},
                      {"attentions", std::move(attentions)},
                      {"steps", std::move(steps)}};
  if (!gradients.empty())
    object["gradients"] = std::move(gradients);
  if (!residuals.empty())
    object["residuals"] = std::move(residuals);
  return object;
}

json::Value attn::kernelsAsJson(ModuleOp module, const SymbolSizes &sizes) {
  json::Array functions;
  // Asking for a size leaves ops behind.
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto function : copy->getOps<func::FuncOp>())
    if (function->hasAttr(PortAttr::functionAttr) && !PictureAttr::of(function))
      functions.push_back(toJson(function, sizes));
  return functions;
}
