// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What terms have in common: numbers, positions, and operands that they read.
#include "attn/Dialect/Attn/IR/Mask/MaskOperands.h"
#include "Checks.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace attn;

SmallVector<unsigned> attn::operandPositionsIn(Attribute term) {
  SmallVector<unsigned> positions;
  term.walk([&](OperandAttr operand) {
    positions.push_back(static_cast<unsigned>(operand.getPosition()));
  });
  return positions;
}

SmallVector<MaskOperand> attn::numbersIn(Attribute term) {
  llvm::SmallDenseSet<int64_t> ofRows;
  term.walk([&](PositionAttr position) {
    if (position.getInDocument())
      if (auto table = dyn_cast_or_null<OperandAttr>(position.getOffset()))
        ofRows.insert(table.getPosition());
  });
  return llvm::map_to_vector(operandPositionsIn(term), [&](unsigned position) {
    return MaskOperand{position, ofRows.contains(position)
                                     ? MaskOperandKind::OfRow
                                     : MaskOperandKind::Number};
  });
}

LogicalResult
attn::verifyMaskOperands(function_ref<InFlightDiagnostic()> emitError,
                         StringRef term, ArrayRef<MaskOperand> operands,
                         TypeRange types, ArrayRef<int64_t> scoresShape) {
  for (auto [position, kind, row, count] : operands) {
    if (kind == MaskOperandKind::Number &&
        failed(verifyPerBatchOperand(emitError, term, types[position],
                                     scoresShape)))
      return failure();
    int64_t size = row == MaskRow::Query   ? scoresShape[scoresShape.size() - 2]
                   : row == MaskRow::Key   ? scoresShape.back()
                   : row == MaskRow::Count ? count
                                           : ShapedType::kDynamic;
    if (kind == MaskOperandKind::Row &&
        failed(verifyIntegerRow(emitError, term, types[position], size,
                                scoresShape)))
      return failure();
  }
  return success();
}

Attribute attn::mapOperandsIn(Attribute term,
                              function_ref<unsigned(unsigned)> map) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](OperandAttr operand) -> std::optional<Attribute> {
    return OperandAttr::get(operand.getContext(), map(operand.getPosition()));
  });
  return replacer.replace(term);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

OperandAttr attn::parseTermOperand(MaskOperandParser &mask) {
  FailureOr<unsigned> position = mask.parseOperand();
  return succeeded(position)
             ? OperandAttr::get(mask.parser.getContext(), *position)
             : OperandAttr();
}

void attn::printTermOperand(OpAsmPrinter &printer, OperandAttr operand,
                            OperandRange operands) {
  Value value = operands[operand.getPosition()];
  printer << value << " : " << value.getType();
}

LogicalResult
attn::verifyIntegerRow(function_ref<InFlightDiagnostic()> emitError,
                       StringRef term, Type type, int64_t size,
                       ArrayRef<int64_t> scoresShape) {
  auto shaped = dyn_cast<ShapedType>(type);
  int64_t highest = scoresShape.size() > 2 ? 2 : 1;
  if (!shaped || !shaped.hasRank() || shaped.getRank() < 1 ||
      shaped.getRank() > highest ||
      !(shaped.getElementType().isInteger(32) ||
        shaped.getElementType().isInteger(64)))
    return emitError()
           << "expects the operand of " << term
           << " to be a tensor of i32 or i64, of rank 1 or with one row per "
              "batch entry, but got "
           << type;
  int64_t last = shaped.getShape().back();
  if (!ShapedType::isDynamic(last) && !ShapedType::isDynamic(size) &&
      last != size)
    return emitError() << "expects the operand of " << term << " to have rows "
                       << "of " << size << " elements, but got " << type;
  if (shaped.getRank() == 2 &&
      !broadcastsTo(shaped.getShape().take_front(1), scoresShape.take_front(1)))
    return emitError() << "expects the operand of " << term
                       << " to have one row per batch entry ("
                       << scoresShape.front() << "), but got " << type;
  return success();
}

Value attn::loadElement(OpBuilder &builder, Location loc, Value shaped,
                        ValueRange at) {
  if (isa<TensorType>(shaped.getType()))
    return tensor::ExtractOp::create(builder, loc, shaped, at);
  return memref::LoadOp::create(builder, loc, shaped, at);
}

