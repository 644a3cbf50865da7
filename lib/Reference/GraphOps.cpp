// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textbook steps, one op each.
#include "Attention/Dropout.h"
#include "Attention/Masks.h"
#include "Steps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// Calls `visit(b, h)` for every batch entry and head of `view`.
template <typename Visit>
static void forEachHead(const HeadView &view, Visit visit) {
  for (int64_t b = 0; b < view.batches(); ++b)
    for (int64_t h = 0; h < view.heads(); ++h)
      visit(b, h);
}

/// Checks batch, heads and one size of two tensors that meet in a product.
static LogicalResult checkPair(Operation *op, const HeadView &left,
                               const HeadView &right, int64_t leftInner,
                               int64_t rightInner) {
  if (failed(require(op, left.batches() == right.batches(),
                     "tensors of the same batch size")) ||
      failed(require(op, sharesHeads(left.heads(), right.heads()),
                     "the number of heads to be a multiple")))
    return failure();
  return require(op, leftInner == rightInner, "the same inner size");
}

static LogicalResult evaluateOp(Frame &frame, ScoresOp op) {
  const Tensor &query = frame.tensor(op.getQuery());
  HeadView q(query), k(frame.tensor(op.getKey()));
  if (failed(checkPair(op, q, k, q.columns(), k.columns())))
    return failure();
  SmallVector<int64_t> shape(query.shape);
  shape.back() = k.rows();
  FailureOr<Tensor> scores = makeTensor(op, shape);
  if (failed(scores))
    return failure();
  HeadView s(*scores);
  forEachHead(s, [&](int64_t b, int64_t h) {
    int64_t shared = sharedHead(h, q.heads(), k.heads());
    for (int64_t i = 0; i < s.rows(); ++i)
      for (int64_t j = 0; j < s.columns(); ++j) {
        double sum = 0;
        for (int64_t d = 0; d < q.columns(); ++d)
          sum += q(b, h, i, d) * k(b, shared, j, d);
        scores->elements[s.offset(b, h, i, j)].real = sum;
      }
  });
  return frame.setTensor(op->getResult(0), std::move(*scores));
}

static LogicalResult evaluateOp(Frame &frame, ScaleOp op) {
  Tensor result = frame.tensor(op.getInput());
  for (Number &number : result.elements)
    number.real *= op.getFactor().convertToDouble();
  return frame.setTensor(op->getResult(0), std::move(result));
}

/// Replaces every score by `change(score, its position)`.
template <typename Change>
static LogicalResult changeScores(Frame &frame, Operation *op, Change change) {
  Tensor result = frame.tensor(op->getOperand(0));
  SmallVector<int64_t> indices(result.rank(), 0);
  for (Number &number : result.elements) {
    number.real = change(number.real, ArrayRef<int64_t>(indices));
    advance(indices, result.shape);
  }
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, BiasOp op) {
  const Tensor &bias = frame.tensor(op.getBias());
  if (failed(require(op,
                     broadcasts(bias.shape, frame.tensor(op.getScores()).shape),
                     "the bias to broadcast to the scores")))
    return failure();
  return changeScores(frame, op, [&](double score, ArrayRef<int64_t> pair) {
    return addBias(score, bias.elements[broadcastOffset(bias, pair)].real);
  });
}

static LogicalResult evaluateOp(Frame &frame, MaskOp op) {
  if (failed(require(op, frame.tensor(op.getScores()).rank() >= 2,
                     "scores of rank 2 at least")))
    return failure();
  FailureOr<Mask> mask =
      Mask::make(frame, op, op.getMask(), op.getMaskOperands(),
                 frame.tensor(op.getScores()).shape);
  if (failed(mask))
    return failure();
  return changeScores(frame, op, [&](double score, ArrayRef<int64_t> pair) {
    return mask->sees(pair) ? score : excluded;
  });
}

static LogicalResult evaluateOp(Frame &frame, MaskFnOp op) {
  SmallVector<Datum> captures = frame.get(op.getCaptures());
  bool good = true;
  LogicalResult set =
      changeScores(frame, op, [&](double score, ArrayRef<int64_t> pair) {
        std::optional<bool> seen;
        if (good)
          seen = answerOf(frame, op.getPredicate().front(), pair, captures);
        good = seen.has_value();
        return seen.value_or(false) ? score : excluded;
      });
  return success(good && succeeded(set));
}

