// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a turn of a loop yields is put where the loop's argument lies.
//
// Before:  scf.for .. iter_args(%x = %q) { ..; scf.yield %y }
// After:   scf.for .. iter_args(%x = %q) {
//            %next = bufferization.materialize_in_destination %y in %x
//            scf.yield %next
//          }
//
// A loop then has one buffer per tensor for all turns: the work space has its
// size before the kernel runs, and one-shot bufferization accepts no other
// loop. Where %y can be computed in the place of %x, nothing is copied. Where
// %y is %x with other elements, written one by one, it lies there already, and
// loops in loops would ask for two places. Where %y is another argument, as
// when two are swapped, it is copied where the turn begins: its place may be
// written before %x is.
//
// Of an scf.while the condition passes all arguments on, the tensors in front,
// so that each has one place in both regions (AlignedWhile.h).
//
// Before: tensors; loops of the user, none of attn-tile-queries. After: the
// same.
#include "AlignedWhile.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_YIELDINTOARGUMENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The operand that `value` is, but for elements that an op wrote, itself or in
/// its turns; null if it is something else.
static OpOperand *writtenOperand(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op))
    return &insert.getDestMutable();
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op))
    return loop.getTiedLoopInit(cast<OpResult>(value));
  return nullptr;
}

/// Whether `value` is `argument` but for elements that were written, and nobody
/// reads what they were before.
static bool liesIn(Value value, Value argument) {
  while (value != argument) {
    OpOperand *written = writtenOperand(value);
    if (!written)
      return false;
    Operation *op = written->getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      if (!liesIn(loop.getYieldedValues()[number],
                  loop.getRegionIterArg(number)))
        return false;
    }
    for (Operation *user : written->get().getUsers())
      if (user != op &&
          (!isa<tensor::ExtractOp, tensor::DimOp>(user) ||
           user->getBlock() != op->getBlock() || op->isBeforeInBlock(user)))
        return false;
    value = written->get();
  }
  return true;
}

namespace {
/// A loop of the user: `arguments` are those of a turn, of which `inits` are
/// the first.
struct Turns {
  Operation *loop;
  ValueRange inits;
  ArrayRef<BlockArgument> arguments;
  Operation *yield;

  Value copied(BlockArgument argument);
  void yieldIntoArguments();
};
} // namespace

/// A copy of one of the loop's arguments, made where the turn begins.
Value Turns::copied(BlockArgument argument) {
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value init = inits[llvm::find(arguments, argument) - arguments.begin()];
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, init),
      cast<RankedTensorType>(init.getType()).getElementType());
  b.setInsertionPointToStart(argument.getOwner());
  return linalg::CopyOp::create(b, loc, argument, empty).getResult(0);
}

void Turns::yieldIntoArguments() {
  OpBuilder b(yield);
  auto put = [&](Value value, Value argument, OpOperand &operand) {
    operand.set(bufferization::MaterializeInDestinationOp::create(
                    b, yield->getLoc(), argument.getType(), value, argument)
                    .getResult());
  };
  llvm::SmallDenseMap<Value, Value> placed;
  // What is computed may lie where a copy goes.
  SmallVector<std::pair<BlockArgument, OpOperand *>> copies;
  for (auto [argument, operand] :
       llvm::zip(arguments, yield->getOpOperands())) {
    if (!isa<RankedTensorType>(argument.getType()) ||
        liesIn(operand.get(), argument))
      continue;
    if (llvm::is_contained(arguments, operand.get()))
      copies.push_back({argument, &operand});
    else {
      // One that is yielded twice is computed in the first place.
      Value value = operand.get(), first = placed.lookup(value);
      put(first ? first : value, argument, operand);
      placed.try_emplace(value, operand.get());
    }
  }
  for (auto [argument, operand] : copies)
    put(copied(cast<BlockArgument>(operand->get())), argument, *operand);
}

namespace {
struct YieldIntoArguments
    : attn::impl::YieldIntoArgumentsBase<YieldIntoArguments> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      SmallVector<BlockArgument> arguments(loop.getRegionIterArgs());
      Turns{loop, loop.getInitArgs(), arguments,
            loop.getBody()->getTerminator()}
          .yieldIntoArguments();
    });
    SmallVector<scf::WhileOp> loops;
    getOperation()->walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::WhileOp loop : loops) {
      FailureOr<scf::WhileOp> aligned = alignWhile(rewriter, loop);
      if (failed(aligned))
        return signalPassFailure();
      auto arguments = llvm::to_vector(
          aligned->getAfterArguments().take_front(aligned->getInits().size()));
      Turns{*aligned, aligned->getInits(), arguments, aligned->getYieldOp()}
          .yieldIntoArguments();
    }
  }
};
} // namespace
