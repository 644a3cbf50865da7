// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// document(%ids : type [, %key_ids : type]) and document(cumulative %starts
// ..): keys of the query's own document. docs/SpecMasks.md, "document".
//
// The comparison of two table entries is no linear constraint. What the
// analysis gets are the keys that the documents of one query tile span, as
// symbols that attn-tile-queries computes: `bounds` in a tile op, from `spans`
// where it has numbered the documents.
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

Formula DocumentAttr::formula(MaskContext &context) const {
  using Role = MaskContext::Role;
  static constexpr std::pair<StringRef, Role> symbols[] = {
      {"document_begin", Role::DocumentBegin},
      {"document_end", Role::DocumentEnd},
      {"document_full_end", Role::DocumentFullEnd}};
  SmallVector<Linear> bounds;
  for (auto [i, symbol] : llvm::enumerate(symbols))
    bounds.push_back(
        getBounds().empty()
            ? context.freeSymbol(symbol.first,
                                 /*nonNegative=*/true, symbol.second,
                                 getAsOpaquePointer())
            : context.operandSymbol(getBounds()[i].getPosition(), symbol.first,
                                    /*nonNegative=*/true));
  Linear key = Linear::key();
  Formula may = allOf({lessEqual(bounds[0], key), lessThan(key, bounds[1])});
  Formula mayNot = anyOf({lessThan(key, bounds[0]), lessEqual(bounds[2], key)});
  return opaque(getAsOpaquePointer(), "document", {Linear::query(), key}, may,
                mayNot);
}

/// Is there a document that holds both?
static Value emitCumulative(OpBuilder &b, Location loc, DocumentAttr term,
                            const PairPlace &place, ValueRange pair) {
  auto holds = [&](OperandAttr operand, Value document, Value next, Value i) {
    Value begin = loadFromRow(b, loc, place, operand, document);
    Value end = loadFromRow(b, loc, place, operand, next);
    using Predicate = arith::CmpIPredicate;
    Value begun = arith::CmpIOp::create(b, loc, Predicate::sle, begin, i);
    Value open = arith::CmpIOp::create(b, loc, Predicate::slt, i, end);
    return arith::AndIOp::create(b, loc, begun, open).getResult();
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value borders = tensor::DimOp::create(
      b, loc, place.operands[term.getQueries().getPosition()], 0);
  Value documents = arith::SubIOp::create(b, loc, borders, one);
  Value none = arith::ConstantIntOp::create(b, loc, false, 1);
  auto loop = scf::ForOp::create(
      b, loc, zero, documents, one, none,
      [&](OpBuilder &, Location, Value document, ValueRange found) {
        Value next = arith::AddIOp::create(b, loc, document, one);
        Value query = holds(term.getQueries(), document, next, pair[0]);
        Value key = holds(term.getKeys(), document, next, pair[1]);
        Value both = arith::AndIOp::create(b, loc, query, key);
        scf::YieldOp::create(
            b, loc,
            arith::OrIOp::create(b, loc, found.front(), both).getResult());
      });
  return loop.getResult(0);
}

Value DocumentAttr::emitOpaque(OpBuilder &b, Location loc,
                               const PairPlace &place,
                               ValueRange arguments) const {
  if (getCumulative())
    return emitCumulative(b, loc, *this, place, arguments);
  Value query = loadFromRow(b, loc, place, getQueries(), arguments[0]);
  Value key = loadFromRow(b, loc, place, getKeys(), arguments[1]);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, query, key);
}

Attribute DocumentAttr::parseTerm(MaskOperandParser &mask) {
  OpAsmParser &parser = mask.parser;
  if (parser.parseLParen())
    return {};
  bool cumulative = succeeded(parser.parseOptionalKeyword("cumulative"));
  OperandAttr queries = parseTermOperand(mask), keys = queries;
  if (!queries)
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      !(keys = parseTermOperand(mask)))
    return {};
  auto parseList = [&](StringRef word,
                       SmallVector<OperandAttr> &list) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(word)))
      return success();
    return parser.parseCommaSeparatedList([&] {
      list.push_back(parseTermOperand(mask));
      return success(static_cast<bool>(list.back()));
    });
  };
  SmallVector<OperandAttr> bounds, spans;
  if (parseList("bounds", bounds) || parseList("spans", spans) ||
      parser.parseRParen())
    return {};
  return DocumentAttr::get(parser.getContext(), queries, keys, cumulative,
                           bounds, spans);
}

void DocumentAttr::printTerm(OpAsmPrinter &printer,
                             OperandRange operands) const {
  printer << "document(" << (getCumulative() ? "cumulative " : "");
  printTermOperand(printer, getQueries(), operands);
  if (getKeys() != getQueries()) {
    printer << ", ";
    printTermOperand(printer, getKeys(), operands);
  }
  auto printList = [&](StringRef word, ArrayRef<OperandAttr> list) {
    if (!list.empty())
      printer << " " << word << " ";
    llvm::interleaveComma(list, printer, [&](OperandAttr operand) {
      printTermOperand(printer, operand, operands);
    });
  };
  printList("bounds", getBounds());
  printList("spans", getSpans());
  printer << ")";
}

/// Without bounds, which only a tile op has.
SmallVector<MaskOperand> DocumentAttr::describeOperands() const {
  auto row = [](OperandAttr operand, MaskRow of) {
    return MaskOperand{static_cast<unsigned>(operand.getPosition()),
                       MaskOperandKind::Row, of};
  };
  MaskRow own = MaskRow::Own;
  SmallVector<MaskOperand> operands{
      row(getQueries(), getCumulative() ? own : MaskRow::Query),
      row(getKeys(), getCumulative() ? own : MaskRow::Key)};
  for (OperandAttr span : getSpans())
    operands.push_back(row(span, MaskRow::Query));
  return operands;
}

LogicalResult
DocumentAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                             TypeRange types, ArrayRef<int64_t> shape) const {
  auto typeOf = [&](OperandAttr operand) {
    return types[operand.getPosition()];
  };
  int64_t queries = shape[shape.size() - 2], keys = shape.back();
  if (getCumulative()) { // C13
    for (OperandAttr operand : {getQueries(), getKeys()}) {
      auto type = dyn_cast<RankedTensorType>(typeOf(operand));
      if (!type || type.getRank() != 1 || type.getDimSize(0) == 0 ||
          !(type.getElementType().isInteger(32) ||
            type.getElementType().isInteger(64)))
        return emitError() << "expects document(cumulative) to have a tensor "
                              "of i32 or i64 with at least one element, but "
                              "got "
                           << typeOf(operand);
    }
  } else if (failed(verifyIntegerRow(emitError, "document",
                                     typeOf(getQueries()), queries, shape)) ||
             failed(verifyIntegerRow(emitError, "document", typeOf(getKeys()),
                                     keys, shape))) { // C13
    return failure();
  }
  bool fits =
      getBounds().empty() || (getBounds().size() == 3 && !getCumulative() &&
                              llvm::all_of(getBounds(), [&](OperandAttr bound) {
                                return typeOf(bound).isIndex();
                              }));
  if (!fits) // C13
    return emitError() << "expects document to have three bounds of type "
                          "index, or none";
  if (getSpans().empty())
    return success();
  if (getSpans().size() != 2 || getCumulative() || !getBounds().empty()) // C13
    return emitError() << "expects document to have two spans, and then "
                          "neither bounds nor cumulative, or none";
  for (OperandAttr span : getSpans())
    if (failed(verifyIntegerRow(emitError, "document", typeOf(span), queries,
                                shape))) // C13
      return failure();
  return success();
}
