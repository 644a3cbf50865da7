// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mask of one batch entry and head.
//
// Each term gets the operands that it has in a tile op: an integer per batch
// entry becomes that entry's index, a table the rows of the entry. Some terms
// get more:
//
//   document: which keys can be visible. One pass over the tile's rows finds
//   the smallest and the largest number, one over the keys the first and the
//   last key with a number between them. If all rows have one number, and all
//   keys between the first and the last have it too, the whole range is full.
//   Right for numbers in any order, exact where they do not decrease and the
//   rows belong to one document (DocumentRows.cpp). Of documents that were
//   given by where they begin, tables say it for each row
//   (NumberDocuments.cpp).
//
//   positions in a document: the rows of an item belong to one document
//   (DocumentRows.cpp), so what NumberDocuments.cpp has per row is one number,
//   and the position an offset.
//
//   predicate: what is the same for all pairs of the item is computed here,
//   once (ItemPredicate.cpp).
//
// Integers of 64 bits saturate where they become numbers, so that no sum of
// theirs wraps around. Those of a predicate do so only where its formula alone
// reads them: its program may want all bits.
#include "ItemMask.h"
#include "ItemPredicate.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace attn;

namespace {
struct ItemMaskBuilder {
  OpBuilder &b;
  Location loc;
  ItemPlace place;
  function_ref<Value(Value)> matrixOf;
  SmallVector<Value> operands{};
  /// Operands made so far, by kind and position in the attention's operands.
  std::map<std::pair<MaskOperandKind, unsigned>, unsigned> made{};

  Attribute build(Attribute mask);

private:
  using Kind = MaskOperandKind;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value toIndex(Value integer) {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
  }
  /// Within MaskContext::MaxNumber.
  Value saturated(Value number) {
    number =
        arith::MinSIOp::create(b, loc, number, index(MaskContext::MaxNumber));
    return arith::MaxSIOp::create(b, loc, number,
                                  index(-MaskContext::MaxNumber));
  }
  Value given(OperandAttr operand) {
    return place.op.getMaskOperands()[operand.getPosition()];
  }
  OperandAttr add(Value value) {
    operands.push_back(value);
    return OperandAttr::get(b.getContext(), operands.size() - 1);
  }
  unsigned operand(Kind kind, unsigned position);
  OperandAttr operand(Kind kind, OperandAttr attr) {
    return OperandAttr::get(b.getContext(), operand(kind, attr.getPosition()));
  }
  Value ofItem(Kind kind, Value tensor);
  Value scalarOf(Value tensor);
  Value ofFirstRow(Value table);
  Attribute buildTerm(Attribute term);
  SmallVector<OperandAttr> documentBounds(Value queries, Value keys);
  SmallVector<OperandAttr> documentBounds(DocumentAttr document, Value queries);
  Attribute buildPredicate(PredicateAttr predicate);
};
} // namespace

/// Index in the scores' first dimension.
static Value leadingIndex(const ItemPlace &place) {
  SdpaOp op = place.op;
  return op.queryDims().batch >= 0 ? place.batch : place.head;
}

Value attn::rowOfItem(OpBuilder &b, Location loc, const ItemPlace &place,
                      Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor;
  OpFoldResult first = b.getIndexAttr(0);
  if (type.getDimSize(0) != 1)
    first = leadingIndex(place);
  SmallVector<OpFoldResult> offsets{first, b.getIndexAttr(0)},
      sizes{b.getIndexAttr(1), tensor::getMixedSize(b, loc, tensor, 1)},
      strides(2, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      b, loc,
      RankedTensorType::get({type.getDimSize(1)}, type.getElementType()),
      tensor, offsets, sizes, strides);
}

Value ItemMaskBuilder::scalarOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> at;
  if (type.getRank() == 1)
    at.push_back(type.getDimSize(0) == 1 ? index(0) : leadingIndex(place));
  Value number = toIndex(tensor::ExtractOp::create(b, loc, tensor, at));
  return type.getElementType().isInteger(32) ? number : saturated(number);
}

