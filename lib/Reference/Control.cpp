// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops, branches, calls, and affine arithmetic.
#include "Interpreter.h"
#include "Slices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::reference;

using Data = SmallVector<Datum>;

static LogicalResult setResults(Frame &frame, Operation *op,
                                ArrayRef<Datum> data) {
  for (auto [result, datum] : llvm::zip_equal(op->getResults(), data))
    frame.set(result, datum);
  return success();
}

static LogicalResult evaluateOp(Frame &frame, scf::ForOp op) {
  auto bound = [&](Value value) { return frame.integer(value); };
  int64_t upper = bound(op.getUpperBound()), step = bound(op.getStep());
  if (failed(require(op, step > 0, "a positive step, but got " + Twine(step))))
    return failure();
  Data state = frame.get(op.getInits());
  for (int64_t i = bound(op.getLowerBound()); i < upper;) {
    Data arguments{Number::ofInteger(i)};
    arguments.append(state);
    FailureOr<Data> next = frame.run(*op.getBody(), arguments);
    if (failed(next))
      return failure();
    state = std::move(*next);
    if (step > upper - i) // i + step may overflow
      break;
    i += step;
  }
  return setResults(frame, op, state);
}

static LogicalResult evaluateOp(Frame &frame, scf::IfOp op) {
  Region &region = frame.integer(op.getCondition()) ? op.getThenRegion()
                                                    : op.getElseRegion();
  if (region.empty())
    return success();
  FailureOr<Data> results = frame.run(region.front(), {});
  return failed(results) ? failure() : setResults(frame, op, *results);
}

static LogicalResult evaluateOp(Frame &frame, scf::WhileOp op) {
  Data state = frame.get(op.getInits());
  while (true) {
    FailureOr<Data> before = frame.run(*op.getBeforeBody(), state);
    if (failed(before))
      return failure();
    // scf.condition(%goOn) %passed...
    bool goOn = std::get<Number>(before->front()).integer;
    Data passed(llvm::drop_begin(*before));
    if (!goOn)
      return setResults(frame, op, passed);
    FailureOr<Data> after = frame.run(*op.getAfterBody(), passed);
    if (failed(after))
      return failure();
    state = std::move(*after);
  }
}

/// Every item sees the shared tensors as they were before the loop; what it
/// inserts shows in the results only.
static LogicalResult evaluateOp(Frame &frame, scf::ForallOp op) {
  SmallVector<int64_t> lower = frame.integers(op.getMixedLowerBound());
  SmallVector<int64_t> upper = frame.integers(op.getMixedUpperBound());
  SmallVector<int64_t> step = frame.integers(op.getMixedStep());
  SmallVector<int64_t> counts;
  for (auto [l, u, s] : llvm::zip_equal(lower, upper, step)) {
    if (failed(require(op, s > 0, "positive steps, but got " + Twine(s))))
      return failure();
    counts.push_back(u > l ? (u - l - 1) / s + 1 : 0);
  }
  SmallVector<Tensor> results;
  for (Value output : op.getOutputs())
    results.push_back(frame.tensor(output));
  SmallVector<int64_t> item(counts.size(), 0);
  bool any = !llvm::is_contained(counts, 0);
  for (; any; any = advance(item, counts)) {
    Data arguments;
    for (auto [i, l, s] : llvm::zip_equal(item, lower, step))
      arguments.push_back(Number::ofInteger(l + i * s));
    arguments.append(frame.get(op.getOutputs()));
    if (failed(frame.run(*op.getBody(), arguments)))
      return failure();
    for (Operation &insert : op.getTerminator().getYieldingOps()) {
      auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insert);
      if (!slice)
        return insert.emitOpError("cannot be evaluated by the reference");
      auto shared = cast<BlockArgument>(slice.getDest());
      Tensor &target = results[shared.getArgNumber() - counts.size()];
      if (failed(insertSlice(frame, slice, frame.tensor(slice.getSource()),
                             target)))
        return failure();
    }
  }
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    if (failed(frame.setTensor(result, std::move(tensor))))
      return failure();
  return success();
}

static LogicalResult evaluateOp(Frame &frame, func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  FailureOr<Data> results =
      call(callee, frame.get(op.getOperands()), frame.options, frame.depth + 1);
  return failed(results) ? failure() : setResults(frame, op, *results);
}

static LogicalResult evaluateOp(Frame &frame, cf::AssertOp op) {
  if (frame.integer(op.getArg()))
    return success();
  return op.emitOpError() << "does not hold: " << op.getMsg();
}

/// The results of the op's map.
static FailureOr<SmallVector<int64_t>>
evaluateMap(Frame &frame, Operation *op, AffineMap map, OperandRange operands) {
  SmallVector<int64_t> inputs, results;
  for (Value operand : operands)
    inputs.push_back(frame.integer(operand));
  ArrayRef<int64_t> all(inputs);
  for (AffineExpr expression : map.getResults()) {
    auto value = evaluateAffine(expression, all.take_front(map.getNumDims()),
                                all.drop_front(map.getNumDims()));
    if (!value)
      return op->emitOpError("divides by a number that is not positive");
    results.push_back(*value);
  }
  return results;
}

template <typename AffineOp>
static LogicalResult evaluateAffineOp(Frame &frame, AffineOp op) {
  auto values = evaluateMap(frame, op, op.getAffineMap(), op->getOperands());
  if (failed(values))
    return failure();
  bool isMax = isa<affine::AffineMaxOp>(op.getOperation());
  frame.setInteger(op->getResult(0), isMax ? *llvm::max_element(*values)
                                           : *llvm::min_element(*values));
  return success();
}

Outcome attn::reference::evaluateControl(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ForallOp, func::CallOp,
            cf::AssertOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      // The one value of an apply is both its minimum and its maximum.
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto typed) -> Outcome { return evaluateAffineOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
