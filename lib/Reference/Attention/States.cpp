// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partial states as tensors: m and l with an element per row, acc row by row.
#include "Steps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {
struct StateTensors {
  Tensor maximum, sum, acc;
};
} // namespace

/// The state in three operands of an op, the first at `first`.
static FailureOr<StateTensors> stateAt(Frame &frame, Operation *op,
                                       unsigned first) {
  StateTensors state{frame.tensor(op->getOperand(first)),
                     frame.tensor(op->getOperand(first + 1)),
                     frame.tensor(op->getOperand(first + 2))};
  ArrayRef<int64_t> rows = ArrayRef(state.acc.shape).drop_back();
  if (failed(require(op,
                     ArrayRef(state.maximum.shape) == rows &&
                         ArrayRef(state.sum.shape) == rows,
                     "an element of maximum and sum per row of acc")))
    return failure();
  return state;
}

static LogicalResult setState(Frame &frame, Operation *op,
                              StateTensors &&state) {
  return success(
      succeeded(frame.setTensor(op->getResult(0), std::move(state.maximum))) &&
      succeeded(frame.setTensor(op->getResult(1), std::move(state.sum))) &&
      succeeded(frame.setTensor(op->getResult(2), std::move(state.acc))));
}

/// Row `row` of two states together; a state without a key changes nothing.
static void mergeRow(StateTensors &first, const StateTensors &second,
                     int64_t row) {
  int64_t width = first.acc.shape.back();
  double a = first.maximum.elements[row].real,
         b = second.maximum.elements[row].real;
  if (b == excluded)
    return;
  double m = maximum(a, b);
  double e1 = exponential(a, m), e2 = exponential(b, m);
  auto merge = [&](double x, double y) {
    return a == excluded ? y : e1 * x + e2 * y;
  };
  first.maximum.elements[row].real = m;
  Number &sum = first.sum.elements[row];
  sum.real = merge(sum.real, second.sum.elements[row].real);
  for (int64_t i = row * width; i < (row + 1) * width; ++i)
    first.acc.elements[i].real =
        merge(first.acc.elements[i].real, second.acc.elements[i].real);
}

/// Merges the states in the first six operands.
static LogicalResult evaluateMerge(Frame &frame, Operation *op) {
  FailureOr<StateTensors> first = stateAt(frame, op, 0),
                          second = stateAt(frame, op, 3);
  if (failed(first) || failed(second) ||
      failed(require(op, first->acc.shape == second->acc.shape,
                     "states of the same shape")))
    return failure();
  for (int64_t row = 0; row < first->sum.size(); ++row)
    mergeRow(*first, *second, row);
  return setState(frame, op, std::move(*first));
}

/// acc / l, and m + log l if there is a second result.
static LogicalResult evaluateFinalize(Frame &frame, Operation *op) {
  FailureOr<StateTensors> state = stateAt(frame, op, 0);
  if (failed(state))
    return failure();
  int64_t width = state->acc.shape.back();
  for (int64_t i = 0; i < state->acc.size(); ++i) {
    double sum = state->sum.elements[i / width].real;
    Number &out = state->acc.elements[i];
    out.real = sum == 0 ? 0 : out.real / sum;
  }
  if (failed(frame.setTensor(op->getResult(0), std::move(state->acc))))
    return failure();
  if (op->getNumResults() == 1)
    return success();
  for (int64_t row = 0; row < state->sum.size(); ++row) {
    double sum = state->sum.elements[row].real;
    Number &lse = state->maximum.elements[row];
    lse.real = sum == 0 ? excluded : lse.real + std::log(sum);
  }
  return frame.setTensor(op->getResult(1), std::move(state->maximum));
}

/// A maximum as a caller gets it.
static double returnedMaximum(double m, double sum) {
  return std::isnan(sum) ? sum : m;
}

static LogicalResult evaluateOp(Frame &frame, ReturnStateOp op) {
  const State &state = frame.state(op.getState());
  FailureOr<StateTensors> rows = stateAt(frame, op, 1);
  SmallVector<int64_t> shape{state.rows, state.valueDim};
  if (failed(rows) || failed(require(op, rows->acc.shape == shape,
                                     "acc to have a row per query")))
    return failure();
  for (int64_t row = 0; row < state.rows; ++row) {
    rows->maximum.elements[row].real =
        returnedMaximum(state.maximum[row], state.sum[row]);
    rows->sum.elements[row].real = state.sum[row];
  }
  for (auto [number, value] : llvm::zip(rows->acc.elements, state.context))
    number.real = value;
  return setState(frame, op, std::move(*rows));
}

static LogicalResult evaluateOp(Frame &frame, CombineStateOp op) {
  const Tensor &parts = frame.tensor(op.getParts());
  FailureOr<StateTensors> rows = stateAt(frame, op, 1);
  int64_t dim = parts.shape[2] - 2;
  SmallVector<int64_t> shape{parts.shape[1], dim};
  if (failed(rows) || failed(require(op, rows->acc.shape == shape,
                                     "acc to have a row per row of the parts")))
    return failure();
  for (int64_t i = 0; i < shape[0]; ++i) {
    double m = excluded, sum = 0;
    for (int64_t s = 0; s < parts.shape[0]; ++s)
      m = maximum(m, parts.at({s, i, dim}).real * std::log(2.0));
    auto factor = [&](int64_t s) {
      return exponential(parts.at({s, i, dim}).real * std::log(2.0), m);
    };
    for (int64_t s = 0; s < parts.shape[0]; ++s)
      sum += weigh(factor(s), parts.at({s, i, dim + 1}).real);
    for (int64_t d = 0; d < dim; ++d) {
      double acc = 0;
      for (int64_t s = 0; s < parts.shape[0]; ++s)
        acc += weigh(factor(s), parts.at({s, i, d}).real);
      rows->acc.at({i, d}).real = acc;
    }
    rows->maximum.elements[i].real = returnedMaximum(m, sum);
    rows->sum.elements[i].real = sum;
  }
  return setState(frame, op, std::move(*rows));
}

Outcome attn::reference::evaluateStateOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<MergeStatesOp, MergeRowsOp>(
          [&](auto) -> Outcome { return evaluateMerge(frame, op); })
      .Case<FinalizeStateOp, FinalizeRowsOp>(
          [&](auto) -> Outcome { return evaluateFinalize(frame, op); })
      .Case<ReturnStateOp, CombineStateOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
