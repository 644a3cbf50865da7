// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that change scores, or queries and keys before they meet.
#include "ScoreFunctions.h"
#include "Steps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

FailureOr<double> ScoreFunction::operator()(double score, int64_t b, int64_t h,
                                            int64_t q, int64_t k) const {
  if (!region)
    return score;
  SmallVector<Datum> arguments{Number::ofReal(score)};
  for (int64_t index : {b, h, q, k})
    arguments.push_back(Number::ofInteger(index));
  arguments.append(captures);
  auto results = frame.run(region->front(), arguments);
  if (failed(results))
    return failure();
  return std::get<Number>(results->front()).real;
}

/// Replaces every score by `change(score, b, h, q, k)`.
template <typename Change>
static LogicalResult changeByHead(Frame &frame, Operation *op, Change change) {
  Tensor result = frame.tensor(op->getOperand(0));
  HeadView view(result);
  for (int64_t b = 0; b < view.batches(); ++b)
    for (int64_t h = 0; h < view.heads(); ++h)
      for (int64_t q = 0; q < view.rows(); ++q)
        for (int64_t k = 0; k < view.columns(); ++k) {
          double &score = result.elements[view.offset(b, h, q, k)].real;
          FailureOr<double> changed = change(score, b, h, q, k);
          if (failed(changed))
            return failure();
          score = *changed;
        }
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, SoftcapOp op) {
  double cap = op.getCap().convertToDouble();
  Tensor result = frame.tensor(op.getScores());
  for (Number &number : result.elements)
    number.real = cap * std::tanh(number.real / cap);
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, ScoreModOp op) {
  return changeByHead(frame, op, ScoreFunction(frame, op, op.getCaptures()));
}

/// Slope of head `h` of `heads`: powers of 2^(-8/n) for the n heads up to the
/// largest power of two, then every second one of twice as many.
static double paperSlope(int64_t h, int64_t heads) {
  int64_t n = 1;
  while (2 * n <= heads)
    n *= 2;
  if (h < n)
    return std::exp2(-8.0 * (h + 1) / n);
  return std::exp2(-8.0 * (2 * (h - n) + 1) / (2 * n));
}

static LogicalResult evaluateOp(Frame &frame, AlibiOp op) {
  HeadView scores(frame.tensor(op.getScores()));
  const Tensor *slopes =
      op.getSlopes() ? &frame.tensor(op.getSlopes()) : nullptr;
  const Tensor *offset =
      op.getOffset() ? &frame.tensor(op.getOffset()) : nullptr;
  bool perHead = scores.tensor->rank() == 3; // the leading dimension
  if (failed(require(op, !slopes || slopes->size() == scores.heads(),
                     "a slope per head")) ||
      failed(require(op,
                     !offset || offset->size() == 1 ||
                         offset->size() == scores.tensor->shape.front(),
                     "one offset, or one per batch entry")))
    return failure();
  return changeByHead(
      frame, op,
      [&](double score, int64_t b, int64_t h, int64_t q,
          int64_t k) -> FailureOr<double> {
        int64_t start = 0;
        if (op.getAlignment() == Alignment::BottomRight)
          start = scores.columns() - scores.rows();
        if (offset)
          start = offset->elements[offset->size() == 1 ? 0
                                   : perHead           ? h
                                                       : b]
                      .integer;
        double slope =
            slopes ? slopes->elements[h].real : paperSlope(h, scores.heads());
        return score + slope * static_cast<double>(k - q - start);
      });
}

static LogicalResult evaluateOp(Frame &frame, RopeOp op) {
  const Tensor &input = frame.tensor(op.getInput());
  const Tensor &cos = frame.tensor(op.getCos()),
               &sin = frame.tensor(op.getSin());
  const Tensor *positions =
      op.getPositions() ? &frame.tensor(op.getPositions()) : nullptr;
  HeadView x(input);
  int64_t pairs = cos.shape[1], last = cos.shape[0] - 1;
  if (failed(require(op, cos.shape == sin.shape, "cos and sin of one shape")) ||
      failed(require(op,
                     (last >= 0 || pairs == 0 || x.rows() == 0) &&
                         2 * pairs <= x.columns(),
                     "tables with rows and no more pairs than features")) ||
      failed(require(op, !positions || positions->shape.back() == x.rows(),
                     "a position per row")))
    return failure();
  Tensor result = input;
  for (int64_t b = 0; b < x.batches(); ++b)
    for (int64_t h = 0; h < x.heads(); ++h)
      for (int64_t s = 0; s < x.rows(); ++s) {
        int64_t p = s;
        if (positions)
          p = positions->elements[positions->rank() == 2 ? b * x.rows() + s : s]
                  .integer;
        p = std::clamp<int64_t>(p, 0, last);
        for (int64_t i = 0; i < pairs; ++i) {
          int64_t first = op.getInterleaved() ? 2 * i : i;
          int64_t second = op.getInterleaved() ? 2 * i + 1 : i + pairs;
          double c = cos.at({p, i}).real, d = sin.at({p, i}).real;
          double u = x(b, h, s, first), v = x(b, h, s, second);
          result.elements[x.offset(b, h, s, first)].real = u * c - v * d;
          result.elements[x.offset(b, h, s, second)].real = v * c + u * d;
        }
      }
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, RmsNormOp op) {
  Tensor result = frame.tensor(op.getInput());
  const Tensor *weight =
      op.getWeight() ? &frame.tensor(op.getWeight()) : nullptr;
  int64_t features = result.shape.back();
  if (failed(require(op, !weight || weight->size() == features,
                     "a weight per feature")))
    return failure();
  for (int64_t row = 0; row + features <= result.size() && features;
       row += features) {
    double sum = 0;
    for (int64_t d = 0; d < features; ++d)
      sum += result.elements[row + d].real * result.elements[row + d].real;
    double norm = std::sqrt(sum / features + op.getEps().convertToDouble());
    for (int64_t d = 0; d < features; ++d) {
      double &x = result.elements[row + d].real;
      x = x / norm * (weight ? weight->elements[d].real : 1);
    }
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, LayerNormOp op) {
  Tensor result = frame.tensor(op.getInput());
  const Tensor *weight =
      op.getWeight() ? &frame.tensor(op.getWeight()) : nullptr;
  const Tensor *bias = op.getBias() ? &frame.tensor(op.getBias()) : nullptr;
  int64_t features = result.shape.back();
  if (failed(require(op,
                     (!weight || weight->size() == features) &&
                         (!bias || bias->size() == features),
                     "a weight and a bias per feature")))
    return failure();
  for (int64_t row = 0; row + features <= result.size() && features;
       row += features) {
    double sum = 0, squares = 0;
    for (int64_t d = 0; d < features; ++d)
      sum += result.elements[row + d].real;
    double mean = sum / features;
    for (int64_t d = 0; d < features; ++d)
      squares += std::pow(result.elements[row + d].real - mean, 2);
    double deviation =
        std::sqrt(squares / features + op.getEps().convertToDouble());
    for (int64_t d = 0; d < features; ++d) {
      double &x = result.elements[row + d].real;
      x = (x - mean) / deviation * (weight ? weight->elements[d].real : 1) +
          (bias ? bias->elements[d].real : 0);
    }
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

Outcome attn::reference::evaluateScoreOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<SoftcapOp, ScoreModOp, AlibiOp, RopeOp, RmsNormOp, LayerNormOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
