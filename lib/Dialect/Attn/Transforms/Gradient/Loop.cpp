// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Loop.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

static RankedTensorType tensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

Loop::Loop(OpBuilder &b, Value like)
    : b(b), loc(like.getLoc()), like(like), rank(tensorType(like).getRank()) {}

AffineMap Loop::mapTo(ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> places;
  for (int64_t dim : dims)
    places.push_back(b.getAffineDimExpr(dim));
  return AffineMap::get(rank, 0, places, b.getContext());
}

Loop &Loop::at(Value tensor, ArrayRef<int64_t> dims) {
  inputs.push_back(tensor);
  maps.push_back(mapTo(dims));
  return *this;
}
Loop &Loop::elements(Value tensor) {
  return at(tensor, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
}
Loop &Loop::rows(Value tensor) {
  return at(tensor, llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)));
}
Loop &Loop::columns(Value tensor) { return at(tensor, {rank - 1}); }

FloatType Loop::statistics() {
  Type element = tensorType(like).getElementType();
  return element.isF64() ? cast<FloatType>(element) : b.getF32Type();
}

Value Loop::map(Type element, Body body) {
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, like), element);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  return emit(empty, b.getMultiDimIdentityMap(rank), kinds, body);
}

Value Loop::sumOfRows(Body body) {
  return sumAt(llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)), body);
}
Value Loop::sumOfColumns(Body body) { return sumAt({rank - 1}, body); }

Value Loop::sumAt(ArrayRef<int64_t> dims, Body body) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, like), kept;
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::reduction);
  for (int64_t dim : dims) {
    kept.push_back(sizes[dim]);
    kinds[dim] = utils::IteratorType::parallel;
  }
  Value empty = tensor::EmptyOp::create(b, loc, kept, statistics());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(statistics()));
  Value zeros = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  return emit(zeros, mapTo(dims), kinds,
              [&](OpBuilder &inner, ValueRange a) -> Value {
                Value term = body(inner, a.drop_back());
                return arith::AddFOp::create(inner, loc, a.back(), term);
              });
}

Value Loop::emit(Value into, AffineMap to, ArrayRef<utils::IteratorType> kinds,
                 Body body) {
  maps.push_back(to);
  Type element = tensorType(into).getElementType();
  auto loop = linalg::GenericOp::create(
      b, loc, into.getType(), inputs, into, maps, kinds,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        SmallVector<Value> wide;
        for (Value argument : arguments)
          wide.push_back(
              argument.getType() == statistics()
                  ? argument
                  : arith::ExtFOp::create(inner, loc, statistics(), argument));
        Value result = body(inner, wide);
        if (result.getType() != element)
          result = arith::TruncFOp::create(inner, loc, element, result);
        linalg::YieldOp::create(inner, loc, result);
      });
  maps.pop_back();
  return loop.getResult(0);
}
