// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// chunked(N, position): keys of the query's own chunk. docs/Spec.md,
// "chunked".
#include "attn/Dialect/Attn/IR/MaskTerms.h"

using namespace mlir;
using namespace attn;

Formula ChunkedAttr::formula(MaskContext &context) const {
  Linear own = standsOn(context, getPosition());
  return isZero(context.floorDivide(own, getSize()) -
                context.floorDivide(Linear::key(), getSize()));
}

Attribute attn::parseChunked(MaskOperandParser &mask) {
  int64_t size;
  if (mask.parser.parseLParen() || mask.parser.parseInteger(size))
    return {};
  FailureOr<PositionAttr> position = parsePositionAndParen(mask);
  if (failed(position))
    return {};
  return ChunkedAttr::get(mask.parser.getContext(), size, *position);
}

void ChunkedAttr::printTerm(OpAsmPrinter &printer,
                            OperandRange operands) const {
  printer << "chunked(" << getSize();
  printPosition(printer, getPosition(), operands);
  printer << ")";
}

LogicalResult
ChunkedAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                            TypeRange types, ArrayRef<int64_t> shape) const {
  if (getSize() < 1) // C10
    return emitError() << "expects chunked of at least 1, but got "
                       << getSize();
  return verifyPosition(emitError, "chunked", getPosition(), types, shape);
}
