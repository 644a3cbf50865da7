// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// chunked(N, position): keys of the query's own chunk. docs/SpecMasks.md,
// "chunked". In tile ops chunks may begin at another key than 0:
// chunked(N, from %k : index, position).
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula ChunkedAttr::formula(MaskContext &context) const {
  Linear own = standsOn(context, getPosition()), key = Linear::key();
  Linear origin(0);
  if (getOrigin())
    origin = context.operandSymbol(getOrigin().getPosition(), "origin");
  else if (getPosition() && getPosition().getInDocument())
    origin =
        context.sharedSymbol("document_first_key", MaskContext::Role::FirstKey);
  return isZero(context.floorDivide(own - origin, getSize()) -
                context.floorDivide(key - origin, getSize()));
}

Attribute ChunkedAttr::parseTerm(MaskOperandParser &mask) {
  int64_t size;
  if (mask.parser.parseLParen() || mask.parser.parseInteger(size))
    return {};
  OperandAttr origin;
  bool comma = succeeded(mask.parser.parseOptionalComma());
  if (comma && succeeded(mask.parser.parseOptionalKeyword("from"))) {
    if (!(origin = parseTermOperand(mask)))
      return {};
    comma = false;
  }
  FailureOr<PositionAttr> position =
      parsePositionAndParen(mask, /*afterComma=*/comma);
  if (failed(position))
    return {};
  return ChunkedAttr::get(mask.parser.getContext(), size, *position, origin);
}

void ChunkedAttr::printTerm(OpAsmPrinter &printer,
                            OperandRange operands) const {
  printer << "chunked(" << getSize();
  if (getOrigin()) {
    printer << ", from ";
    printTermOperand(printer, getOrigin(), operands);
  }
  printPosition(printer, getPosition(), operands);
  printer << ")";
}

SmallVector<MaskOperand> ChunkedAttr::describeOperands() const {
  SmallVector<MaskOperand> operands = numbersIn(*this);
  for (MaskOperand &operand : operands)
    if (getOrigin() && operand.position == getOrigin().getPosition())
      operand.kind = MaskOperandKind::OfRow;
  return operands;
}

LogicalResult
ChunkedAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                            TypeRange types, ArrayRef<int64_t> shape) const {
  if (failed(verifyConstant(emitError, "chunked", getSize(), 1))) // C10
    return failure();
  PositionAttr at = getPosition();
  if (getOrigin() && at && at.getInDocument()) { // C16
    if (failed(verifyIntegerRow(emitError, "chunked",
                                types[getOrigin().getPosition()],
                                shape[shape.size() - 2], shape)))
      return failure();
  } else if (getOrigin() &&
             !types[getOrigin().getPosition()].isIndex()) { // C16
    return emitError() << "expects chunked to count from an operand of type "
                          "index, but got "
                       << types[getOrigin().getPosition()];
  }
  return verifyPosition(emitError, "chunked", getPosition(), types, shape);
}