Value attn::loadFromRow(OpBuilder &builder, Location loc,
                        const PairPlace &place, OperandAttr operand, Value at) {
  Value row = place.operands[operand.getPosition()];
  auto type = cast<ShapedType>(row.getType());
  SmallVector<Value> indices;
  if (type.getRank() == 2)
    indices.push_back(type.getDimSize(0) == 1
                          ? arith::ConstantIndexOp::create(builder, loc, 0)
                          : place.leading);
  indices.push_back(at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    loadElement(builder, loc, row, indices));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Attribute attn::parseNumber(MaskOperandParser &mask) {
  int64_t constant;
  OptionalParseResult parsed = mask.parser.parseOptionalInteger(constant);
  if (!parsed.has_value())
    return parseTermOperand(mask);
  if (failed(*parsed))
    return {};
  return mask.parser.getBuilder().getI64IntegerAttr(constant);
}

void attn::printNumber(OpAsmPrinter &printer, Attribute number,
                       OperandRange operands) {
  if (auto operand = dyn_cast<OperandAttr>(number))
    printTermOperand(printer, operand, operands);
  else
    printer << cast<IntegerAttr>(number).getInt();
}

Linear attn::numberValue(MaskContext &context, Attribute number,
                         StringRef name) {
  if (auto operand = dyn_cast<OperandAttr>(number))
    return context.operandSymbol(operand.getPosition(), name);
  return Linear(cast<IntegerAttr>(number).getInt());
}

LogicalResult attn::verifyConstant(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef term, int64_t value,
                                   int64_t lowest) {
  constexpr int64_t limit = MaskContext::MaxNumber;
  if (value < lowest) // C9, C10
    return emitError() << "expects " << term << " of at least " << lowest
                       << ", but got " << value;
  if (value < -limit || value > limit) // C17
    return emitError() << "expects " << term
                       << " between -2^40 and 2^40, but got " << value;
  return success();
}

LogicalResult attn::verifyNumber(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef term, Attribute number,
                                 int64_t lowest, TypeRange types,
                                 ArrayRef<int64_t> scoresShape) {
  if (auto operand = dyn_cast<OperandAttr>(number))
    return verifyPerBatchOperand(emitError, term, types[operand.getPosition()],
                                 scoresShape);
  auto constant = dyn_cast<IntegerAttr>(number);
  if (!constant || !constant.getType().isInteger(64))
    return emitError() << "expects a number of " << term
                       << " to be an i64 or an operand, but got " << number;
  return verifyConstant(emitError, term, constant.getInt(), lowest);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

FailureOr<AlignmentWords> attn::parseAlignment(MaskOperandParser &mask,
                                               StringRef after) {
  OpAsmParser &parser = mask.parser;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Alignment> alignment = symbolizeAlignment(word);
  if (!alignment)
    return parser.emitError(loc, "expects top_left, bottom_right or offset")
           << after << ", but got '" << word << "'";
  bool inDocument = *alignment != Alignment::Offset &&
                    succeeded(parser.parseOptionalKeyword("in"));
  if (inDocument && parser.parseKeyword("document"))
    return failure();
  return AlignmentWords{*alignment, inDocument};
}

void attn::printAlignment(OpAsmPrinter &printer, AlignmentWords words) {
  printer << stringifyAlignment(words.alignment)
          << (words.inDocument ? " in document" : "");
}

FailureOr<PositionAttr> attn::parsePositionAndParen(MaskOperandParser &mask,
                                                    bool afterComma) {
  OpAsmParser &parser = mask.parser;
  if (!afterComma && failed(parser.parseOptionalComma())) {
    if (parser.parseRParen())
      return failure();
    return PositionAttr();
  }
  FailureOr<AlignmentWords> words = parseAlignment(mask, "");
  if (failed(words))
    return failure();
  Attribute offset;
  if (words->alignment == Alignment::Offset) {
    if (parser.parseEqual() || !(offset = parseNumber(mask)))
      return failure();
  } else if (words->inDocument && succeeded(parser.parseOptionalEqual())) {
    if (!(offset = parseTermOperand(mask)))
      return failure();
  }
  if (parser.parseRParen())
    return failure();
  // Null and top_left mean the same; null is the one form of it.
  if (words->alignment == Alignment::TopLeft && !words->inDocument)
    return PositionAttr();
  return PositionAttr::get(parser.getContext(), words->alignment, offset,
                           words->inDocument);
}

void attn::printPosition(OpAsmPrinter &printer, PositionAttr position,
                         OperandRange operands) {
  if (!position)
    return;
  printer << ", ";
  printAlignment(printer, {position.getAlignment(), position.getInDocument()});
  if (position.getOffset()) {
    printer << " = ";
    printNumber(printer, position.getOffset(), operands);
  }
}

Linear attn::standsOn(MaskContext &context, PositionAttr position) {
  if (position && position.getInDocument())
    return Linear::query() +
           (position.getAlignment() == Alignment::TopLeft
                ? context.sharedSymbol("document_top_left",
                                       MaskContext::Role::ToFirstKey)
                : context.sharedSymbol("document_bottom_right",
                                       MaskContext::Role::ToEndKey));
  if (!position || position.getAlignment() == Alignment::TopLeft)
    return Linear::query();
  if (position.getAlignment() == Alignment::BottomRight)
    return Linear::query() + context.liveKeys() - Linear::queryLength();
  return Linear::query() + numberValue(context, position.getOffset(), "offset");
}

LogicalResult attn::verifyPosition(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef term, PositionAttr position,
                                   TypeRange types,
                                   ArrayRef<int64_t> scoresShape) {
  if (!position)
    return success();
  auto table = dyn_cast_or_null<OperandAttr>(position.getOffset());
  if (table && position.getInDocument()) // C6
    return verifyIntegerRow(emitError, term, types[table.getPosition()],
                            scoresShape[scoresShape.size() - 2], scoresShape);
  bool isOffset = position.getAlignment() == Alignment::Offset;
  if (isOffset != static_cast<bool>(position.getOffset())) // C6
    return emitError() << "expects " << term
                       << " to have an offset exactly with the alignment "
                          "offset";
  if (!isOffset)
    return success();
  return verifyNumber(emitError, (term + "(offset)").str(),
                      position.getOffset(), std::numeric_limits<int64_t>::min(),
                      types, scoresShape);
}
