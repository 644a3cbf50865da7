// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Documents given by where they begin get a number per query row and per key.
//
// Before:  attn.sdpa .. where document(cumulative %starts : tensor<?xi32>)
// After:   %queries = scf.for .. // the number of each query row's document
//          %keys = scf.for ..
//          attn.sdpa .. where document(%queries : tensor<?xi32>, %keys : ..)
//
// So kernels know one form of documents. The numbers take a word per row and
// key of one sequence, never one per pair.
#include "NumberDocuments.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {
struct DocumentNumbers {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// Where document `i` begins, within [0, size].
  Value borderAt(Value starts, Value i, Value size) {
    Value start = tensor::ExtractOp::create(b, loc, starts, i);
    start = arith::IndexCastOp::create(b, loc, b.getIndexType(), start);
    start = arith::MaxSIOp::create(b, loc, start, index(0));
    return arith::MinSIOp::create(b, loc, start, size);
  }
  /// The number of each position's document; `none` where there is no document.
  Value emit(Value starts, OpFoldResult size, int32_t none) {
    Value length = getValueOrCreateConstantIndexOp(b, loc, size);
    Value empty =
        tensor::EmptyOp::create(b, loc, ArrayRef(size), b.getI32Type());
    Value filled =
        linalg::FillOp::create(
            b, loc, Value(arith::ConstantIntOp::create(b, loc, none, 32)),
            empty)
            .getResult(0);
    Value zero = index(0), one = index(1);
    Value borders = tensor::DimOp::create(b, loc, starts, 0);
    Value documents = arith::SubIOp::create(b, loc, borders, one);
    auto loop = scf::ForOp::create(
        b, loc, zero, documents, one, filled,
        [&](OpBuilder &, Location, Value document, ValueRange numbers) {
          Value next = arith::AddIOp::create(b, loc, document, one);
          Value number =
              arith::IndexCastOp::create(b, loc, b.getI32Type(), document);
          auto inner = scf::ForOp::create(
              b, loc, borderAt(starts, document, length),
              borderAt(starts, next, length), one, numbers.front(),
              [&](OpBuilder &, Location, Value i, ValueRange carried) {
                Value set = tensor::InsertOp::create(b, loc, number,
                                                     carried.front(), i);
                scf::YieldOp::create(b, loc, set);
              });
          scf::YieldOp::create(b, loc, inner.getResults());
        });
    return loop.getResult(0);
  }
};
} // namespace

/// Rebuilds `mask` with numbers instead of cumulative lengths. `operands` are
/// the new op's.
static Attribute withNumbers(Attribute mask, OperandRange given,
                             DocumentNumbers numbers, OpFoldResult queries,
                             OpFoldResult keys,
                             SmallVectorImpl<Value> &operands) {
  auto add = [&](Value value) -> unsigned {
    operands.push_back(value);
    return operands.size() - 1;
  };
  auto inner = [&](ArrayRef<Attribute> terms) {
    return llvm::map_to_vector(terms, [&](Attribute term) {
      return withNumbers(term, given, numbers, queries, keys, operands);
    });
  };
  MLIRContext *context = mask.getContext();
  if (auto all = dyn_cast<AllOfAttr>(mask))
    return AllOfAttr::get(context, inner(all.getTerms()));
  if (auto any = dyn_cast<AnyOfAttr>(mask))
    return AnyOfAttr::get(context, inner(any.getTerms()));
  if (auto negation = dyn_cast<NotAttr>(mask))
    return NotAttr::get(context, inner(negation.getTerm()).front());
  auto document = dyn_cast<DocumentAttr>(mask);
  if (!document || !document.getCumulative())
    return cast<MaskTermInterface>(mask).mapOperands(
        [&](unsigned position) { return add(given[position]); });
  // Two numbers for "no document", so that nothing outside is ever seen.
  Value ofQueries =
      numbers.emit(given[document.getQueries().getPosition()], queries, -1);
  Value ofKeys =
      numbers.emit(given[document.getKeys().getPosition()], keys, -2);
  return DocumentAttr::get(context, OperandAttr::get(context, add(ofQueries)),
                           OperandAttr::get(context, add(ofKeys)),
                           /*cumulative=*/false, {});
}

static bool hasCumulative(Attribute mask) {
  return llvm::any_of(leafTerms(mask), [](Attribute term) {
    auto document = dyn_cast<DocumentAttr>(term);
    return document && document.getCumulative();
  });
}

void attn::numberDocuments(SdpaOp op, RewriterBase &rewriter) {
  if (!hasCumulative(op.getMaskAttr()))
    return;
  Location loc = op.getLoc();
  DocumentNumbers numbers{rewriter, loc};
  SmallVector<Value> operands;
  Attribute mask = withNumbers(
      op.getMaskAttr(), op.getMaskOperands(), numbers,
      tensor::getMixedSize(rewriter, loc, op.getQuery(),
                           op.queryDims().sequence),
      tensor::getMixedSize(rewriter, loc, op.getKey(), op.keyDims().sequence),
      operands);
  rewriter.modifyOpInPlace(op, [&] {
    op.setMaskAttr(mask);
    op.getMaskOperandsMutable().assign(operands);
  });
}
