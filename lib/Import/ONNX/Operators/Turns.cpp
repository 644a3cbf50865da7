// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns are an scf.for of their states and of all results:
//   %states, %all = scf.for %i (%states, %all) {
//     %next, %one = ..
//     %more = tensor.insert_slice %one into %all[%i, ..]
//     scf.yield %next, %more
//   }
#include "Operators/Turns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn::onnx;

Tensor attn::onnx::computed(Value value, ArrayRef<Size> shape) {
  return {getElementTypeOrSelf(value), Shape(shape), value, {}, {}};
}

Value attn::onnx::fromTheEnd(TensorBuilder &t, const Size &count, Value index) {
  return arith::SubIOp::create(t.b, t.loc, t.index(count - Size(1)), index);
}

namespace {
/// A slice of one place along the first dimension.
struct OnePlace {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  OnePlace(TensorBuilder &t, ArrayRef<Size> whole, Value index)
      : offsets(whole.size(), t.b.getIndexAttr(0)), sizes(t.folded(whole)),
        strides(whole.size(), t.b.getIndexAttr(1)) {
    offsets[0] = index;
    sizes[0] = t.b.getIndexAttr(1);
  }
};
} // namespace

Tensor attn::onnx::partOf(TensorBuilder &t, Tensor &whole, Value index) {
  ArrayRef<Size> shape = ArrayRef<Size>(whole.shape).drop_front();
  Value all = t.value(whole);
  OnePlace place(t, whole.shape, index);
  Value part = tensor::ExtractSliceOp::create(
      t.b, t.loc, t.type(shape, whole.element), all, place.offsets, place.sizes,
      place.strides);
  return computed(part, shape);
}

namespace {
/// One result of a turn, and what all turns give.
struct Collected {
  Value one;
  Shape all;
  bool isReverse;
};
} // namespace

/// The loop with the results of all turns.
static scf::ForOp collect(TensorBuilder &t, scf::ForOp loop,
                          ArrayRef<Collected> results) {
  SmallVector<Value> inits;
  t.b.setInsertionPoint(loop);
  for (const Collected &each : results)
    inits.push_back(t.empty(each.all, getElementTypeOrSelf(each.one)));
  auto yields = [&](OpBuilder &b, Location loc,
                    ArrayRef<BlockArgument> all) -> SmallVector<Value> {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.restoreInsertionPoint(b.saveInsertionPoint());
    SmallVector<Value> next;
    for (auto [each, into] : llvm::zip_equal(results, all)) {
      Value index = loop.getInductionVar();
      if (each.isReverse)
        index = fromTheEnd(t, each.all[0], index);
      OnePlace place(t, each.all, index);
      next.push_back(tensor::InsertSliceOp::create(
          t.b, loc, each.one, into, place.offsets, place.sizes, place.strides));
    }
    return next;
  };
  IRRewriter rewriter(t.b.getContext());
  rewriter.setInsertionPoint(loop);
  auto made = loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields);
  return cast<scf::ForOp>(made->getOperation());
}

/// One turn in `loop`, with its end; none after reports.
static std::optional<Turn> makeTurn(TensorBuilder &t, scf::ForOp loop,
                                    ArrayRef<Tensor> first, TurnFunction turn) {
  if (first.empty()) // MLIR has added an end already
    loop.getBody()->getTerminator()->erase();
  t.b.setInsertionPointToStart(loop.getBody());
  Tensors states;
  for (auto [value, state] : llvm::zip_equal(loop.getRegionIterArgs(), first))
    states.push_back(computed(value, state.shape));
  std::optional<Turn> made = turn(loop.getInductionVar(), states);
  if (!made)
    return made;
  bool changes = false;
  SmallVector<Value> next;
  for (auto [state, then] : llvm::zip_equal(first, made->states)) {
    changes |= state.element != then.element ||
               !ArrayRef(state.shape).equals(then.shape);
    next.push_back(t.value(then));
  }
  for (Tensor &result : made->results)
    t.value(result);
  if (changes)
    next.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
  scf::YieldOp::create(t.b, t.loc, next);
  if (changes)
    made->states.clear();
  return made;
}

Course attn::onnx::inTurns(TensorBuilder &t, const Size &count, Tensors first,
                           ArrayRef<bool> isReverse, TurnFunction turn) {
  unsigned mark = t.sizes.count();
  SmallVector<Value> begins;
  for (Tensor &state : first)
    begins.push_back(t.value(state));
  Value zero = t.index(0), end = t.index(count), one = t.index(1);
  auto loop = scf::ForOp::create(t.b, t.loc, zero, end, one, begins);
  OpBuilder::InsertionGuard guard(t.b);
  std::optional<Turn> made = makeTurn(t, loop, first, turn);
  Course course;
  if (!made)
    course.outcome = Course::Reported;
  else if (made->states.size() != first.size())
    course.outcome = Course::StateChanges;
  else
    for (const Tensor &result : made->results)
      for (const Size &size : result.shape)
        if (!t.sizes.isOlder(size, mark))
          course.outcome = Course::ResultChanges;
  if (course.outcome != Course::Done)
    return course;
  SmallVector<Collected> results;
  for (auto [i, result] : llvm::enumerate(made->results)) {
    Shape all{count};
    llvm::append_range(all, result.shape);
    results.push_back(
        {result.value, all, i < isReverse.size() && isReverse[i]});
  }
  loop = collect(t, loop, results);
  for (auto [i, value] : llvm::enumerate(loop.getResults())) {
    bool isState = i < first.size();
    Tensors &into = isState ? course.states : course.results;
    into.push_back(computed(value, isState ? first[i].shape
                                           : results[i - first.size()].all));
  }
  return course;
}
