// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every structured linalg op (fill, transpose, generic, matmul, ...) by its own
// definition: indexing maps and a body. linalg.softmax has none.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "Interpreter.h"
#include "Steps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace attn::reference;

/// Sizes of the loops: where an operand is indexed by a loop alone, the size of
/// that dimension.
static FailureOr<SmallVector<int64_t>> loopSizes(Frame &frame,
                                                 linalg::LinalgOp op) {
  SmallVector<int64_t> sizes(op.getNumLoops(), -1);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    const Tensor &tensor = frame.tensor(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expression, size] :
         llvm::zip_equal(map.getResults(), tensor.shape))
      if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
        int64_t &known = sizes[loop.getPosition()];
        if (failed(require(op, known < 0 || known == size,
                           "operands whose sizes agree")))
          return failure();
        known = size;
      }
  }
  if (llvm::is_contained(sizes, -1))
    return op->emitOpError("cannot be evaluated by the reference: the size of "
                           "a loop is not known");
  return sizes;
}

/// Position of the operand's element for these loop indices.
static FailureOr<int64_t> elementAt(Operation *op, AffineMap map,
                                    const Tensor &tensor,
                                    ArrayRef<int64_t> loops) {
  SmallVector<int64_t> at;
  for (auto [expression, size] :
       llvm::zip_equal(map.getResults(), tensor.shape)) {
    std::optional<int64_t> index = evaluateAffine(expression, loops, {});
    if (!index || *index < 0 || *index >= size)
      return op->emitOpError("reads or writes outside of a tensor");
    at.push_back(*index);
  }
  return tensor.offset(at);
}

/// Runs the body once and writes what it yields into `outputs`.
static LogicalResult evaluateItem(Frame &frame, linalg::LinalgOp op,
                                  ArrayRef<int64_t> loops,
                                  MutableArrayRef<Tensor> outputs) {
  SmallVector<Datum> arguments;
  SmallVector<Number *> targets;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      arguments.push_back(frame.get(operand.get()));
      continue;
    }
    bool isOutput = op.isDpsInit(&operand);
    unsigned output = operand.getOperandNumber() - op.getNumDpsInputs();
    const Tensor &tensor =
        isOutput ? outputs[output] : frame.tensor(operand.get());
    FailureOr<int64_t> position =
        elementAt(op, op.getMatchingIndexingMap(&operand), tensor, loops);
    if (failed(position))
      return failure();
    arguments.push_back(tensor.elements[*position]);
    if (isOutput)
      targets.push_back(&outputs[output].elements[*position]);
  }
  frame.loopIndices.assign(loops.begin(), loops.end());
  FailureOr<SmallVector<Datum>> yielded = frame.run(*op.getBlock(), arguments);
  if (failed(yielded))
    return failure();
  for (auto [target, datum] : llvm::zip_equal(targets, *yielded))
    *target = std::get<Number>(datum);
  return success();
}

static LogicalResult evaluateOp(Frame &frame, linalg::LinalgOp op) {
  FailureOr<SmallVector<int64_t>> sizes = loopSizes(frame, op);
  if (failed(sizes))
    return failure();
  SmallVector<Tensor> outputs;
  for (Value init : op.getDpsInits())
    outputs.push_back(frame.tensor(init));
  SmallVector<int64_t> loops(sizes->size(), 0);
  bool any = !llvm::is_contained(*sizes, 0);
  for (; any; any = advance(loops, *sizes))
    if (failed(evaluateItem(frame, op, loops, outputs)))
      return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), outputs))
    if (failed(frame.setTensor(result, std::move(tensor))))
      return failure();
  return success();
}

static LogicalResult evaluateOp(Frame &frame, linalg::SoftmaxOp op) {
  Tensor result = frame.tensor(op.getInput());
  int64_t along = static_cast<int64_t>(op.getDimension());
  int64_t count = result.shape[along], step = 1;
  for (int64_t size : ArrayRef(result.shape).drop_front(along + 1))
    step *= size;
  SmallVector<int64_t> lines(result.shape), at(result.rank(), 0);
  lines[along] = 1;
  bool any = !llvm::is_contained(result.shape, 0);
  for (; any; any = advance(at, lines)) {
    Number *line = &result.elements[result.offset(at)];
    double top = line[0].real, sum = 0;
    for (int64_t i = 1; i < count; ++i)
      top = maximum(top, line[i * step].real);
    for (int64_t i = 0; i < count; ++i)
      sum += line[i * step].real = std::exp(line[i * step].real - top);
    for (int64_t i = 0; i < count; ++i)
      line[i * step].real /= sum;
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

Outcome attn::reference::evaluateLinalg(Frame &frame, Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    frame.setInteger(index, frame.loopIndices[index.getDim()]);
    return success();
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return evaluateOp(frame, softmax);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured ? Outcome(evaluateOp(frame, structured)) : std::nullopt;
}