Value ItemMaskBuilder::ofItem(Kind kind, Value tensor) {
  switch (kind) {
  case Kind::Number:
    return scalarOf(tensor);
  case Kind::OfRow:
    return place.begin ? ofFirstRow(tensor) : scalarOf(tensor);
  case Kind::Row:
    return rowOfItem(b, loc, place, tensor);
  case Kind::Pairs:
  case Kind::Blocks:
    return matrixOf(tensor);
  case Kind::Captured:
    return tensor;
  }
  llvm_unreachable("every kind has its case");
}

unsigned ItemMaskBuilder::operand(Kind kind, unsigned position) {
  auto [entry, isNew] = made.try_emplace({kind, position}, operands.size());
  if (isNew)
    operands.push_back(ofItem(kind, place.op.getMaskOperands()[position]));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

/// Begin, end and full end of the keys that the tile's rows see.
SmallVector<OperandAttr> ItemMaskBuilder::documentBounds(Value queries,
                                                         Value keys) {
  using Pred = arith::CmpIPredicate;
  auto numberAt = [&](Value row, Value i) {
    return toIndex(tensor::ExtractOp::create(b, loc, row, i));
  };
  auto compare = [&](Pred predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, loc, x, y);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  Value zero = index(0), one = index(1);
  Value first = numberAt(queries, place.begin);
  auto ofRows = scf::ForOp::create(
      b, loc, place.begin, place.end, one, ValueRange{first, first},
      [&](OpBuilder &, Location, Value row, ValueRange range) {
        Value number = numberAt(queries, row);
        Value least = arith::MinSIOp::create(b, loc, range[0], number);
        Value most = arith::MaxSIOp::create(b, loc, range[1], number);
        scf::YieldOp::create(b, loc, ValueRange{least, most});
      });
  Value least = ofRows.getResult(0), most = ofRows.getResult(1);
  auto ofKeys = scf::ForOp::create(
      b, loc, zero, place.keyLength, one,
      ValueRange{place.keyLength, zero, zero},
      [&](OpBuilder &, Location, Value key, ValueRange range) {
        Value number = numberAt(keys, key);
        Value inside = both(compare(Pred::sle, least, number),
                            compare(Pred::sle, number, most));
        Value begin = arith::MinSIOp::create(b, loc, range[0], key);
        Value end = arith::AddIOp::create(b, loc, key, one);
        Value count = arith::AddIOp::create(b, loc, range[2], one);
        scf::YieldOp::create(b, loc,
                             ValueRange{choose(inside, begin, range[0]),
                                        choose(inside, end, range[1]),
                                        choose(inside, count, range[2])});
      });
  Value end = ofKeys.getResult(1);
  // No key at all: the empty range at 0.
  Value begin = arith::MinSIOp::create(b, loc, ofKeys.getResult(0), end);
  Value length = arith::SubIOp::create(b, loc, end, begin);
  Value full = both(compare(Pred::eq, least, most),
                    compare(Pred::eq, length, ofKeys.getResult(2)));
  return {add(begin), add(end), add(choose(full, end, begin))};
}

/// The same from the tables of each row's keys. A row without keys sees none.
SmallVector<OperandAttr> ItemMaskBuilder::documentBounds(DocumentAttr document,
                                                         Value queries) {
  using Pred = arith::CmpIPredicate;
  auto numberAt = [&](Value row, Value i) {
    return toIndex(tensor::ExtractOp::create(b, loc, row, i));
  };
  Value begins = given(document.getSpans()[0]),
        ends = given(document.getSpans()[1]);
  Value number = tensor::ExtractOp::create(b, loc, queries, place.begin);
  Value yes = arith::ConstantIntOp::create(b, loc, true, 1);
  auto ofRows = scf::ForOp::create(
      b, loc, place.begin, place.end, index(1),
      ValueRange{place.keyLength, index(0), yes},
      [&](OpBuilder &, Location, Value row, ValueRange range) {
        Value begin = numberAt(begins, row), end = numberAt(ends, row);
        Value some = arith::CmpIOp::create(b, loc, Pred::slt, begin, end);
        Value least = arith::MinSIOp::create(b, loc, range[0], begin);
        Value most = arith::MaxSIOp::create(b, loc, range[1], end);
        Value ofRow = tensor::ExtractOp::create(b, loc, queries, row);
        Value same = arith::CmpIOp::create(b, loc, Pred::eq, number, ofRow);
        scf::YieldOp::create(
            b, loc,
            ValueRange{arith::SelectOp::create(b, loc, some, least, range[0]),
                       arith::SelectOp::create(b, loc, some, most, range[1]),
                       arith::AndIOp::create(b, loc, range[2], same)});
      });
  Value end = ofRows.getResult(1);
  Value begin = arith::MinSIOp::create(b, loc, ofRows.getResult(0), end);
  Value full = arith::SelectOp::create(b, loc, ofRows.getResult(2), end, begin);
  return {add(begin), add(end), add(full)};
}

Attribute ItemMaskBuilder::buildPredicate(PredicateAttr predicate) {
  SmallVector<Value> captures;
  for (OperandAttr operand : predicate.getOperands())
    captures.push_back(given(operand));
  ItemPredicate item =
      predicateOfItem(b, loc, place, predicate.getProgram(), captures);
  SmallVector<OperandAttr> attrs;
  for (auto [value, saturates] : item.operands) {
    Type type = value.getType();
    if (type.isInteger(1))
      value = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
    else if (type.isInteger())
      value = toIndex(value);
    attrs.push_back(add(saturates ? saturated(value) : value));
  }
  return PredicateAttr::get(b.getContext(), item.program, attrs);
}

//===----------------------------------------------------------------------===//
// Other terms
//===----------------------------------------------------------------------===//

Value ItemMaskBuilder::ofFirstRow(Value table) {
  return toIndex(tensor::ExtractOp::create(b, loc, table, place.begin));
}

/// The same with an offset where a position in a document was.
static Attribute withOffset(Attribute term) {
  MLIRContext *context = term.getContext();
  auto causal = dyn_cast<CausalAttr>(term);
  if (causal && causal.getInDocument())
    return CausalAttr::get(context, Alignment::Offset, 0, causal.getOperand());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](PositionAttr at) -> std::optional<Attribute> {
    if (!at.getInDocument())
      return std::nullopt;
    return PositionAttr::get(context, Alignment::Offset, at.getOffset());
  });
  return replacer.replace(term);
}

