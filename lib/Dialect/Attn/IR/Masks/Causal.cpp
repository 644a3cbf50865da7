// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// causal(top_left | bottom_right | offset = N | offset = %x : type): keys up to
// the query's own position. docs/Spec.md, "causal".
#include "attn/Dialect/Attn/IR/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula CausalAttr::formula(MaskContext &context) const {
  Linear start(0);
  if (getAlignment() == Alignment::BottomRight)
    start = context.liveKeys() - Linear::queryLength();
  else if (getAlignment() == Alignment::Offset)
    start = getOperand() < 0 ? Linear(getOffset())
                             : context.operandSymbol(getOperand(), "offset",
                                                     /*nonNegative=*/false);
  return lessEqual(Linear::key(), Linear::query() + start);
}

Attribute attn::parseCausal(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  MLIRContext *context = parser.getContext();
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseKeyword(&word))
    return {};
  std::optional<Alignment> alignment = symbolizeAlignment(word);
  if (!alignment) {
    parser.emitError(loc, "expects top_left, bottom_right or offset after "
                          "'causal(', but got '")
        << word << "'";
    return {};
  }
  int64_t offset = 0, operand = -1;
  if (*alignment == Alignment::Offset) {
    if (parser.parseEqual())
      return {};
    OptionalParseResult constant = parser.parseOptionalInteger(offset);
    if (constant.has_value()) {
      if (failed(*constant))
        return {};
    } else {
      FailureOr<unsigned> position = mask.parseOperand(RankedTensorType::get(
          {ShapedType::kDynamic}, IntegerType::get(context, 32)));
      if (failed(position))
        return {};
      operand = *position;
    }
  }
  if (parser.parseRParen())
    return {};
  return CausalAttr::get(context, *alignment, offset, operand);
}

void CausalAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "causal(" << stringifyAlignment(getAlignment());
  if (getAlignment() == Alignment::Offset) {
    printer << " = ";
    if (getOperand() < 0)
      printer << getOffset();
    else
      printer << operands[getOperand()] << " : "
              << operands[getOperand()].getType();
  }
  printer << ")";
}

SmallVector<unsigned> CausalAttr::operandPositions() const {
  if (getOperand() < 0)
    return {};
  return {static_cast<unsigned>(getOperand())};
}

Attribute CausalAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  if (getOperand() < 0)
    return *this;
  return get(getContext(), getAlignment(), getOffset(), map(getOperand()));
}

LogicalResult
CausalAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                           TypeRange types, ArrayRef<int64_t> shape) const {
  bool hasOperand = getOperand() >= 0;
  if ((getAlignment() != Alignment::Offset && (hasOperand || getOffset())) ||
      (hasOperand && getOffset())) // C6
    return emitError()
           << "expects a constant or an operand with causal(offset) "
              "and neither with another alignment";
  if (!hasOperand)
    return success();
  return verifyPerBatchOperand(emitError, "causal(offset)", types[getOperand()],
                               shape);
}
