// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/NamePorts.h"
#include "attn/Interface/CNames.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

/// The identifier at `range`, without `%` and a number of results; empty where
/// it is only a number.
static StringRef identifierAt(SMRange range) {
  if (!range.isValid())
    return {};
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  text = text.take_until([](char c) { return c == '#' || c == ':'; }).trim();
  return llvm::all_of(text, llvm::isDigit) ? StringRef() : text;
}

/// The name that the text gives `value`, or an empty one.
static std::string nameInText(Value value, const AsmParserState &state) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const auto *block = state.getBlockDef(argument.getOwner());
    if (!block || argument.getArgNumber() >= block->arguments.size())
      return {};
    return identifierAt(block->arguments[argument.getArgNumber()].loc).str();
  }
  auto result = cast<OpResult>(value);
  const auto *op = state.getOpDef(result.getOwner());
  if (!op)
    return {};
  // Groups are sorted: `%a, %b:2 = ..` has one from 0 and one from 1.
  for (size_t i = op->resultGroups.size(); i-- > 0;) {
    const auto &group = op->resultGroups[i];
    unsigned number = result.getResultNumber();
    if (group.startIndex > number)
      continue;
    unsigned end = i + 1 < op->resultGroups.size()
                       ? op->resultGroups[i + 1].startIndex
                       : result.getOwner()->getNumResults();
    StringRef name = identifierAt(group.definition.loc);
    if (name.empty() || end - group.startIndex == 1)
      return name.str();
    return (name + "_" + Twine(number - group.startIndex)).str();
  }
  return {};
}

/// Names of models' tensors need not be C's.
static void makeIdentifiers(func::FuncOp function) {
  auto *context = function.getContext();
  llvm::StringSet<> used;
  auto choose = [&](StringRef given) {
    std::string base = attn::toPortName(given), unique = base;
    for (unsigned i = 1; !used.insert(unique).second; ++i)
      unique = base + "_" + std::to_string(i);
    return StringAttr::get(context, unique);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto given = function.getArgAttrOfType<StringAttr>(i, "attn.name"))
      function.setArgAttr(i, "attn.name", choose(given));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto given = function.getResultAttrOfType<StringAttr>(i, "attn.name"))
      function.setResultAttr(i, "attn.name", choose(given));
}

static void nameFunction(func::FuncOp function, const AsmParserState *state) {
  constexpr StringLiteral attribute = "attn.name";
  // Names that were chosen keep theirs; others go around them.
  llvm::StringSet<> used;
  auto reserve = [&](Attribute given) {
    if (auto name = dyn_cast_or_null<StringAttr>(given))
      used.insert(name);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    reserve(function.getArgAttr(i, attribute));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    reserve(function.getResultAttr(i, attribute));
  auto choose = [&](Value value, StringRef fallback, unsigned index) {
    std::string name = value && state ? nameInText(value, *state) : "";
    std::string base =
        name.empty() ? (fallback + Twine(index)).str() : attn::toPortName(name);
    std::string unique = base;
    for (unsigned i = 1; !used.insert(unique).second; ++i)
      unique = base + "_" + std::to_string(i);
    return StringAttr::get(function.getContext(), unique);
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (!function.getArgAttr(i, attribute))
      function.setArgAttr(i, attribute, choose(argument, "arg", i));
  }
  Operation *end = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttr(i, attribute))
      function.setResultAttr(
          i, attribute,
          choose(i < end->getNumOperands() ? end->getOperand(i) : Value(),
                 "out", i));
}

void attn::nameModelPorts(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    makeIdentifiers(function);
  namePorts(module, nullptr);
}

void attn::namePorts(ModuleOp module, const AsmParserState *state) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      nameFunction(function, state);
}
