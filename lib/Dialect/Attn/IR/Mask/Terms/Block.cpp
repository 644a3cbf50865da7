// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block(M, N, bits = [[1, 0], ..]) and block(M, N, %bits : type): pairs in
// blocks of M queries and N keys that a bitmap allows. docs/SpecMasks.md,
// "block".
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// first * size <= index < last * size.
static Formula inBlocks(const Linear &index, int64_t first, int64_t last,
                        int64_t size) {
  return allOf({lessEqual(Linear(first * size), index),
                lessThan(index, Linear(last * size))});
}

/// One interval per run of ones.
static Formula runsOf(ArrayRef<bool> row, int64_t size) {
  SmallVector<Formula> runs;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i])
      continue;
    size_t end = i + 1;
    while (end < row.size() && row[end])
      ++end;
    runs.push_back(inBlocks(Linear::key(), i, end, size));
    i = end;
  }
  return anyOf(runs);
}

Formula BlockAttr::formula(MaskContext &context) const {
  if (getOperand())
    return opaque(getAsOpaquePointer(), "block",
                  {context.floorDivide(Linear::query(), getQueries()),
                   context.floorDivide(Linear::key(), getKeys())});
  ArrayRef<bool> bits = getBits().asArrayRef();
  int64_t rows = bits.size() / getColumns();
  auto row = [&](int64_t i) {
    return bits.slice(i * getColumns(), getColumns());
  };
  SmallVector<Formula> groups;
  for (int64_t i = 0; i < rows;) {
    int64_t end = i + 1; // rows that are alike make one group
    while (end < rows && row(end) == row(i))
      ++end;
    groups.push_back(allOf({inBlocks(Linear::query(), i, end, getQueries()),
                            runsOf(row(i), getKeys())}));
    i = end;
  }
  return anyOf(groups);
}

Value BlockAttr::emitOpaque(OpBuilder &b, Location loc, const PairPlace &place,
                            ValueRange arguments) const {
  Value bitmap = place.operands[getOperand().getPosition()];
  auto type = cast<ShapedType>(bitmap.getType());
  int64_t rank = type.getRank();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), inside;
  SmallVector<Value> at;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    at.push_back(type.getDimSize(dim) == 1 ? zero
                 : dim == rank - 3         ? place.head
                                           : place.batch);
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value size =
        isa<TensorType>(type)
            ? tensor::DimOp::create(b, loc, bitmap, rank - 2 + i).getResult()
            : memref::DimOp::create(b, loc, bitmap, rank - 2 + i).getResult();
    Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       argument, size);
    inside =
        inside ? arith::AndIOp::create(b, loc, inside, less).getResult() : less;
    at.push_back(arith::SelectOp::create(b, loc, less, argument, zero));
  }
  return arith::AndIOp::create(b, loc, inside, loadElement(b, loc, bitmap, at));
}

static ParseResult parseBits(OpAsmParser &parser, SmallVectorImpl<bool> &bits,
                             int64_t &columns) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        size_t before = bits.size();
        if (parser.parseCommaSeparatedList(
                AsmParser::Delimiter::Square, [&]() -> ParseResult {
                  int64_t bit;
                  SMLoc at = parser.getCurrentLocation();
                  if (parser.parseInteger(bit))
                    return failure();
                  bits.push_back(bit);
                  if (bit == 0 || bit == 1)
                    return success();
                  return parser.emitError(at, "expects bits of 0 or 1, but "
                                              "got ")
                         << bit;
                }))
          return failure();
        int64_t count = bits.size() - before;
        if (before && count != columns)
          return parser.emitError(loc, "expects rows of ")
                 << columns << " bits, but got " << count;
        columns = count;
        return success();
      });
}

Attribute BlockAttr::parseTerm(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  int64_t queries, keys, columns = 0;
  if (parser.parseLParen() || parser.parseInteger(queries) ||
      parser.parseComma() || parser.parseInteger(keys) || parser.parseComma())
    return {};
  OperandAttr operand;
  DenseBoolArrayAttr bitmap;
  SmallVector<bool> bits;
  if (succeeded(parser.parseOptionalKeyword("bits"))) {
    if (parser.parseEqual() || parseBits(parser, bits, columns))
      return {};
    bitmap = parser.getBuilder().getDenseBoolArrayAttr(bits);
  } else if (!(operand = parseTermOperand(mask))) {
    return {};
  }
  if (parser.parseRParen())
    return {};
  return BlockAttr::get(parser.getContext(), queries, keys, bitmap, columns,
                        operand);
}

void BlockAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "block(" << getQueries() << ", " << getKeys() << ", ";
  if (getOperand()) {
    printTermOperand(printer, getOperand(), operands);
  } else {
    printer << "bits = [";
    ArrayRef<bool> bits = getBits().asArrayRef();
    for (size_t i = 0; i < bits.size(); ++i) {
      bool first = i % getColumns() == 0;
      printer << (!first ? ", " : i ? "], [" : "[") << int(bits[i]);
    }
    printer << "]]";
  }
  printer << ")";
}

SmallVector<MaskOperand> BlockAttr::describeOperands() const {
  if (!getOperand())
    return {};
  return {{static_cast<unsigned>(getOperand().getPosition()),
           MaskOperandKind::Blocks}};
}

LogicalResult
BlockAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                          TypeRange types, ArrayRef<int64_t> shape) const {
  if (getQueries() < 1 || getKeys() < 1) // C11
    return emitError() << "expects blocks of at least 1 query and 1 key, but "
                          "got "
                       << getQueries() << " and " << getKeys();
  for (int64_t size : {getQueries(), getKeys()})
    if (failed(verifyConstant(emitError, "block", size, 1)))
      return failure();
  if (static_cast<bool>(getBits()) == static_cast<bool>(getOperand())) // C11
    return emitError() << "expects block to have either bits or an operand";
  if (getBits()) {
    if (getColumns() < 1 || getBits().empty() ||
        getBits().size() % getColumns()) // C11
      return emitError() << "expects rows of " << getColumns()
                         << " bits in block, but got " << getBits().size()
                         << " bits";
    return success();
  }
  auto type = dyn_cast<ShapedType>(types[getOperand().getPosition()]);
  int64_t rank = type && type.hasRank() ? type.getRank() : 0;
  if (rank < 2 || rank > static_cast<int64_t>(shape.size()) ||
      !type.getElementType().isInteger(1) ||
      !broadcastsTo(type.getShape().drop_back(2), shape.drop_back(2))) // C11
    return emitError() << "expects the bitmap of block to be a matrix of i1, "
                          "or one per batch entry and head, but got "
                       << types[getOperand().getPosition()];
  return success();
}
