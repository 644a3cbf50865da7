// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a mask's symbols.

#include "attn/Dialect/Attn/Utils/MaskSymbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace attn;
using namespace mlir;

SymbolValues::SymbolValues(const MaskContext &context, Value queryLength,
                           Value keyLength, ValueRange maskOperands) {
  set(Variable::QueryLength, queryLength);
  set(Variable::KeyLength, keyLength);
  for (auto [i, symbol] : llvm::enumerate(context.symbols()))
    if (symbol.kind == MaskContext::SymbolKind::Operand)
      set(Variable::FirstSymbol + i, maskOperands[symbol.operand]);
}

Value SymbolValues::lookup(const MaskContext &context, int variable) const {
  if (Value value = values.lookup(variable))
    return value;
  llvm::report_fatal_error(
      llvm::Twine("attn: no value was given for the mask symbol '") +
      context.toString(Linear::variable(variable)) + "'");
}

bool attn::usesSymbol(const KeyRanges &ranges, int variable) {
  if (variable == Variable::KeyLength) // for the number of tiles
    return ranges.form != KeyLoopForm::None;
  const MaskContext &context = ranges.context;
  auto uses = [&](const Linear &linear) {
    return context.dependsOn(linear, variable);
  };
  auto boundUses = [&](const KeyBound &bound) {
    return uses(bound.expression);
  };
  for (const KeySet *set : {&ranges.visit, &ranges.notFull})
    for (const KeyInterval &part : set->parts)
      if (llvm::any_of(part.guards, uses) || llvm::any_of(part.tests, uses) ||
          llvm::any_of(part.lower, boundUses) ||
          llvm::any_of(part.upper, boundUses))
        return true;
  return false;
}

bool attn::usesSymbol(const MaskContext &context, const Formula &formula,
                      int variable) {
  auto uses = [&](const Linear &linear) {
    return context.dependsOn(linear, variable);
  };
  return uses(formula->linear) || llvm::any_of(formula->arguments, uses) ||
         llvm::any_of(formula->children, [&](const Formula &child) {
           return usesSymbol(context, child, variable);
         });
}
