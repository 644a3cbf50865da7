// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %allowed : tensor<..xi1>: pairs that a boolean tensor allows. The analysis
// knows nothing of its content, so its tiles are tested pair by pair.
// docs/SpecMasks.md, "boolean operand".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

Formula AllowedAttr::formula(MaskContext &) const {
  return opaque(getAsOpaquePointer(), "allowed",
                {Linear::query(), Linear::key()});
}

Value AllowedAttr::emitOpaque(OpBuilder &b, Location loc,
                              const PairPlace &place,
                              ValueRange arguments) const {
  Value matrix = place.operands[getOperand()];
  auto type = cast<ShapedType>(matrix.getType());
  Value pair[] = {place.batch, place.head, arguments[0], arguments[1]};
  SmallVector<Value> at;
  for (auto [size, index] :
       llvm::zip(type.getShape(), ArrayRef(pair).take_back(type.getRank())))
    at.push_back(size == 1 ? arith::ConstantIndexOp::create(b, loc, 0) : index);
  return loadElement(b, loc, matrix, at);
}

void AllowedAttr::printTerm(OpAsmPrinter &printer,
                            OperandRange operands) const {
  printer << operands[getOperand()] << " : "
          << operands[getOperand()].getType();
}

SmallVector<unsigned> AllowedAttr::operandPositions() const {
  return {static_cast<unsigned>(getOperand())};
}

Attribute AllowedAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  return get(getContext(), map(getOperand()));
}

SmallVector<MaskOperand> AllowedAttr::describeOperands() const {
  return {{static_cast<unsigned>(getOperand()), MaskOperandKind::Pairs}};
}

LogicalResult
AllowedAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                            TypeRange types, ArrayRef<int64_t> shape) const {
  auto type = dyn_cast<ShapedType>(types[getOperand()]);
  if (!type || !type.hasRank() || !type.getElementType().isInteger(1)) // C4
    return emitError()
           << "expects a boolean mask to be a tensor of i1, but got "
           << types[getOperand()];
  if (!broadcastsTo(type.getShape(), shape)) // C4
    return emitError() << "expects the boolean mask to broadcast to the scores "
                          "from the right, but got "
                       << types[getOperand()];
  return success();
}
