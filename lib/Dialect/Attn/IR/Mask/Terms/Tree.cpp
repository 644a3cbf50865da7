// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tree(T, %bits : type): draft tokens that see their ancestors.
// docs/SpecMasks.md, "tree".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

Formula TreeAttr::formula(MaskContext &context) const {
  Linear draft = Linear::query() - Linear::queryLength() + Linear(getTokens());
  Linear first = context.liveKeys() - Linear(getTokens());
  Linear bit = Linear::key() - first;
  Formula sees = opaque(getAsOpaquePointer(), "tree", {draft, bit});
  return anyOf({lessThan(Linear::key(), first),
                allOf({isNonNegative(draft), isNonNegative(bit),
                       lessThan(Linear::key(), context.liveKeys()), sees})});
}

Value TreeAttr::emitOpaque(OpBuilder &b, Location loc, const PairPlace &place,
                           ValueRange arguments) const {
  Value last = arith::ConstantIndexOp::create(b, loc, getTokens() - 1);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  // The rest of the formula excludes what lies outside.
  auto inside = [&](Value i) -> Value {
    Value most = arith::MinSIOp::create(b, loc, i, last);
    return arith::MaxSIOp::create(b, loc, most, zero);
  };
  Value bits = loadFromRow(b, loc, place, getOperand(), inside(arguments[0]));
  Value moved = arith::ShRSIOp::create(b, loc, bits, inside(arguments[1]));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value bit = arith::AndIOp::create(b, loc, moved, one);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bit, one);
}

Attribute TreeAttr::parseTerm(MaskOperandParser &mask) {
  int64_t tokens;
  if (mask.parser.parseLParen() || mask.parser.parseInteger(tokens) ||
      mask.parser.parseComma())
    return {};
  OperandAttr operand = parseTermOperand(mask);
  if (!operand || mask.parser.parseRParen())
    return {};
  return TreeAttr::get(mask.parser.getContext(), tokens, operand);
}

void TreeAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "tree(" << getTokens() << ", ";
  printTermOperand(printer, getOperand(), operands);
  printer << ")";
}

LogicalResult
TreeAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                         TypeRange types, ArrayRef<int64_t> shape) const {
  Type type = types[getOperand().getPosition()];
  auto row = dyn_cast<ShapedType>(type);
  int64_t bits = row && row.getElementType().isInteger(32) ? 32 : 64;
  if (getTokens() < 1 || getTokens() > bits) // C12
    return emitError() << "expects tree of 1 to " << bits << " tokens, but got "
                       << getTokens();
  return verifyMaskOperands(emitError, "tree", describeOperands(), types,
                            shape); // C12
}

SmallVector<MaskOperand> TreeAttr::describeOperands() const {
  return {{static_cast<unsigned>(getOperand().getPosition()),
           MaskOperandKind::Row, MaskRow::Count, getTokens()}};
}
