// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every structured linalg op (fill, transpose, generic, matmul, ...) by its own
// definition: indexing maps and a body. linalg.softmax has none.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "Interpreter.h"
#include "Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

namespace {
/// Where an operand's element for some loop indices is; of a scalar, the datum.
struct Access {
  const Tensor *tensor = nullptr; ///< none: a scalar
  AffineMap map;
  /// Of an operand that loops alone index: elements to the next one, per loop.
  std::optional<SmallVector<int64_t>> strides;
  Tensor *output = nullptr; ///< the tensor, if it is one
  Datum scalar;

  FailureOr<int64_t> elementAt(Operation *op, ArrayRef<int64_t> loops) const;
};
} // namespace

FailureOr<int64_t> Access::elementAt(Operation *op,
                                     ArrayRef<int64_t> loops) const {
  if (strides) {
    int64_t position = 0;
    for (auto [loop, stride] : llvm::zip_equal(loops, *strides))
      position += loop * stride;
    return position;
  }
  SmallVector<int64_t> at;
  for (auto [expression, size] :
       llvm::zip_equal(map.getResults(), tensor->shape)) {
    std::optional<int64_t> index = evaluateAffine(expression, loops, {});
    if (!index || *index < 0 || *index >= size)
      return op->emitOpError("reads or writes outside of a tensor");
    at.push_back(*index);
  }
  return tensor->offset(at);
}

/// The strides of `map`'s loops in a tensor of this shape, if it has loops
/// alone.
static std::optional<SmallVector<int64_t>> stridesOf(AffineMap map,
                                                     ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(map.getNumDims(), 0);
  int64_t stride = 1;
  for (auto [expression, size] :
       llvm::reverse(llvm::zip_equal(map.getResults(), shape))) {
    auto loop = dyn_cast<AffineDimExpr>(expression);
    if (!loop)
      return std::nullopt;
    strides[loop.getPosition()] += stride;
    stride *= size;
  }
  return strides;
}

static SmallVector<Access> accessesOf(Frame &frame, linalg::LinalgOp op,
                                      MutableArrayRef<Tensor> outputs) {
  SmallVector<Access> accesses;
  for (OpOperand &operand : op->getOpOperands()) {
    Access &access = accesses.emplace_back();
    if (!isa<RankedTensorType>(operand.get().getType())) {
      access.scalar = frame.get(operand.get());
      continue;
    }
    if (op.isDpsInit(&operand))
      access.output =
          &outputs[operand.getOperandNumber() - op.getNumDpsInputs()];
    access.tensor =
        access.output ? access.output : &frame.tensor(operand.get());
    access.map = op.getMatchingIndexingMap(&operand);
    access.strides = stridesOf(access.map, access.tensor->shape);
  }
  return accesses;
}

/// Whether the body adds a product of two numbers to a sum, and no step of it
/// rounds.
static bool addsProducts(Frame &frame, linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  if (frame.options.narrow || body.getNumArguments() != 3 ||
      !llvm::hasNItems(body, 3))
    return false;
  auto product = dyn_cast<arith::MulFOp>(body.front());
  auto sum = dyn_cast<arith::AddFOp>(*std::next(body.begin()));
  auto are = [](Operation *of, Value a, Value b) {
    return of->getOperand(0) == a && of->getOperand(1) == b;
  };
  return product && sum &&
         are(product, body.getArgument(0), body.getArgument(1)) &&
         are(sum, body.getArgument(2), product) &&
         body.getTerminator()->getOperand(0) == sum;
}

/// Adds one product, as the body would in many more steps.
static LogicalResult addProduct(linalg::LinalgOp op, ArrayRef<int64_t> loops,
                                ArrayRef<Access> accesses) {
  double product = 1;
  for (const Access &factor : accesses.drop_back()) {
    FailureOr<int64_t> position = factor.elementAt(op, loops);
    if (failed(position))
      return failure();
    product *= factor.tensor->elements[*position].real;
  }
  FailureOr<int64_t> position = accesses.back().elementAt(op, loops);
  if (failed(position))
    return failure();
  accesses.back().output->elements[*position].real += product;
  return success();
}

/// Runs the body once and writes what it yields into the outputs.
static LogicalResult evaluateItem(Frame &frame, linalg::LinalgOp op,
                                  ArrayRef<int64_t> loops,
                                  ArrayRef<Access> accesses) {
  SmallVector<Datum> arguments;
  SmallVector<Number *> targets;
  for (const Access &access : accesses) {
    if (!access.tensor) {
      arguments.push_back(access.scalar);
      continue;
    }
    FailureOr<int64_t> position = access.elementAt(op, loops);
    if (failed(position))
      return failure();
    arguments.push_back(access.tensor->elements[*position]);
    if (access.output)
      targets.push_back(&access.output->elements[*position]);
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
  SmallVector<Access> accesses = accessesOf(frame, op, outputs);
  SmallVector<int64_t> loops(sizes->size(), 0);
  bool any = !llvm::is_contained(*sizes, 0),
       adds = addsProducts(frame, op) &&
              llvm::all_of(accesses, [](const Access &a) { return a.tensor; });
  for (; any; any = advance(loops, *sizes))
    if (failed(adds ? addProduct(op, loops, accesses)
                    : evaluateItem(frame, op, loops, accesses)))
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
    for (int64_t i = 0; i < count && std::isinf(top) && top < 0; ++i)
      line[i * step].real = 0; // there is nothing to weigh
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

Outcome attn::reference::evaluateLinalg(Frame &frame, Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()))
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    frame.setInteger(index, frame.loopIndices[index.getDim()]);
    return success();
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return evaluateOp(frame, softmax);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured ? Outcome(evaluateOp(frame, structured)) : std::nullopt;
}
