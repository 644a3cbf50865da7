// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// predicate(#attn.program<..>, %x : type, ..): pairs for which a program
// answers true; what attn-normalize makes of an attn.mask_fn.
// docs/SpecMasks.md, "predicate".
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

Formula PredicateAttr::formula(MaskContext &context) const {
  SmallVector<ProgramRefusal> refusals;
  return programFormula(context, getProgram(), getOperands(),
                        getAsOpaquePointer(), refusals);
}

SmallVector<bool> attn::uniformValues(ProgramAttr program) {
  SmallVector<bool> uniform(
      ProgramValue::FirstInput + program.getInputs().size(), true);
  uniform[ProgramValue::Query] = uniform[ProgramValue::Key] = false;
  for (StepAttr step : program.getSteps())
    uniform.push_back(
        llvm::all_of(step.getOperands().asArrayRef(),
                     [&](int64_t value) { return uniform[value]; }));
  return uniform;
}

Value attn::emitStep(OpBuilder &b, Location loc, StepAttr step,
                     ValueRange operands) {
  bool onMemRef = llvm::any_of(operands.getTypes(), llvm::IsaPred<MemRefType>);
  if (onMemRef && step.getName() == tensor::ExtractOp::getOperationName())
    return memref::LoadOp::create(b, loc, operands.front(),
                                  operands.drop_front());
  if (onMemRef && step.getName() == tensor::DimOp::getOperationName())
    return memref::DimOp::create(b, loc, operands[0], operands[1]);
  OperationState state(loc, step.getName().getValue(), operands, step.getType(),
                       step.getAttributes().getValue());
  return b.create(state)->getResult(0);
}

/// Integers come as index.
static Value asInput(OpBuilder &b, Location loc, Value operand, Type type) {
  if (operand.getType() == type || isa<ShapedType>(operand.getType()))
    return operand;
  if (!type.isInteger(1))
    return arith::IndexCastOp::create(b, loc, type, operand);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, operand, zero);
}

Value PredicateAttr::emitOpaque(OpBuilder &b, Location loc,
                                const PairPlace &place,
                                ValueRange arguments) const {
  SmallVector<Value> values{place.batch, place.head, arguments[0],
                            arguments[1]};
  for (auto [type, operand] :
       llvm::zip(getProgram().getInputs(), getOperands()))
    values.push_back(
        asInput(b, loc, place.operands[operand.getPosition()], type));
  for (StepAttr step : getProgram().getSteps()) {
    SmallVector<Value> operands;
    for (int64_t value : step.getOperands().asArrayRef())
      operands.push_back(values[value]);
    values.push_back(emitStep(b, loc, step, operands));
  }
  return values.back();
}

Attribute PredicateAttr::parseTerm(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  ProgramAttr program;
  if (parser.parseLParen() || parser.parseAttribute(program))
    return {};
  SmallVector<OperandAttr> operands;
  while (succeeded(parser.parseOptionalComma())) {
    operands.push_back(parseTermOperand(mask));
    if (!operands.back())
      return {};
  }
  if (parser.parseRParen())
    return {};
  return PredicateAttr::get(parser.getContext(), program, operands);
}

void PredicateAttr::printTerm(OpAsmPrinter &printer,
                              OperandRange operands) const {
  printer << "predicate(" << getProgram();
  for (OperandAttr operand : getOperands()) {
    printer << ", ";
    printTermOperand(printer, operand, operands);
  }
  printer << ")";
}

SmallVector<MaskOperand> PredicateAttr::describeOperands() const {
  return llvm::map_to_vector(getOperands(), [](OperandAttr operand) {
    return MaskOperand{static_cast<unsigned>(operand.getPosition()),
                       MaskOperandKind::Captured};
  });
}

LogicalResult
PredicateAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                              TypeRange types, ArrayRef<int64_t>) const {
  ProgramAttr program = getProgram();
  if (program.getInputs().size() != getOperands().size()) // C14
    return emitError() << "expects predicate to have "
                       << program.getInputs().size() << " operands, but got "
                       << getOperands().size();
  for (auto [input, operand] : llvm::zip(program.getInputs(), getOperands())) {
    Type type = types[operand.getPosition()];
    auto shaped = dyn_cast<ShapedType>(type),
         wanted = dyn_cast<ShapedType>(input);
    bool fits =
        shaped && wanted
            ? shaped.getElementType() == wanted.getElementType() &&
                  shaped.getShape() == wanted.getShape()
            : type == input || (type.isIndex() && input.isIntOrIndex()); // C14
    if (!fits)
      return emitError() << "expects an operand of predicate to be " << input
                         << ", but got " << type;
  }
  int64_t count = ProgramValue::FirstInput + getOperands().size();
  for (StepAttr step : program.getSteps()) {
    if (!RegisteredOperationName::lookup(step.getName(), getContext())) // C14
      return emitError() << "expects a step of predicate to be an op, but got "
                         << step.getName();
    auto compares = step.getAttributes().getAs<IntegerAttr>("predicate");
    if (compares && step.getName() == arith::CmpIOp::getOperationName() &&
        !arith::symbolizeCmpIPredicate(compares.getInt())) // C14
      return emitError() << "expects a comparison of predicate to be one of "
                            "arith.cmpi's, but got "
                         << compares.getInt();
    for (int64_t value : step.getOperands().asArrayRef())
      if (value < 0 || value >= count) // C14
        return emitError() << "expects a step of predicate to read one of "
                           << count << " values, but got " << value;
    ++count;
  }
  if (program.getSteps().empty() ||
      !program.getSteps().back().getType().isInteger(1)) // C14
    return emitError() << "expects the last step of predicate to give an i1";
  return success();
}
