// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Entries.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::tool;

/// Each has a dozen functions of its own in the object: a small one takes 40
/// ms.
static constexpr size_t maxEntries = 128;

static bool learns(func::FuncOp function) {
  return llvm::any_of(
      llvm::seq(function.getNumArguments()), [&](unsigned argument) {
        return bool(function.getArgAttr(argument, "attn.gradient"));
      });
}

/// The function of the module that --entry means: of a pair that training
/// calls, which is made later, the one that it is made of.
static std::string findChosen(ArrayRef<func::FuncOp> functions,
                              const std::string &entry) {
  for (func::FuncOp function : functions)
    for (StringRef suffix : {"_forward", "_gradient"})
      if (learns(function) && entry == (function.getName() + suffix).str())
        return function.getName().str();
  return entry;
}

template <typename... Parts> static llvm::Error refuse(const Parts &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return llvm::createStringError(text);
}

llvm::Error attn::tool::checkDims(ModuleOp module, const Options &options) {
  SmallVector<std::string> known;
  module.walk([&](func::FuncOp function) {
    auto ports = function->getAttrOfType<ArrayAttr>(PortAttr::functionAttr);
    for (Attribute port : ports ? ports.getValue() : ArrayRef<Attribute>())
      if (cast<PortAttr>(port).getInput()) // results have what these tell
        for (StringAttr symbol : cast<PortAttr>(port).getSymbols())
          if (!symbol.empty() && !llvm::is_contained(known, symbol.getValue()))
            known.push_back(symbol.str());
  });
  for (const auto &dim : options.dims)
    if (!llvm::is_contained(known, dim.first))
      return refuse("--dim: no argument has a dimension '", dim.first, "'",
                    known.empty() ? "" : ", only ", llvm::join(known, ", "));
  return llvm::Error::success();
}

llvm::Error attn::tool::selectEntries(ModuleOp module, const Options &options,
                                      std::string &entry) {
  SmallVector<func::FuncOp> functions;
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal()) {
      functions.push_back(function);
      names.push_back(function.getName().str());
    }
  bool isProgram =
      options.emit == Emit::Executable || options.emit == Emit::Lab;
  if (functions.empty())
    return refuse("the module has no public function to compile");
  if (isProgram && options.entry.empty() && functions.size() > 1)
    return refuse("a program runs one function; choose with --entry=",
                  llvm::join(names, "|"));
  if (options.entry.empty() && functions.size() > maxEntries)
    return refuse("the module has ", functions.size(),
                  " public functions, of which ", maxEntries,
                  " can be compiled together; choose one with --entry, or "
                  "divide the file");
  entry = isProgram && options.entry.empty() ? names.front() : options.entry;
  if (options.entry.empty())
    return llvm::Error::success();
  std::string chosen = findChosen(functions, options.entry);
  if (!llvm::is_contained(names, chosen))
    return refuse("the module has no public function '", options.entry,
                  "', only ", llvm::join(names, ", "));
  // Private functions that nothing calls go when calls are inlined.
  for (func::FuncOp function : functions)
    if (function.getName() != chosen)
      function.setPrivate();
  return llvm::Error::success();
}
