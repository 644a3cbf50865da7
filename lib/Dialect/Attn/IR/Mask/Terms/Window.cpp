// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// window(left = N, right = M, position): keys near the query's own position.
// docs/SpecMasks.md, "window".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula WindowAttr::formula(MaskContext &context) const {
  Linear own = standsOn(context, getPosition());
  SmallVector<Formula> sides;
  if (getLeft())
    sides.push_back(lessEqual(own - numberValue(context, getLeft(), "left"),
                              Linear::key()));
  if (getRight())
    sides.push_back(lessEqual(Linear::key(),
                              own + numberValue(context, getRight(), "right")));
  return allOf(sides);
}

Attribute WindowAttr::parseTerm(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  if (parser.parseLParen())
    return {};
  auto parseSide = [&](StringRef word, Attribute &side) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(word)))
      return success();
    return failure(parser.parseEqual() || !(side = parseNumber(mask)));
  };
  Attribute left, right;
  SMLoc loc = parser.getCurrentLocation();
  if (parseSide("left", left))
    return {};
  // The comma behind left may also lead on to the position.
  bool comma = left && succeeded(parser.parseOptionalComma());
  if ((!left || comma) && parseSide("right", right))
    return {};
  if (!left && !right) {
    parser.emitError(loc, "expects left or right after 'window('");
    return {};
  }
  FailureOr<PositionAttr> position =
      parsePositionAndParen(mask, /*afterComma=*/comma && !right);
  if (failed(position))
    return {};
  return WindowAttr::get(parser.getContext(), left, right, *position);
}

void WindowAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "window(";
  if (getLeft()) {
    printer << "left = ";
    printNumber(printer, getLeft(), operands);
  }
  if (getRight()) {
    printer << (getLeft() ? ", " : "") << "right = ";
    printNumber(printer, getRight(), operands);
  }
  printPosition(printer, getPosition(), operands);
  printer << ")";
}

LogicalResult
WindowAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                           TypeRange types, ArrayRef<int64_t> shape) const {
  if (!getLeft() && !getRight()) // C9
    return emitError() << "expects window to have left or right";
  for (Attribute side : {getLeft(), getRight()})
    if (side &&
        failed(verifyNumber(
            emitError, side == getLeft() ? "window(left)" : "window(right)",
            side, 0, types, shape))) // C3, C9
      return failure();
  return verifyPosition(emitError, "window", getPosition(), types, shape);
}