Attribute ItemMaskBuilder::buildTerm(Attribute term) {
  auto known = cast<MaskTermInterface>(term);
  llvm::SmallDenseMap<unsigned, MaskOperandKind> kinds;
  for (const MaskOperand &operand : known.describeOperands())
    kinds[operand.position] = operand.kind;
  Attribute moved = known.mapOperands(
      [&](unsigned position) { return operand(kinds.at(position), position); });
  return place.begin ? withOffset(moved) : moved;
}

Attribute ItemMaskBuilder::build(Attribute mask) {
  auto buildAll = [&](ArrayRef<Attribute> terms) {
    return llvm::map_to_vector(terms, [&](Attribute t) { return build(t); });
  };
  MLIRContext *context = b.getContext();
  return llvm::TypeSwitch<Attribute, Attribute>(mask)
      .Case([&](AllOfAttr all) {
        return AllOfAttr::get(context, buildAll(all.getTerms()));
      })
      .Case([&](AnyOfAttr any) {
        return AnyOfAttr::get(context, buildAll(any.getTerms()));
      })
      .Case([&](NotAttr negation) {
        return NotAttr::get(context, build(negation.getTerm()));
      })
      .Case([&](DocumentAttr document) {
        OperandAttr queries = operand(Kind::Row, document.getQueries()),
                    keys = operand(Kind::Row, document.getKeys());
        SmallVector<OperandAttr> bounds;
        Value ofQueries = operands[queries.getPosition()],
              ofKeys = operands[keys.getPosition()];
        if (place.begin)
          bounds = document.getSpans().empty()
                       ? documentBounds(ofQueries, ofKeys)
                       : documentBounds(document, ofQueries);
        return DocumentAttr::get(context, queries, keys,
                                 document.getCumulative(), bounds);
      })
      .Case([&](PredicateAttr predicate) { return buildPredicate(predicate); })
      .Default([&](Attribute term) { return buildTerm(term); });
}

ItemMask attn::maskOfItem(OpBuilder &builder, Location loc, ItemPlace place,
                          function_ref<Value(Value)> matrixOf) {
  if (!place.op.getMask())
    return {};
  ItemMaskBuilder item{builder, loc, place, matrixOf};
  Attribute mask = item.build(*place.op.getMask());
  return {mask, std::move(item.operands)};
}
