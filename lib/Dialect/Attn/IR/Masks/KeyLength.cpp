// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_length(%length : type): keys below a length, for padded batches.
// docs/SpecMasks.md, "key_length".
#include "attn/Dialect/Attn/IR/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula KeyLengthAttr::formula(MaskContext &context) const {
  return lessThan(Linear::key(),
                  context.operandSymbol(getOperand(), "key_length",
                                        /*nonNegative=*/false));
}

Attribute attn::parseKeyLength(MaskOperandParser &mask) {
  if (mask.parser.parseLParen())
    return {};
  FailureOr<unsigned> position = mask.parseOperand();
  if (failed(position) || mask.parser.parseRParen())
    return {};
  return KeyLengthAttr::get(mask.parser.getContext(), *position);
}

void KeyLengthAttr::printTerm(OpAsmPrinter &printer,
                              OperandRange operands) const {
  printer << "key_length(" << operands[getOperand()] << " : "
          << operands[getOperand()].getType() << ")";
}

SmallVector<unsigned> KeyLengthAttr::operandPositions() const {
  return {static_cast<unsigned>(getOperand())};
}

Attribute
KeyLengthAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  return get(getContext(), map(getOperand()));
}

LogicalResult
KeyLengthAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                              TypeRange types, ArrayRef<int64_t> shape) const {
  return verifyPerBatchOperand(emitError, "key_length", types[getOperand()],
                               shape);
}
