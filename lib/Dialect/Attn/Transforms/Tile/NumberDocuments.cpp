// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documents given by where they begin get a number per query row and per key.
//
// Before:  attn.sdpa .. where document(cumulative %starts : tensor<?xi32>)
// After:   %queries = scf.for .. // the number of each query row's document
//          %keys = scf.for ..
//          attn.sdpa .. where document(%queries : tensor<?xi32>, %keys : ..
//                                      spans %first : .., %end : ..)
//
// So kernels know one form of documents. The numbers take a word per row and
// key of one sequence, never one per pair. Two more tables say where the keys
// of each query row's document begin and end, so that no item looks for them. A
// position in a document becomes a table as well: how far each query row is
// from the key that it stands on.
#include "NumberDocuments.h"
#include "AttentionItem.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include <map>

using namespace mlir;
using namespace attn;

namespace {
/// Tables with one i32 per position, made of where documents begin.
struct DocumentTables {
  OpBuilder &b;
  Location loc;
  OperandRange given; ///< the op's operands so far
  OpFoldResult querySize, keySize;
  SmallVector<Value> operands{}; ///< those that it will have
  std::map<std::string, OperandAttr> made{};

  Attribute rewrite(Attribute mask, DocumentAttr ofRows);

private:
  using OfDocument = function_ref<Value(Value document, Value next)>;
  /// The two ends of the query's document that a position compares.
  enum Border { First, End };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value startsOf(OperandAttr operand) { return given[operand.getPosition()]; }
  OperandAttr add(Value value) {
    operands.push_back(value);
    return OperandAttr::get(b.getContext(), operands.size() - 1);
  }
  Value borderAt(Value starts, Value i, OpFoldResult size);
  Value emit(Value starts, OpFoldResult size, int32_t none, OfDocument value);
  OperandAttr perQuery(StringRef name, DocumentAttr document, OfDocument value);
  OperandAttr distance(DocumentAttr document, Border border);
  OperandAttr keyBorder(DocumentAttr document, Border border);
  DocumentAttr number(DocumentAttr document);
  Attribute place(Attribute term, DocumentAttr ofRows);
};
} // namespace

/// Where document `i` begins, within [0, size].
Value DocumentTables::borderAt(Value starts, Value i, OpFoldResult size) {
  Value length = getValueOrCreateConstantIndexOp(b, loc, size);
  Value start = tensor::ExtractOp::create(b, loc, starts, i);
  start = arith::IndexCastOp::create(b, loc, b.getIndexType(), start);
  start = arith::MaxSIOp::create(b, loc, start, index(0));
  return arith::MinSIOp::create(b, loc, start, length);
}

/// The `value` of each position's document; `none` where there is no document.
Value DocumentTables::emit(Value starts, OpFoldResult size, int32_t none,
                           OfDocument value) {
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef(size), b.getI32Type());
  Value filled =
      linalg::FillOp::create(
          b, loc, Value(arith::ConstantIntOp::create(b, loc, none, 32)), empty)
          .getResult(0);
  Value zero = index(0), one = index(1);
  Value borders = tensor::DimOp::create(b, loc, starts, 0);
  Value documents = arith::SubIOp::create(b, loc, borders, one);
  auto loop = scf::ForOp::create(
      b, loc, zero, documents, one, filled,
      [&](OpBuilder &, Location, Value document, ValueRange table) {
        Value next = arith::AddIOp::create(b, loc, document, one);
        Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                                  value(document, next));
        auto inner = scf::ForOp::create(
            b, loc, borderAt(starts, document, size),
            borderAt(starts, next, size), one, table.front(),
            [&](OpBuilder &, Location, Value i, ValueRange carried) {
              Value set =
                  tensor::InsertOp::create(b, loc, number, carried.front(), i);
              scf::YieldOp::create(b, loc, set);
            });
        scf::YieldOp::create(b, loc, inner.getResults());
      });
  return loop.getResult(0);
}

DocumentAttr DocumentTables::number(DocumentAttr document) {
  auto itself = [](Value number, Value) { return number; };
  // Two numbers for "no document", so that nothing outside is ever seen.
  Value ofQueries =
      emit(startsOf(document.getQueries()), querySize, -1, itself);
  Value ofKeys = emit(startsOf(document.getKeys()), keySize, -2, itself);
  OperandAttr queries = add(ofQueries), keys = add(ofKeys);
  OperandAttr first = keyBorder(document, First),
              end = keyBorder(document, End);
  return DocumentAttr::get(b.getContext(), queries, keys, /*cumulative=*/false,
                           /*bounds=*/{}, /*spans=*/{first, end});
}

/// A table with the `value` of each query row's document, made once per `name`.
OperandAttr DocumentTables::perQuery(StringRef name, DocumentAttr document,
                                     OfDocument value) {
  unsigned queries = document.getQueries().getPosition(),
           keys = document.getKeys().getPosition();
  OperandAttr &table = made[(name + Twine(queries) + " " + Twine(keys)).str()];
  if (!table)
    table = add(emit(startsOf(document.getQueries()), querySize, 0, value));
  return table;
}

