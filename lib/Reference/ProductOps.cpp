// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products, whole and tile by tile.
#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {
/// A weight as a matrix of K rows and N columns, however it lies.
struct Weight {
  const Tensor &tensor;
  bool transposed;

  bool panels() const { return tensor.shape.size() == 3; }
  int64_t depth() const { return tensor.shape[panels() || transposed]; }
  int64_t columns() const {
    return panels() ? tensor.shape[0] * tensor.shape[2]
                    : tensor.shape[!transposed];
  }
  double at(int64_t row, int64_t column) const {
    int64_t width = tensor.shape.back();
    if (panels())
      return tensor.at({column / width, row, column % width}).real;
    return (transposed ? tensor.at({column, row}) : tensor.at({row, column}))
        .real;
  }
};
} // namespace

static LogicalResult evaluateOp(Frame &frame, ProjectOp op) {
  const Tensor &input = frame.tensor(op.getInput());
  const Tensor &weight = frame.tensor(op.getWeight());
  const Tensor *bias = op.getBias() ? &frame.tensor(op.getBias()) : nullptr;
  int64_t inner = weight.shape[op.depthDim()],
          columns = weight.shape[op.columnDim()];
  if (failed(require(op, input.shape.back() == inner,
                     "input and weight of the same inner size")) ||
      failed(require(op, !op.hasWeights() || input.shape[0] == weight.shape[0],
                     "a weight per batch entry")) ||
      failed(require(op, !bias || bias->size() == columns,
                     "a bias per column of the weight")))
    return failure();
  SmallVector<int64_t> shape(input.shape);
  shape.back() = columns;
  FailureOr<Tensor> result = makeTensor(op, shape);
  if (failed(result))
    return failure();
  int64_t perEntry = shape[shape.size() - 2] * columns;
  for (int64_t position = 0; position < result->size(); ++position) {
    int64_t row = position / columns, n = position % columns;
    int64_t matrix =
        op.hasWeights() ? position / perEntry * inner * columns : 0;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      int64_t at = op.getTransposed() ? n * inner + k : k * columns + n;
      sum += input.elements[row * inner + k].real *
             weight.elements[matrix + at].real;
    }
    result->elements[position].real = bias ? sum + bias->elements[n].real : sum;
  }
  return frame.setTensor(op->getResult(0), std::move(*result));
}

/// A tile op on memrefs has no result.
static LogicalResult setResult(Frame &frame, Operation *op, Tensor tensor) {
  return op->getNumResults()
             ? frame.setTensor(op->getResult(0), std::move(tensor))
             : success();
}

static LogicalResult evaluateOp(Frame &frame, PackPanelsOp op) {
  Weight weight{frame.tensor(op.getWeight()), op.getTransposed()};
  Tensor panels = frame.tensor(op.getPanels());
  int64_t depth = weight.depth(), width = panels.shape[2];
  if (failed(require(op, panels.shape[1] == depth,
                     "panels of as many rows as the weight")) ||
      failed(require(op, weight.columns() <= panels.shape[0] * width,
                     "panels for all columns of the weight")))
    return failure();
  for (int64_t p = 0; p < panels.shape[0]; ++p)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < width; ++n) {
        int64_t column = p * width + n;
        panels.at({p, k, n}).real =
            column < weight.columns() ? weight.at(k, column) : 0;
      }
  return setResult(frame, op, std::move(panels));
}

/// What becomes of the sum at (m, n).
template <typename TileOp>
static FailureOr<double> epilogue(Frame &frame, TileOp op, int64_t m, int64_t n,
                                  double sum) {
  mlir::Block *block = op.getEpilogueBlock();
  if (!block)
    return sum;
  SmallVector<Datum> arguments{Number::ofReal(sum)};
  for (Value capture : op.getCaptures()) {
    const Tensor &tensor = frame.tensor(capture);
    arguments.push_back(tensor.rank() == 1 ? tensor.elements[n]
                                           : tensor.at({m, n}));
  }
  auto results = frame.run(*block, arguments);
  if (failed(results))
    return failure();
  return std::get<Number>(results->front()).real;
}

/// One tile of a projection, for a CPU or a GPU.
template <typename TileOp>
static LogicalResult multiply(Frame &frame, TileOp op) {
  const Tensor &input = frame.tensor(op.getInput());
  Weight weight{frame.tensor(op.getWeight()), op.getTransposed()};
  const Tensor *bias = op.getBias() ? &frame.tensor(op.getBias()) : nullptr;
  Tensor out = frame.tensor(op.getOut());
  int64_t depth = weight.depth();
  int64_t columns = weight.panels() ? out.shape[1] : weight.columns();
  SmallVector<int64_t> shape{input.shape[0], columns};
  if (failed(require(op, input.shape[1] == depth,
                     "input and weight of the same inner size")) ||
      failed(require(op, columns <= weight.columns(),
                     "panels for all columns of out")) ||
      failed(require(op, out.shape == shape,
                     "out to have a row per input row and a column per weight "
                     "column")) ||
      failed(require(op, !bias || bias->size() == columns,
                     "a bias per column of the weight")))
    return failure();
  for (int64_t m = 0; m < shape[0]; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += input.at({m, k}).real * weight.at(k, n);
      sum = bias ? sum + bias->elements[n].real : sum;
      FailureOr<double> result = epilogue(frame, op, m, n, sum);
      if (failed(result))
        return failure();
      out.at({m, n}).real = *result;
    }
  return setResult(frame, op, std::move(out));
}

static LogicalResult evaluateOp(Frame &frame, ProjectTileOp op) {
  return multiply(frame, op);
}
static LogicalResult evaluateOp(Frame &frame, ProjectBlockOp op) {
  return multiply(frame, op);
}

Outcome attn::reference::evaluateProductOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<ProjectOp, PackPanelsOp, ProjectTileOp, ProjectBlockOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
