// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "Captures.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

// --- syntax ---

static ParseResult parse(OpAsmParser &parser, Region &region,
                         UnresolvedOperands &captures,
                         SmallVectorImpl<Type> &types, bool tile) {
  SmallVector<OpAsmParser::Argument> arguments(FirstCapture);
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseLParen() ||
      parser.parseArgument(arguments[Score], /*allowType=*/true))
    return failure();
  for (int i = Batch; i <= Key; ++i) {
    if (parser.parseComma() || parser.parseArgument(arguments[i]))
      return failure();
    arguments[i].type = index;
  }
  if (parser.parseRParen())
    return failure();
  if (tile) {
    if (parser.parseKeyword("of") ||
        parser.parseOperand(captures.emplace_back()) || parser.parseComma() ||
        parser.parseOperand(captures.emplace_back()))
      return failure();
    types.append({index, index});
  }
  if (parseCaptures(parser, arguments, captures, types))
    return failure();
  return parser.parseRegion(region, arguments, /*enableNameShadowing=*/true);
}

static void print(OpAsmPrinter &printer, Region &region, OperandRange captures,
                  bool tile) {
  auto arguments = region.getArguments();
  printer << "(";
  printer.printRegionArgument(arguments[Score]);
  for (BlockArgument argument : arguments.slice(Batch, Key))
    printer << ", " << argument;
  printer << ")";
  if (tile) {
    printer << " of " << captures[0] << ", " << captures[1];
    captures = captures.drop_front(2);
  }
  printCaptures(printer, arguments.drop_front(FirstCapture), captures);
  printer << " ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

ParseResult attn::parseScoreFunction(OpAsmParser &parser, Region &region,
                                     UnresolvedOperands &captures,
                                     SmallVectorImpl<Type> &types) {
  return parse(parser, region, captures, types, /*tile=*/false);
}
void attn::printScoreFunction(OpAsmPrinter &printer, Operation *,
                              Region &region, OperandRange captures,
                              TypeRange) {
  print(printer, region, captures, /*tile=*/false);
}
ParseResult attn::parseTileScoreFunction(OpAsmParser &parser, Region &region,
                                         UnresolvedOperands &captures,
                                         SmallVectorImpl<Type> &types) {
  return parse(parser, region, captures, types, /*tile=*/true);
}
void attn::printTileScoreFunction(OpAsmPrinter &printer, Operation *,
                                  Region &region, OperandRange captures,
                                  TypeRange) {
  print(printer, region, captures, /*tile=*/true);
}

ParseResult attn::parseTileScoreFunction(
    OpAsmParser &parser, SmallVectorImpl<std::unique_ptr<Region>> &regions,
    UnresolvedOperands &captures, SmallVectorImpl<Type> &types) {
  Region &region = *regions.emplace_back(std::make_unique<Region>());
  return parse(parser, region, captures, types, /*tile=*/true);
}
void attn::printTileScoreFunction(OpAsmPrinter &printer, Operation *,
                                  MutableArrayRef<Region> regions,
                                  OperandRange captures, TypeRange) {
  print(printer, regions.front(), captures, /*tile=*/true);
}

Region *attn::scoreFunctionOf(Operation *op) {
  bool has = op->getNumRegions() && !op->getRegion(0).empty();
  return has ? &op->getRegion(0) : nullptr;
}

// --- verification; numbers are those of attn.score_mod ---

bool attn::readsCapture(Operation *op) {
  if (!isa<tensor::ExtractOp, memref::LoadOp>(op))
    return false;
  auto source = dyn_cast<BlockArgument>(op->getOperand(0));
  return source && source.getOwner() == op->getBlock();
}

bool attn::readsLearned(Operation *op, function_ref<bool(unsigned)> isLearned) {
  return readsCapture(op) && isa<FloatType>(op->getResult(0).getType()) &&
         isLearned(cast<BlockArgument>(op->getOperand(0)).getArgNumber() -
                   FirstCapture);
}

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

static LogicalResult verifyBody(Operation *op, Operation &inner) {
  StringRef name = inner.getName().getStringRef();
  if (readsCapture(&inner))
    return success();
  if (inner.getNumRegions()) // C5
    return op->emitOpError() << "expects a score function without branches "
                                "(arith.select stands for them), but it has '"
                             << name << "'";
  if (!isMemoryEffectFree(&inner)) // C5
    return op->emitOpError()
           << "expects a score function without side effects, but it has '"
           << name << "'";
  bool isArithmetic = OpTrait::hasElementwiseMappableTraits(&inner) ||
                      inner.hasTrait<OpTrait::ConstantLike>();
  if (!isArithmetic || !llvm::all_of(inner.getOperandTypes(), isScalar) ||
      !llvm::all_of(inner.getResultTypes(), isScalar)) // C6
    return op->emitOpError()
           << "expects a score function of arith and math ops on scalars and "
              "tensor.extract of what it captures, but it has '"
           << name << "'";
  if (!isSpeculatable(&inner)) // C7
    return op->emitOpError() << "expects integers in a score function to be "
                                "divided by constants other than 0 (and -1), "
                                "but it has '"
                             << name << "'";
  return success();
}

static LogicalResult verifyCapture(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  bool isArray = isa<RankedTensorType, MemRefType>(type) &&
                 isScalar(shaped.getElementType());
  if (isArray && llvm::is_contained(shaped.getShape(), 0))
    return op->emitOpError() << "expects a score function to capture tensors "
                                "with an element, but got "
                             << type;
  if (isArray || isScalar(type))
    return success();
  return op->emitOpError() << "expects a score function to capture tensors and "
                              "numbers, but got "
                           << type;
}

LogicalResult attn::verifyScoreFunction(Operation *op, TypeRange captures,
                                        Type score, unsigned derivatives) {
  Region *function = scoreFunctionOf(op);
  if (!function)
    return captures.empty()
               ? success()
               : op->emitOpError(
                     "expects a score function where values are captured");
  Region &region = *function;
  Type index = IndexType::get(op->getContext());
  SmallVector<Type> expected{score, index, index, index, index};
  llvm::append_range(expected, captures);
  if (!region.hasOneBlock() ||
      !llvm::equal(region.getArgumentTypes(), expected)) // C3
    return op->emitOpError()
           << "expects a score function of one block with arguments ("
           << expected << "), but got (" << region.getArgumentTypes() << ")";
  for (Type type : captures)
    if (failed(verifyCapture(op, type))) // C4
      return failure();
  Block &block = region.front();
  if (!block.mightHaveTerminator()) // C8
    return op->emitOpError() << "expects a score function that ends with "
                                "attn.yield of a value of "
                             << score;
  for (Operation &inner : block.without_terminator())
    if (failed(verifyBody(op, inner)))
      return failure();
  Operation *end = block.getTerminator();
  SmallVector<Type> yielded(1 + derivatives, score);
  if (!isa<YieldOp>(end) || end->getOperandTypes() != yielded) // C8
    return op->emitOpError()
           << "expects a score function that ends with "
              "attn.yield of a value of "
           << score << (derivatives ? " and its derivatives" : "")
           << ", but got '" << end->getName() << "' of ("
           << end->getOperandTypes() << ")";
  return success();
}