/// From each query row to the key that it stands on.
OperandAttr DocumentTables::distance(DocumentAttr document, Border border) {
  Value queries = startsOf(document.getQueries());
  Value keys = startsOf(document.getKeys());
  return perQuery(border == First ? "first" : "end", document,
                  [&](Value number, Value next) -> Value {
                    Value i = border == First ? number : next;
                    return arith::SubIOp::create(
                        b, loc, borderAt(keys, i, keySize),
                        borderAt(queries, i, querySize));
                  });
}

/// The first key of each query row's document, or the one behind the last.
OperandAttr DocumentTables::keyBorder(DocumentAttr document, Border border) {
  Value keys = startsOf(document.getKeys());
  return perQuery(border == First ? "key" : "key end", document,
                  [&](Value number, Value next) {
                    return borderAt(keys, border == First ? number : next,
                                    keySize);
                  });
}

/// Gives a position in a document its tables; ItemMask.cpp reads them.
Attribute DocumentTables::place(Attribute term, DocumentAttr ofRows) {
  MLIRContext *context = term.getContext();
  auto distanceOf = [&](Alignment alignment) {
    return distance(ofRows, alignment == Alignment::TopLeft ? First : End);
  };
  auto causal = dyn_cast<CausalAttr>(term);
  if (causal && causal.getInDocument())
    return CausalAttr::get(context, causal.getAlignment(), /*offset=*/0,
                           distanceOf(causal.getAlignment()).getPosition(),
                           /*in_document=*/true);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](PositionAttr at) -> std::optional<Attribute> {
    if (!at.getInDocument())
      return std::nullopt;
    return PositionAttr::get(context, at.getAlignment(),
                             distanceOf(at.getAlignment()),
                             /*in_document=*/true);
  });
  term = replacer.replace(term);
  auto chunked = dyn_cast<ChunkedAttr>(term);
  if (chunked && chunked.getPosition() && chunked.getPosition().getInDocument())
    return ChunkedAttr::get(context, chunked.getSize(), chunked.getPosition(),
                            keyBorder(ofRows, First));
  return term;
}

/// The mask with tables instead of cumulative lengths. `ofRows` is the document
/// of the conjunction at its top.
Attribute DocumentTables::rewrite(Attribute mask, DocumentAttr ofRows) {
  auto inner = [&](ArrayRef<Attribute> terms) {
    return llvm::map_to_vector(
        terms, [&](Attribute term) { return rewrite(term, ofRows); });
  };
  MLIRContext *context = mask.getContext();
  if (auto all = dyn_cast<AllOfAttr>(mask))
    return AllOfAttr::get(context, inner(all.getTerms()));
  if (auto any = dyn_cast<AnyOfAttr>(mask))
    return AnyOfAttr::get(context, inner(any.getTerms()));
  if (auto negation = dyn_cast<NotAttr>(mask))
    return NotAttr::get(context, inner(negation.getTerm()).front());
  auto document = dyn_cast<DocumentAttr>(mask);
  if (document && document.getCumulative())
    return number(document);
  Attribute moved = cast<MaskTermInterface>(mask).mapOperands(
      [&](unsigned position) { return add(given[position]).getPosition(); });
  return place(moved, ofRows);
}

static bool hasCumulative(Attribute mask) {
  return llvm::any_of(leafTerms(mask), [](Attribute term) {
    auto document = dyn_cast<DocumentAttr>(term);
    return document && document.getCumulative();
  });
}

Value attn::countDocuments(SdpaOp op, OpBuilder &b) {
  if (!cutsRowsAtDocuments(op))
    return {};
  auto document = cast<DocumentAttr>(*llvm::find_if(
      conjunctionOf(op.getMaskAttr()), llvm::IsaPred<DocumentAttr>));
  if (!document.getCumulative())
    return {};
  Value starts = op.getMaskOperands()[document.getQueries().getPosition()];
  Location loc = op.getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  return arith::SubIOp::create(b, loc, sizeOf(b, loc, starts, 0), one);
}

void attn::numberDocuments(SdpaOp op, RewriterBase &rewriter) {
  if (!hasCumulative(op.getMaskAttr()))
    return;
  Location loc = op.getLoc();
  DocumentAttr ofRows;
  for (Attribute term : conjunctionOf(op.getMaskAttr()))
    if (auto document = dyn_cast<DocumentAttr>(term))
      ofRows = document;
  DocumentTables tables{
      rewriter, loc, op.getMaskOperands(),
      tensor::getMixedSize(rewriter, loc, op.getQuery(),
                           op.queryDims().sequence),
      tensor::getMixedSize(rewriter, loc, op.getKey(), op.keyDims().sequence)};
  Attribute mask = tables.rewrite(op.getMaskAttr(), ofRows);
  rewriter.modifyOpInPlace(op, [&] {
    op.setMaskAttr(mask);
    op.getMaskOperandsMutable().assign(tables.operands);
  });
}
