// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The predicate of one batch entry and head.
//
// Steps that depend on batch entry, head and captured tensors only are computed
// where the item begins, once; what the other steps read of them becomes a
// number among the operands, which the analysis can use.
#include "ItemPredicate.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {
/// The steps of a predicate that differ between the pairs of an item.
struct ProgramSplitter {
  ProgramAttr program;
  SmallVector<bool> uniform;
  SmallVector<Value> values;    ///< of uniform values, in the item
  SmallVector<int64_t> numbers; ///< in the new program; -1 if not there
  SmallVector<Type> inputs{};
  SmallVector<Value> inputValues{};
  SmallVector<StepAttr> steps{};

  int64_t firstStep() const {
    return ProgramValue::FirstInput + program.getInputs().size();
  }
  Type typeOf(int64_t value) const {
    if (value < ProgramValue::FirstInput)
      return IndexType::get(program.getContext());
    return value < firstStep()
               ? program.getInputs()[value - ProgramValue::FirstInput]
               : program.getSteps()[value - firstStep()].getType();
  }
  bool isConstant(int64_t value) const {
    return value >= firstStep() &&
           program.getSteps()[value - firstStep()].getOperands().empty();
  }
};
} // namespace

/// The number in the new program of a value that a varying step reads.
static int64_t numberOf(ProgramSplitter &splitter, int64_t value) {
  int64_t &number = splitter.numbers[value];
  if (number >= 0 || splitter.isConstant(value))
    return number;
  splitter.inputs.push_back(splitter.typeOf(value));
  splitter.inputValues.push_back(splitter.values[value]);
  number = ProgramValue::FirstInput + splitter.inputs.size() - 1;
  return number;
}

/// Inputs first: their numbers come before those of all steps.
static void collectInputs(ProgramSplitter &splitter) {
  for (auto [i, step] : llvm::enumerate(splitter.program.getSteps()))
    if (!splitter.uniform[splitter.firstStep() + i])
      for (int64_t value : step.getOperands().asArrayRef())
        if (splitter.uniform[value])
          numberOf(splitter, value);
}

static void collectSteps(ProgramSplitter &splitter) {
  int64_t next = ProgramValue::FirstInput + splitter.inputs.size();
  for (auto [i, step] : llvm::enumerate(splitter.program.getSteps())) {
    int64_t value = splitter.firstStep() + i;
    if (splitter.uniform[value] && !splitter.isConstant(value))
      continue;
    SmallVector<int64_t> operands;
    for (int64_t operand : step.getOperands().asArrayRef())
      operands.push_back(splitter.numbers[operand]);
    MLIRContext *context = step.getContext();
    splitter.steps.push_back(StepAttr::get(
        context, step.getName(), DenseI64ArrayAttr::get(context, operands),
        step.getAttributes(), step.getType()));
    splitter.numbers[value] = next++;
  }
}

/// Reading outside of a captured tensor, the first operand, gives its nearest
/// element.
static void clampIndices(OpBuilder &b, Location loc,
                         MutableArrayRef<Value> operands) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [dim, index] : llvm::enumerate(operands.drop_front())) {
    Value size = tensor::DimOp::create(b, loc, operands.front(), dim);
    Value last = arith::SubIOp::create(b, loc, size, one);
    index = arith::MinSIOp::create(b, loc, index, last);
    index = arith::MaxSIOp::create(b, loc, index, zero);
  }
}

/// Whether the analysis reads all of the program, of inputs that are operands
/// from the first on.
static bool isLinear(ProgramAttr program) {
  SmallVector<OperandAttr> operands;
  for (size_t i = 0; i < program.getInputs().size(); ++i)
    operands.push_back(OperandAttr::get(program.getContext(), i));
  MaskContext context;
  SmallVector<ProgramRefusal> refusals;
  programFormula(context, program, operands, /*term=*/nullptr, refusals);
  return refusals.empty();
}

/// May the integer be larger than one of 32 bits?
static bool isWide(Value integer, const ItemPlace &place) {
  if (integer == place.batch || integer == place.head)
    return false;
  if (auto cast = integer.getDefiningOp<arith::IndexCastOp>())
    integer = cast.getIn();
  Type type = integer.getType();
  return type.isIndex() || type.isInteger(64);
}

ItemPredicate attn::predicateOfItem(OpBuilder &b, Location loc,
                                    const ItemPlace &place, ProgramAttr program,
                                    ValueRange captures) {
  ProgramSplitter splitter{program, uniformValues(program), {}, {}};
  splitter.values = {place.batch, place.head, Value(), Value()};
  llvm::append_range(splitter.values, captures);
  for (auto [i, step] : llvm::enumerate(program.getSteps())) {
    SmallVector<Value> read;
    for (int64_t value : step.getOperands().asArrayRef())
      read.push_back(splitter.values[value]);
    bool isUniform = splitter.uniform[splitter.firstStep() + i];
    if (isUniform && step.getName() == tensor::ExtractOp::getOperationName())
      clampIndices(b, loc, read);
    splitter.values.push_back(isUniform ? emitStep(b, loc, step, read)
                                        : Value());
  }
  splitter.numbers.assign(splitter.values.size(), -1);
  splitter.numbers[ProgramValue::Query] = ProgramValue::Query;
  splitter.numbers[ProgramValue::Key] = ProgramValue::Key;
  int64_t answer = splitter.values.size() - 1;
  collectInputs(splitter);
  if (splitter.uniform[answer]) // all pairs or none
    numberOf(splitter, answer);
  collectSteps(splitter);
  if (splitter.uniform[answer]) {
    int64_t number = splitter.numbers[answer];
    splitter.steps.push_back(StepAttr::get(
        b.getContext(), b.getStringAttr(arith::AndIOp::getOperationName()),
        b.getDenseI64ArrayAttr({number, number}), b.getDictionaryAttr({}),
        b.getI1Type()));
  }
  ItemPredicate result{
      ProgramAttr::get(b.getContext(), splitter.inputs, splitter.steps), {}};
  bool saturates = isLinear(result.program);
  for (Value value : splitter.inputValues)
    result.operands.push_back({value, saturates &&
                                          value.getType().isIntOrIndex() &&
                                          isWide(value, place)});
  return result;
}
