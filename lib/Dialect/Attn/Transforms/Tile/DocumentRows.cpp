// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a query tile, cut at the borders of documents.
//
//   %r:2 = scf.while (%row = %begin, %out = %tile) { .. %row < %end .. } do {
//     %next = ..               // first row behind %row of another document
//     %part = tensor.extract_slice %out[%row - %begin, 0] ..
//     %done = ..               // the attention of rows [%row, %next)
//     %all = tensor.insert_slice %done into %out ..
//     scf.yield %next, %all
//   }
//
// The keys that a run of rows sees are then one range, so that no tile between
// two documents is visited: what makes the loop bounds of documents exact.
#include "DocumentRows.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

Value attn::documentNumbers(OpBuilder &builder, Location loc,
                            const ItemPlace &place) {
  SdpaOp op = place.op;
  if (!op.getMaskAttr())
    return {};
  for (Attribute term : conjunctionOf(op.getMaskAttr()))
    if (auto document = dyn_cast<DocumentAttr>(term))
      return rowOfItem(
          builder, loc, place,
          op.getMaskOperands()[document.getQueries().getPosition()]);
  return {};
}

SmallVector<Value> attn::computePerDocument(
    AttentionItem &item, ArrayRef<Value> destinations,
    function_ref<SmallVector<Value>(AttentionItem &, ArrayRef<Value>)> compute,
    int64_t packed) {
  OpBuilder &b = item.builder;
  Value numbers = documentNumbers(b, item.loc,
                                  {item.op, item.batch, item.head, {}, {}, {}});
  if (!numbers)
    return compute(item, destinations);
  Value end = arith::AddIOp::create(b, item.loc, item.begin, item.rows);
  return emitPerDocument(
      b, item.loc, numbers, {item.begin, end}, destinations,
      [&](Value from, Value to, ArrayRef<Value> into) {
        AttentionItem rows = item;
        rows.begin = from;
        rows.rows = arith::SubIOp::create(b, item.loc, to, from);
        return compute(rows, into);
      },
      packed);
}

/// The first row behind `row` that has another number, at most `end`.
static Value emitNextBorder(OpBuilder &b, Location loc, Value numbers,
                            Value row, Value end) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, end, one);
  Value number = tensor::ExtractOp::create(b, loc, numbers, row);
  Value second = arith::AddIOp::create(b, loc, row, one);
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange(b.getIndexType()), ValueRange(second),
      [&](OpBuilder &, Location, ValueRange at) {
        Value inside =
            arith::CmpIOp::create(b, loc, Predicate::slt, at[0], end);
        Value readable = arith::MinSIOp::create(b, loc, at[0], last);
        Value other = tensor::ExtractOp::create(b, loc, numbers, readable);
        Value same =
            arith::CmpIOp::create(b, loc, Predicate::eq, number, other);
        Value both = arith::AndIOp::create(b, loc, inside, same);
        scf::ConditionOp::create(b, loc, both, at);
      },
      [&](OpBuilder &, Location, ValueRange at) {
        Value next = arith::AddIOp::create(b, loc, at[0], one);
        scf::YieldOp::create(b, loc, next);
      });
  return loop.getResult(0);
}

namespace {
/// Some rows of an item's results.
struct RowSlices {
  OpBuilder &b;
  Location loc;
  Value first, count;
  SmallVector<OpFoldResult> offsets{}, sizes{}, strides{};

  void place(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    offsets.assign(type.getRank(), b.getIndexAttr(0));
    strides.assign(type.getRank(), b.getIndexAttr(1));
    sizes = tensor::getMixedSizes(b, loc, tensor);
    offsets[0] = first;
    sizes[0] = count;
  }
  Value extract(Value tensor) {
    place(tensor);
    return tensor::ExtractSliceOp::create(b, loc, tensor, offsets, sizes,
                                          strides);
  }
  Value insert(Value part, Value tensor) {
    place(tensor);
    return tensor::InsertSliceOp::create(b, loc, part, tensor, offsets, sizes,
                                         strides);
  }
};
} // namespace

SmallVector<Value> attn::emitRuns(OpBuilder &b, Location loc, Value numbers,
                                  RowRange rows, ArrayRef<Value> values,
                                  ComputeRows compute) {
  SmallVector<Value> carried{rows.begin};
  llvm::append_range(carried, values);
  auto loop = scf::WhileOp::create(
      b, loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange at) {
        Value more =
            arith::CmpIOp::create(b, loc, Predicate::slt, at[0], rows.end);
        scf::ConditionOp::create(b, loc, more, at);
      },
      [&](OpBuilder &, Location, ValueRange at) {
        Value next = emitNextBorder(b, loc, numbers, at[0], rows.end);
        SmallVector<Value> yielded{next};
        llvm::append_range(
            yielded, compute(at[0], next, SmallVector<Value>(at.drop_front())));
        scf::YieldOp::create(b, loc, yielded);
      });
  return SmallVector<Value>(llvm::drop_begin(loop.getResults()));
}

SmallVector<Value> attn::emitPerDocument(OpBuilder &b, Location loc,
                                         Value numbers, RowRange item,
                                         ArrayRef<Value> destinations,
                                         ComputeRows compute, int64_t packed) {
  auto rowsBetween = [&](Value from, Value to) -> Value {
    Value queries = arith::SubIOp::create(b, loc, to, from);
    if (packed == 1)
      return queries;
    return arith::MulIOp::create(
        b, loc, queries, arith::ConstantIndexOp::create(b, loc, packed));
  };
  return emitRuns(b, loc, numbers, item, destinations,
                  [&](Value from, Value to, ArrayRef<Value> tensors) {
                    RowSlices rows{b, loc, rowsBetween(item.begin, from),
                                   rowsBetween(from, to)};
                    SmallVector<Value> parts, all;
                    for (Value tensor : tensors)
                      parts.push_back(rows.extract(tensor));
                    for (auto [part, tensor] :
                         llvm::zip(compute(from, to, parts), tensors))
                      all.push_back(rows.insert(part, tensor));
                    return all;
                  });
}
