// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn.mask_fn: syntax, verifier, and its region as a program. Numbers are
// those of docs/Spec.md.
#include "Captures.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

/// Batch entry, head, query, key.
static constexpr unsigned numIndices = ProgramValue::FirstInput;

// --- syntax: (%b, %h, %q, %k) with (%t = %table : type, ..) { .. } ---

ParseResult
attn::parsePredicate(OpAsmParser &parser, Region &region,
                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures,
                     SmallVectorImpl<Type> &types) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  if (arguments.size() != numIndices)
    return parser.emitError(loc, "expects (%b, %h, %q, %k), but got ")
           << arguments.size() << " arguments";
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  if (parseCaptures(parser, arguments, captures, types))
    return failure();
  return parser.parseRegion(region, arguments, /*enableNameShadowing=*/true);
}

void attn::printPredicate(OpAsmPrinter &printer, Operation *, Region &region,
                          OperandRange captures, TypeRange) {
  auto arguments = region.getArguments();
  printer << "(";
  llvm::interleaveComma(arguments.take_front(numIndices), printer);
  printer << ")";
  printCaptures(printer, arguments.drop_front(numIndices), captures);
  printer << " ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

// --- verification ---

static LogicalResult verifyStep(MaskFnOp op, Operation &inner) {
  StringRef name = inner.getName().getStringRef();
  if (isa<tensor::ExtractOp>(inner) && isa<BlockArgument>(inner.getOperand(0)))
    return success();
  if (inner.getNumRegions() || !isMemoryEffectFree(&inner)) // C4
    return op.emitOpError() << "expects a predicate without branches and side "
                               "effects, but it has '"
                            << name << "'";
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  bool isArithmetic = OpTrait::hasElementwiseMappableTraits(&inner) ||
                      inner.hasTrait<OpTrait::ConstantLike>();
  if (!isArithmetic || inner.getNumResults() != 1 ||
      !llvm::all_of(inner.getOperandTypes(), isScalar) ||
      !llvm::all_of(inner.getResultTypes(), isScalar)) // C5
    return op.emitOpError() << "expects a predicate of arith and math ops on "
                               "numbers and tensor.extract of what it "
                               "captures, but it has '"
                            << name << "'";
  if (!isSpeculatable(&inner)) // C6
    return op.emitOpError() << "expects integers in a predicate to be divided "
                               "by constants other than 0 (and -1), but it "
                               "has '"
                            << name << "'";
  return success();
}

LogicalResult MaskFnOp::verify() {
  int64_t rank = getScores().getType().getRank();
  if (rank < 2 || rank > 4) // C1
    return emitOpError() << "expects the scores to have rank 2, 3 or 4, but "
                            "got "
                         << getScores().getType();
  SmallVector<Type> expected(numIndices, IndexType::get(getContext()));
  llvm::append_range(expected, getCaptures().getTypes());
  if (!getPredicate().hasOneBlock() ||
      !llvm::equal(getPredicate().getArgumentTypes(), expected)) // C2
    return emitOpError() << "expects a predicate of one block with arguments ("
                         << expected << "), but got ("
                         << getPredicate().getArgumentTypes() << ")";
  for (Type type : getCaptures().getTypes()) // C3
    if (!cast<ShapedType>(type).getElementType().isIntOrIndexOrFloat())
      return emitOpError()
             << "expects a predicate to capture tensors of numbers, but got "
             << type;
  Block &block = getPredicate().front();
  YieldOp end;
  if (block.mightHaveTerminator()) {
    for (Operation &inner : block.without_terminator())
      if (failed(verifyStep(*this, inner)))
        return failure();
    end = dyn_cast<YieldOp>(block.getTerminator());
  }
  if (!end || end->getNumOperands() != 1 ||
      !end->getOperand(0).getType().isInteger(1)) // C7
    return emitOpError() << "expects a predicate that ends with attn.yield of "
                            "an i1";
  return success(); // C8 is the trait AllTypesMatch.
}

// --- as a program ---

ProgramAttr attn::programOf(MaskFnOp op, SmallVectorImpl<Operation *> &ops,
                            SmallVectorImpl<unsigned> &captures) {
  Block &block = op.getPredicate().front();
  Value answer = block.getTerminator()->getOperand(0);
  // What the answer depends on; later ops stand behind the ones they read.
  llvm::SmallPtrSet<Value, 16> needed{answer};
  for (Operation &inner : llvm::reverse(block.without_terminator()))
    if (needed.contains(inner.getResult(0)))
      needed.insert_range(inner.getOperands());
  DenseMap<Value, int64_t> numbers;
  SmallVector<Type> inputs;
  for (BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (i >= numIndices && !needed.contains(argument))
      continue;
    int64_t number = numbers.size();
    numbers[argument] = number;
    if (i < numIndices)
      continue;
    inputs.push_back(argument.getType());
    captures.push_back(i - numIndices);
  }
  MLIRContext *context = op.getContext();
  SmallVector<StepAttr> steps;
  for (Operation &inner : block.without_terminator()) {
    if (!needed.contains(inner.getResult(0)))
      continue;
    SmallVector<int64_t> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(numbers.lookup(operand));
    int64_t number = numbers.size();
    numbers[inner.getResult(0)] = number;
    steps.push_back(StepAttr::get(context, inner.getName().getIdentifier(),
                                  DenseI64ArrayAttr::get(context, operands),
                                  inner.getAttrDictionary(),
                                  inner.getResult(0).getType()));
    ops.push_back(&inner);
  }
  return ProgramAttr::get(context, inputs, steps);
}
