// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dilated(N, position): keys at multiples of a distance. docs/SpecMasks.md,
// "dilated".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula DilatedAttr::formula(MaskContext &context) const {
  Linear own = standsOn(context, getPosition());
  return isZero(context.modulo(own - Linear::key(), getStep()));
}

Attribute DilatedAttr::parseTerm(MaskOperandParser &mask) {
  int64_t step;
  if (mask.parser.parseLParen() || mask.parser.parseInteger(step))
    return {};
  FailureOr<PositionAttr> position = parsePositionAndParen(mask);
  if (failed(position))
    return {};
  return DilatedAttr::get(mask.parser.getContext(), step, *position);
}

void DilatedAttr::printTerm(OpAsmPrinter &printer,
                            OperandRange operands) const {
  printer << "dilated(" << getStep();
  printPosition(printer, getPosition(), operands);
  printer << ")";
}

LogicalResult
DilatedAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                            TypeRange types, ArrayRef<int64_t> shape) const {
  if (failed(verifyConstant(emitError, "dilated", getStep(), 1))) // C10
    return failure();
  return verifyPosition(emitError, "dilated", getPosition(), types, shape);
}
