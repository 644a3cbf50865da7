// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// causal(top_left | bottom_right | offset = N | offset = %x : type), the first
// two maybe `in document`: keys up to the query's own position.
// docs/SpecMasks.md, "causal".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula CausalAttr::formula(MaskContext &context) const {
  if (getAlignment() != Alignment::Offset)
    return lessEqual(
        Linear::key(),
        standsOn(context, PositionAttr::get(getContext(), getAlignment(),
                                            Attribute(), getInDocument())));
  Linear start = getOperand() < 0
                     ? Linear(getOffset())
                     : context.operandSymbol(getOperand(), "offset",
                                             /*nonNegative=*/false);
  return lessEqual(Linear::key(), Linear::query() + start);
}

Attribute CausalAttr::parseTerm(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  MLIRContext *context = parser.getContext();
  if (parser.parseLParen())
    return {};
  FailureOr<AlignmentWords> words = parseAlignment(mask, " after 'causal('");
  if (failed(words))
    return {};
  int64_t offset = 0, operand = -1;
  if (words->alignment == Alignment::Offset) {
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
  if (words->inDocument && succeeded(parser.parseOptionalEqual())) {
    OperandAttr table = parseTermOperand(mask);
    if (!table)
      return {};
    operand = table.getPosition();
  }
  if (parser.parseRParen())
    return {};
  return CausalAttr::get(context, words->alignment, offset, operand,
                         words->inDocument);
}

void CausalAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "causal(";
  printAlignment(printer, {getAlignment(), getInDocument()});
  if (getAlignment() == Alignment::Offset || getOperand() >= 0) {
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
  return get(getContext(), getAlignment(), getOffset(), map(getOperand()),
             getInDocument());
}

SmallVector<MaskOperand> CausalAttr::describeOperands() const {
  MaskOperandKind kind =
      getInDocument() ? MaskOperandKind::OfRow : MaskOperandKind::Number;
  return llvm::map_to_vector(operandPositions(), [&](unsigned position) {
    return MaskOperand{position, kind};
  });
}

LogicalResult
CausalAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                           TypeRange types, ArrayRef<int64_t> shape) const {
  bool hasOperand = getOperand() >= 0;
  if (hasOperand && getInDocument()) // C6
    return verifyIntegerRow(emitError, "causal", types[getOperand()],
                            shape[shape.size() - 2], shape);
  if ((getAlignment() != Alignment::Offset && (hasOperand || getOffset())) ||
      (hasOperand && getOffset())) // C6
    return emitError()
           << "expects a constant or an operand with causal(offset) "
              "and neither with another alignment";
  if (getOffset())
    return verifyConstant(emitError, "causal(offset)", getOffset(),
                          std::numeric_limits<int64_t>::min());
  if (!hasOperand)
    return success();
  return verifyPerBatchOperand(emitError, "causal(offset)", types[getOperand()],
                               shape);
}
