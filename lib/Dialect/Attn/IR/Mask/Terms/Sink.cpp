// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sink(N): the first keys, which every query keeps seeing. docs/SpecMasks.md,
// "sink".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula SinkAttr::formula(MaskContext &) const {
  return lessThan(Linear::key(), Linear(getCount()));
}

Attribute SinkAttr::parseTerm(MaskOperandParser &mask) {
  int64_t count;
  if (mask.parser.parseLParen() || mask.parser.parseInteger(count) ||
      mask.parser.parseRParen())
    return {};
  return SinkAttr::get(mask.parser.getContext(), count);
}

void SinkAttr::printTerm(OpAsmPrinter &printer, OperandRange) const {
  printer << "sink(" << getCount() << ")";
}

LogicalResult
SinkAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                         TypeRange, ArrayRef<int64_t>) const {
  return verifyConstant(emitError, "sink", getCount(), 1); // C10
}
