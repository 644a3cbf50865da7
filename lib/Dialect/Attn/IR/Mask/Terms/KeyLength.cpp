// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_length(%length : type): keys below a length, for padded batches.
// docs/SpecMasks.md, "key_length".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula KeyLengthAttr::formula(MaskContext &context) const {
  return lessThan(Linear::key(),
                  context.operandSymbol(getOperand(), "key_length",
                                        /*nonNegative=*/false));
}

Attribute KeyLengthAttr::parseTerm(MaskOperandParser &mask) {
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

SmallVector<MaskOperand> KeyLengthAttr::describeOperands() const {
  return {{static_cast<unsigned>(getOperand()), MaskOperandKind::Number}};
}