static LogicalResult evaluateOp(Frame &frame, SoftmaxOp op) {
  Tensor result = frame.tensor(op.getScores());
  HeadView s(frame.tensor(op.getScores()));
  const Tensor *sinks = op.getSinks() ? &frame.tensor(op.getSinks()) : nullptr;
  if (failed(
          require(op, !sinks || sinks->size() == s.heads(), "a sink per head")))
    return failure();
  forEachHead(s, [&](int64_t b, int64_t h) {
    double sink = sinks ? sinks->elements[h].real : excluded;
    for (int64_t i = 0; i < s.rows(); ++i) {
      double m = sink;
      for (int64_t j = 0; j < s.columns(); ++j)
        m = maximum(m, s(b, h, i, j));
      double sum = sinkTerm(sink, m);
      for (int64_t j = 0; j < s.columns(); ++j)
        sum += exponential(s(b, h, i, j), m);
      for (int64_t j = 0; j < s.columns(); ++j) {
        double weight = exponential(s(b, h, i, j), m);
        result.elements[s.offset(b, h, i, j)].real =
            s(b, h, i, j) == excluded ? 0 : weight / sum;
      }
    }
  });
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, DropoutOp op) {
  Tensor result = frame.tensor(op.getWeights());
  HeadView w(frame.tensor(op.getWeights()));
  Dropout dropout(op.getProbability().convertToDouble(),
                  frame.tensor(op.getSeed()).elements[0].integer);
  forEachHead(w, [&](int64_t b, int64_t h) {
    for (int64_t i = 0; i < w.rows(); ++i)
      for (int64_t j = 0; j < w.columns(); ++j)
        result.elements[w.offset(b, h, i, j)].real =
            dropout.weight(w(b, h, i, j), b, h, i, j);
  });
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, SigmoidOp op) {
  return changeScores(frame, op, [](double score, ArrayRef<int64_t>) {
    return sigmoid(score);
  });
}

static LogicalResult evaluateOp(Frame &frame, SubtractWeightsOp op) {
  Tensor result = frame.tensor(op.getFirst());
  HeadView second(frame.tensor(op.getSecond()));
  const Tensor &lambda = frame.tensor(op.getLambda());
  if (failed(require(op, second.tensor->shape == result.shape,
                     "weights of the same shape")) ||
      failed(requireLambda(op, lambda, second.heads())))
    return failure();
  forEachHead(second, [&](int64_t b, int64_t h) {
    for (int64_t i = 0; i < second.rows(); ++i)
      for (int64_t j = 0; j < second.columns(); ++j)
        result.elements[second.offset(b, h, i, j)].real -=
            weigh(second(b, h, i, j), lambdaOf(lambda, h));
  });
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, ContextOp op) {
  const Tensor &weights = frame.tensor(op.getWeights());
  HeadView w(weights), v(frame.tensor(op.getValue()));
  if (failed(checkPair(op, w, v, w.columns(), v.rows())))
    return failure();
  SmallVector<int64_t> shape(weights.shape);
  shape.back() = v.columns();
  FailureOr<Tensor> out = makeTensor(op, shape);
  if (failed(out))
    return failure();
  HeadView o(*out);
  forEachHead(o, [&](int64_t b, int64_t h) {
    int64_t shared = sharedHead(h, w.heads(), v.heads());
    for (int64_t i = 0; i < o.rows(); ++i)
      for (int64_t d = 0; d < o.columns(); ++d) {
        double sum = 0;
        for (int64_t j = 0; j < v.rows(); ++j)
          sum += weigh(frame.besideValues(op.getValue(), w(b, h, i, j)),
                       v(b, shared, j, d));
        out->elements[o.offset(b, h, i, d)].real = sum;
      }
  });
  return frame.setTensor(op->getResult(0), std::move(*out));
}

/// Moves elements between joined (.., S, H*D) and split (.., H, S, D), whose
/// sequence-major view is the joined tensor.
static LogicalResult moveHeads(Frame &frame, Operation *op, int64_t heads,
                               bool split) {
  const Tensor &input = frame.tensor(op->getOperand(0));
  SmallVector<int64_t> shape(input.shape);
  size_t rank = shape.size();
  if (split) {
    if (failed(require(op, heads > 0 && shape.back() % heads == 0,
                       "the model dimension to be a multiple of the heads")))
      return failure();
    shape.insert(shape.end() - 2, heads);
    shape.back() /= heads;
  } else {
    shape[rank - 1] *= shape[rank - 3];
    shape.erase(shape.end() - 3);
  }
  FailureOr<Tensor> result = makeTensor(op, shape);
  if (failed(result))
    return failure();
  HeadView view(split ? *result : input);
  int64_t joined = view.heads() * view.columns();
  forEachHead(view, [&](int64_t b, int64_t h) {
    for (int64_t i = 0; i < view.rows(); ++i)
      for (int64_t d = 0; d < view.columns(); ++d) {
        int64_t here = view.offset(b, h, i, d);
        int64_t there = (b * view.rows() + i) * joined + h * view.columns() + d;
        result->elements[split ? here : there] =
            input.elements[split ? there : here];
      }
  });
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, SplitHeadsOp op) {
  return moveHeads(frame, op, op.getHeads(), /*split=*/true);
}
static LogicalResult evaluateOp(Frame &frame, MergeHeadsOp op) {
  return moveHeads(frame, op, /*heads=*/0, /*split=*/false);
}

Outcome attn::reference::evaluateGraphOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<ScoresOp, ScaleOp, BiasOp, MaskOp, MaskFnOp, SoftmaxOp, SigmoidOp,
            DropoutOp, SubtractWeightsOp, ContextOp, SplitHeadsOp,
            MergeHeadsOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
