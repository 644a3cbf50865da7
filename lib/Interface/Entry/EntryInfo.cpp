// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What NAME_info tells of the functions, for callers who read no C: under
// "functions", by name, their arguments and results in the order of the
// argument struct:
//
//   {"name": "q", "type": "f32", "shape": ["q0", 8, "q2", 64]}
//
// A size that a call chooses has a name, and equal names are equal sizes. An
// argument that a caller may leave out has "optional": true, a result that may
// be the memory of arguments their names: "overlaps": ["cache"].
#include "Entry.h"
#include "attn/Interface/KernelSignature.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;

static llvm::json::Value portAsJson(PortAttr port) {
  llvm::json::Array shape;
  for (auto [size, symbol] : llvm::zip(port.getSizes(), port.getSymbols()))
    shape.push_back(size < 0 ? llvm::json::Value(symbol.getValue())
                             : llvm::json::Value(size));
  llvm::json::Object told{
      {"name", port.getName().getValue()},
      {"type", llvm::formatv("{0}", port.getElementType()).str()},
      {"shape", std::move(shape)}};
  if (port.getOptional())
    told["optional"] = true;
  llvm::json::Array overlaps;
  for (StringAttr name : port.getOverlaps())
    overlaps.push_back(name.getValue());
  if (!overlaps.empty())
    told["overlaps"] = std::move(overlaps);
  return told;
}

static llvm::json::Object parseInfo(StringRef info) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(info);
  if (!parsed)
    llvm::consumeError(parsed.takeError()); // The pass alone has none.
  else if (llvm::json::Object *object = parsed->getAsObject())
    return std::move(*object);
  return {};
}

std::string entry::specificationIn(StringRef info) {
  return parseInfo(info).getString("specification").value_or("").str();
}

std::string entry::infoOfFunctions(ModuleOp module, StringRef info) {
  llvm::json::Object all = parseInfo(info);
  llvm::json::Object functions;
  for (const KernelSignature &kernel : KernelSignature::all(module)) {
    if (PictureAttr::of(kernel.getFunction()))
      continue;
    llvm::json::Array arguments, results;
    for (PortAttr port : PortAttr::of(kernel.getFunction()))
      (port.getInput() ? arguments : results).push_back(portAsJson(port));
    functions[kernel.getName()] = llvm::json::Object{
        {"arguments", std::move(arguments)}, {"results", std::move(results)}};
  }
  all["functions"] = std::move(functions);
  return llvm::formatv("{0}", llvm::json::Value(std::move(all))).str();
}
