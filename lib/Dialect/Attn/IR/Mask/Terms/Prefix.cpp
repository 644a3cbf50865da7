// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefix(N | %n : type): the first keys, for every query. docs/SpecMasks.md,
// "prefix".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula PrefixAttr::formula(MaskContext &context) const {
  return lessThan(Linear::key(), numberValue(context, getCount(), "prefix"));
}

Attribute PrefixAttr::parseTerm(MaskOperandParser &mask) {
  if (mask.parser.parseLParen())
    return {};
  Attribute count = parseNumber(mask);
  if (!count || mask.parser.parseRParen())
    return {};
  return PrefixAttr::get(mask.parser.getContext(), count);
}

void PrefixAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "prefix(";
  printNumber(printer, getCount(), operands);
  printer << ")";
}

LogicalResult
PrefixAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                           TypeRange types, ArrayRef<int64_t> shape) const {
  return verifyNumber(emitError, "prefix", getCount(), 1, types,
                      shape); // C3, C10
}
