// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AlignedWhile.h"

using namespace mlir;
using namespace attn;

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Tensors first, each kind in the order that it has.
static SmallVector<unsigned> tensorsFirst(ValueRange values) {
  SmallVector<unsigned> order;
  for (bool tensors : {true, false})
    for (auto [i, value] : llvm::enumerate(values))
      if (isTensor(value) == tensors)
        order.push_back(i);
  return order;
}

static SmallVector<Value> ordered(ValueRange values, ArrayRef<unsigned> order) {
  return llvm::map_to_vector(order, [&](unsigned i) { return values[i]; });
}

/// A block of its own for what `block` holds, in a region of another loop.
static void moveTo(RewriterBase &rewriter, Block *block, Region &region,
                   TypeRange types, function_ref<unsigned(unsigned)> placeOf) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Location> locations(types.size(), region.getLoc());
  Block *made = rewriter.createBlock(&region, {}, types, locations);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < block->getNumArguments(); ++i)
    arguments.push_back(made->getArgument(placeOf(i)));
  rewriter.mergeBlocks(block, made, arguments);
}

FailureOr<scf::WhileOp> attn::alignWhile(RewriterBase &rewriter,
                                         scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<unsigned> order = tensorsFirst(loop.getBeforeArguments());
  SmallVector<Value> passed = ordered(loop.getBeforeArguments(), order);
  for (Value value : condition.getArgs()) {
    if (llvm::is_contained(passed, value))
      continue;
    if (isTensor(value))
      return condition.emitError(
          "expects a condition that passes tensors of the loop on as they are, "
          "and not what it computes");
    passed.push_back(value);
  }
  if (llvm::is_sorted(order) && llvm::equal(passed, condition.getArgs()))
    return loop;

  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits = ordered(loop.getInits(), order);
  SmallVector<unsigned> places; // of what the condition passed on
  for (Value value : condition.getArgs())
    places.push_back(llvm::find(passed, value) - passed.begin());
  auto made = scf::WhileOp::create(rewriter, loop.getLoc(),
                                   TypeRange(ValueRange(passed)), inits);
  rewriter.modifyOpInPlace(condition,
                           [&] { condition.getArgsMutable().assign(passed); });
  scf::YieldOp yield = loop.getYieldOp();
  SmallVector<Value> yields = ordered(yield.getOperands(), order);
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getResultsMutable().assign(yields); });
  moveTo(rewriter, loop.getBeforeBody(), made.getBefore(),
         TypeRange(ValueRange(inits)),
         [&](unsigned i) { return llvm::find(order, i) - order.begin(); });
  moveTo(rewriter, loop.getAfterBody(), made.getAfter(), made.getResultTypes(),
         [&](unsigned i) { return places[i]; });
  rewriter.replaceOp(loop, ordered(made.getResults(), places));
  return made;
}
