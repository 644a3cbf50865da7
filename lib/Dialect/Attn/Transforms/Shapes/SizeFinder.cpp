// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeFinder.h"
#include "ShapeConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

SizeFinder::SizeFinder(func::FuncOp function) {
  ShapeConstraints requirements(classes);
  function.walk([&](Operation *op) { requirements.collect(op); });
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int64_t i = 0; i < type.getRank(); ++i)
        first.try_emplace(classes.find({value, i}), Dim{value, i});
  };
  llvm::for_each(function.getArguments(), add);
  for (Operation &op : function.front())
    llvm::for_each(op.getResults(), add);
}

/// Whether `tensor`, of the function's block, is there at `b`.
static bool isBefore(Value tensor, OpBuilder &b) {
  Operation *maker = tensor.getDefiningOp();
  if (!maker)
    return true;
  Operation *user =
      maker->getBlock()->findAncestorOpInBlock(*b.getInsertionPoint());
  return user && maker->isBeforeInBlock(user);
}

Value SizeFinder::find(OpBuilder &b, Dim asked) {
  Location loc = asked.first.getLoc();
  if (int64_t size = classes.sizeOf(asked); size >= 0)
    return arith::ConstantIndexOp::create(b, loc, size);
  auto [tensor, dim] = first.lookup(classes.find(asked));
  if (!tensor || !isBefore(tensor, b)) // it comes into being in a region
    return {};
  auto joined = tensor.getDefiningOp<tensor::ConcatOp>();
  if (!joined || joined.getDim() != static_cast<uint64_t>(dim))
    return tensor::DimOp::create(b, loc, tensor, dim);
  Value sum = arith::ConstantIndexOp::create(b, loc, 0);
  for (Value input : joined.getInputs()) {
    Value part = find(b, {input, dim});
    if (!part)
      part = tensor::DimOp::create(b, loc, input, dim);
    sum = arith::AddIOp::create(b, loc, sum, part);
  }
  return sum;
}
