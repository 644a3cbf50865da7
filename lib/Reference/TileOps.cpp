// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel does with one tile. Indices of queries and keys are absolute
// where a mask or bias sees them.
#include "Attention/Dropout.h"
#include "Attention/Masks.h"
#include "Attention/ScoreFunctions.h"
#include "Steps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static LogicalResult evaluateOp(Frame &frame, InitStateOp op) {
  const Tensor &query = frame.tensor(op.getQuery());
  State state;
  state.rows = query.shape[0];
  state.keyDim = op.getState().getType().getKeyDim();
  state.valueDim = op.getState().getType().getValueDim();
  if (failed(require(op, query.shape[1] == state.keyDim,
                     "queries of the state's key_dim")) ||
      failed(require(op, state.rows <= op.getState().getType().getRows(),
                     "no more queries than the state has rows")))
    return failure();
  for (Number number : query.elements)
    state.query.push_back(op.getScale().convertToDouble() * number.real);
  state.maximum.assign(state.rows, excluded);
  state.sum.assign(state.rows, 0);
  state.context.assign(state.rows * state.valueDim, 0);
  frame.set(op.getState(), makeDatum(std::move(state)));
  return success();
}

namespace {
int64_t headsOf(OnlineOp op) { return op.getHeads(); }
int64_t headsOf(WeighOp) { return 1; }

/// The scores of a state's queries and a tile's keys. TileOp: online or weigh.
template <typename TileOp> class TileScores {
public:
  TileScores(Frame &frame, TileOp op, Value state, Value key)
      : frame(frame), op(op), state(frame.state(state)),
        keys(frame.tensor(key)),
        bias(op.getBias() ? &frame.tensor(op.getBias()) : nullptr),
        hasFunction(scoreFunctionOf(op)),
        function(frame, op, op.getCaptures().drop_front(hasFunction ? 2 : 0)),
        batch(hasFunction ? frame.integer(op.getCaptures()[0]) : 0),
        head(hasFunction ? frame.integer(op.getCaptures()[1]) : 0),
        firstQuery(frame.integer(op.getQueryBegin())),
        numQueries(frame.integer(op.getQueryEnd()) - firstQuery),
        firstKey(frame.integer(op.getKeyBegin())) {}

  /// In mode full nobody looks at the mask.
  LogicalResult check(bool readsMask) {
    int64_t rows = numQueries * headsOf(op);
    SmallVector<int64_t> shape{frame.integer(op.getQueryLength()),
                               frame.integer(op.getKeyLength())};
    if (failed(require(op, rows == state.rows,
                       "as many rows as the state has queries (" +
                           Twine(state.rows) + "), but got " + Twine(rows))) ||
        failed(require(op,
                       firstQuery >= 0 && firstQuery + numQueries <= shape[0],
                       "rows inside the sequence of queries")) ||
        failed(require(op, firstKey >= 0 && firstKey + numKeys() <= shape[1],
                       "keys inside the sequence of keys")) ||
        failed(require(op, keys.shape[1] == state.keyDim,
                       "keys of the state's key_dim")) ||
        failed(require(op, !bias || broadcasts(bias->shape, shape),
                       "the bias to broadcast to queries x keys")))
      return failure();
    FailureOr<Mask> made = Mask::make(
        frame, op, readsMask ? op.getMask() : std::optional<Attribute>(),
        op.getMaskOperands(), shape);
    if (failed(made))
      return failure();
    mask = std::move(*made);
    return success();
  }

  int64_t numKeys() const { return keys.shape[0]; }

  double scaled(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t d = 0; d < state.keyDim; ++d)
      sum += state.query[i * state.keyDim + d] * keys.at({j, d}).real;
    return sum;
  }
  FailureOr<double> modified(int64_t i, int64_t j) const {
    return function(scaled(i, j), batch, head + i / numQueries, query(i),
                    firstKey + j);
  }
  FailureOr<double> biased(int64_t i, int64_t j) const {
    FailureOr<double> score = modified(i, j);
    if (failed(score) || !bias)
      return score;
    SmallVector<int64_t> pair{query(i), firstKey + j};
    return addBias(*score, bias->elements[broadcastOffset(*bias, pair)].real);
  }
  /// Does not read the keys that the mask excludes.
  FailureOr<double> masked(int64_t i, int64_t j) const {
    return mask->sees({query(i), firstKey + j}) ? biased(i, j) : excluded;
  }

private:
  /// The queries are there once per head.
  int64_t query(int64_t row) const { return firstQuery + row % numQueries; }

  Frame &frame;
  TileOp op;
  const State &state;
  const Tensor &keys;
  const Tensor *bias;
  bool hasFunction;
  ScoreFunction function;
  int64_t batch, head, firstQuery, numQueries, firstKey;
  std::optional<Mask> mask;
};
} // namespace

/// exp(m - next) for a maximum that became `next`.
static double rescale(double m, double next) { return exponential(m, next); }

/// What becomes of the weight of key j of a tile.
using KeyFactors = std::function<double(int64_t j, double weight)>;

template <typename Op> static bool isSigmoid(Op op) {
  return op.getState().getType().getNormalization() == Normalization::Sigmoid;
}

/// Adds the values of a tile, with weights by sigmoid, to row `i` of a state.
static void addWeighted(State &state, int64_t i, ArrayRef<double> scores,
                        const Tensor &values, const KeyFactors &factors) {
  for (int64_t j = 0, keys = scores.size(); j < keys; ++j)
    for (int64_t d = 0; d < state.valueDim; ++d)
      if (double weight = factors(j, sigmoid(scores[j]))) // else it is not read
        state.context[i * state.valueDim + d] +=
            weight * values.at({j, d}).real;
}

/// What a dropout makes of weights of row `i`.
static KeyFactors factorsOf(Frame &frame, OnlineOp op, int64_t i) {
  if (!op.getDropout())
    return [](int64_t, double weight) { return weight; };
  OperandRange place = op.getDropped();
  Dropout dropout(op.getDropout()->convertToDouble(), frame.integer(place[0]));
  int64_t b = frame.integer(place[1]), h = frame.integer(place[2]),
          q = frame.integer(op.getQueryBegin()) + i,
          first = frame.integer(op.getKeyBegin());
  return [=](int64_t j, double weight) {
    return dropout.weight(weight, b, h, q, first + j);
  };
}

/// The step of one map: sets `result` to the next state.
static LogicalResult step(Frame &frame, OnlineOp op, Value state, Value key,
                          Value result) {
  TileScores<OnlineOp> tile(frame, op, state, key);
  const Tensor &values = frame.tensor(op.getValue());
  State next = frame.state(state);
  if (failed(tile.check(/*readsMask=*/op.getMode() == TileMode::Edge)) ||
      failed(require(op, values.shape[0] == tile.numKeys(),
                     "as many values as keys")) ||
      failed(require(op, values.shape[1] == next.valueDim,
                     "values of the state's value_dim")))
    return failure();
  for (int64_t i = 0; i < next.rows; ++i) {
    std::vector<double> scores(tile.numKeys());
    KeyFactors factors = factorsOf(frame, op, i);
    double m = next.maximum[i];
    for (int64_t j = 0; j < tile.numKeys(); ++j) {
      FailureOr<double> score = tile.masked(i, j);
      if (failed(score))
        return failure();
      scores[j] = *score;
      m = maximum(m, scores[j]);
    }
    if (isSigmoid(op)) {
      addWeighted(next, i, scores, values, factors);
      continue;
    }
    double a = rescale(next.maximum[i], m);
    next.maximum[i] = m;
    next.sum[i] = weigh(a, next.sum[i]);
    for (double score : scores)
      next.sum[i] += exponential(score, m);
    for (int64_t d = 0; d < next.valueDim; ++d) {
      double &acc = next.context[i * next.valueDim + d];
      acc = weigh(a, acc);
      for (int64_t j = 0; j < tile.numKeys(); ++j) {
        double p = factors(j, exponential(scores[j], m));
        if (p != 0) // an excluded value is not read
          acc += p * values.at({j, d}).real;
      }
    }
  }
  frame.set(result, makeDatum(std::move(next)));
  return success();
}

static LogicalResult evaluateOp(Frame &frame, OnlineOp op) {
  if (failed(step(frame, op, op.getState(), op.getKey(), op.getNext())))
    return failure();
  return op.getSecondState() ? step(frame, op, op.getSecondState(),
                                    op.getSecondKey(), op.getSecondNext())
                             : success();
}

static LogicalResult evaluateOp(Frame &frame, AddSinkOp op) {
  State next = frame.state(op.getState());
  double sink = frame.scalar(op.getSink()).real;
  for (int64_t i = 0; i < next.rows; ++i) {
    double m = maximum(next.maximum[i], sink);
    double a = rescale(next.maximum[i], m);
    next.maximum[i] = m;
    next.sum[i] = weigh(a, next.sum[i]) + sinkTerm(sink, m);
    for (int64_t d = 0; d < next.valueDim; ++d) {
      double &acc = next.context[i * next.valueDim + d];
      acc = weigh(a, acc);
    }
  }
  frame.set(op.getNext(), makeDatum(std::move(next)));
  return success();
}

static void mergeRows(State &merged, const State &first, const State &second) {
  for (int64_t i = 0; i < merged.rows; ++i) {
    double m = maximum(first.maximum[i], second.maximum[i]);
    double e1 = rescale(first.maximum[i], m);
    double e2 = rescale(second.maximum[i], m);
    merged.maximum[i] = m;
    merged.sum[i] = weigh(e1, first.sum[i]) + weigh(e2, second.sum[i]);
    for (int64_t d = 0; d < merged.valueDim; ++d) {
      int64_t at = i * merged.valueDim + d;
      merged.context[at] =
          weigh(e1, first.context[at]) + weigh(e2, second.context[at]);
    }
  }
}

static LogicalResult evaluateOp(Frame &frame, MergeOp op) {
  const State &first = frame.state(op.getFirst());
  const State &second = frame.state(op.getSecond());
  if (failed(require(op, first.rows == second.rows,
                     "states of the same number of queries")))
    return failure();
  State merged = first;
  if (op.getMerged().getType().getNormalization() == Normalization::Sigmoid)
    for (auto [acc, other] : llvm::zip(merged.context, second.context))
      acc += other;
  else
    mergeRows(merged, first, second);
  frame.set(op.getMerged(), makeDatum(std::move(merged)));
  return success();
}

/// The op's results are its destinations in order.
static LogicalResult setResults(Frame &frame, Operation *op,
                                MutableArrayRef<Tensor> tensors) {
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), tensors))
    if (failed(frame.setTensor(result, std::move(tensor))))
      return failure();
  return success();
}

static LogicalResult evaluateOp(Frame &frame, FinalizeOp op) {
  const State &state = frame.state(op.getState());
  SmallVector<Tensor> results{frame.tensor(op.getOut())};
  if (op.getLse())
    results.push_back(frame.tensor(op.getLse()));
  SmallVector<int64_t> shape{state.rows, state.valueDim};
  if (failed(require(op, results[0].shape == shape,
                     "out to have a row per query")) ||
      failed(require(op, !op.getLse() || results[1].size() == state.rows,
                     "lse to have an element per query")))
    return failure();
  for (int64_t i = 0; i < state.rows; ++i) {
    double sum = isSigmoid(op) ? 1 : state.sum[i];
    for (int64_t d = 0; d < state.valueDim; ++d)
      results[0].at({i, d}).real =
          sum == 0 ? 0 : state.context[i * state.valueDim + d] / sum;
    if (op.getLse())
      results[1].elements[i].real =
          sum == 0 ? excluded : state.maximum[i] + std::log(sum);
  }
  return setResults(frame, op, results);
}

static LogicalResult evaluateOp(Frame &frame, FinalizeDifferenceOp op) {
  const State &first = frame.state(op.getFirst());
  const State &second = frame.state(op.getSecond());
  Tensor out = frame.tensor(op.getOut());
  SmallVector<int64_t> shape{first.rows, first.valueDim};
  if (failed(require(op, first.rows == second.rows,
                     "states of the same number of queries")) ||
      failed(require(op, out.shape == shape, "out to have a row per query")))
    return failure();
  bool sums =
      op.getFirst().getType().getNormalization() == Normalization::Softmax;
  double lambda = frame.scalar(op.getLambda()).real;
  for (int64_t i = 0; i < first.rows; ++i)
    for (int64_t d = 0; d < first.valueDim; ++d) {
      auto part = [&](const State &state, double factor) {
        double sum = sums ? state.sum[i] : 1;
        double acc = state.context[i * state.valueDim + d];
        return sum == 0 ? 0 : factor * acc / sum;
      };
      out.at({i, d}).real = part(first, 1) - part(second, lambda);
    }
  return setResults(frame, op, out);
}

/// Units of log2, in which a saved maximum is, per unit of a score.
static const double log2e = 1 / std::log(2.0);

static LogicalResult evaluateOp(Frame &frame, SaveStateOp op) {
  const State &state = frame.state(op.getState());
  Tensor part = frame.tensor(op.getPart());
  SmallVector<int64_t> shape{state.rows, state.valueDim + 2};
  if (failed(
          require(op, part.shape == shape, "the part to have a row per query")))
    return failure();
  for (int64_t i = 0; i < state.rows; ++i) {
    for (int64_t d = 0; d < state.valueDim; ++d)
      part.at({i, d}).real = state.context[i * state.valueDim + d];
    part.at({i, state.valueDim}).real = state.maximum[i] * log2e;
    part.at({i, state.valueDim + 1}).real = state.sum[i];
  }
  return setResults(frame, op, part);
}

static LogicalResult evaluateOp(Frame &frame, CombineOp op) {
  const Tensor &parts = frame.tensor(op.getParts());
  SmallVector<Tensor> results{frame.tensor(op.getOut())};
  if (op.getLse())
    results.push_back(frame.tensor(op.getLse()));
  int64_t rows = parts.shape[1], dim = parts.shape[2] - 2;
  SmallVector<int64_t> shape{rows, dim};
  if (failed(require(op, results[0].shape == shape,
                     "out to have a row per row of the parts")) ||
      failed(require(op, !op.getLse() || results[1].size() == rows,
                     "lse to have an element per row of the parts")))
    return failure();
  for (int64_t i = 0; i < rows; ++i) {
    double m = excluded, sum = 0;
    std::vector<double> context(dim, 0);
    for (int64_t s = 0; s < parts.shape[0]; ++s)
      m = maximum(m, parts.at({s, i, dim}).real / log2e);
    if (op.getSink()) {
      double sink = frame.scalar(op.getSink()).real;
      m = maximum(m, sink);
      sum = sinkTerm(sink, m);
    }
    for (int64_t s = 0; s < parts.shape[0]; ++s) {
      double e = rescale(parts.at({s, i, dim}).real / log2e, m);
      sum += weigh(e, parts.at({s, i, dim + 1}).real);
      for (int64_t d = 0; d < dim; ++d)
        context[d] += weigh(e, parts.at({s, i, d}).real);
    }
    for (int64_t d = 0; d < dim; ++d)
      results[0].at({i, d}).real = sum == 0 ? 0 : context[d] / sum;
    if (op.getLse())
      results[1].elements[i].real = sum == 0 ? excluded : m + std::log(sum);
  }
  return setResults(frame, op, results);
}

/// The score as it is after the step `stage`.
static FailureOr<double> scoreAfter(const TileScores<WeighOp> &tile, WeighOp op,
                                    int64_t i, int64_t j) {
  switch (*op.getStage()) {
  case ScoresStage::Raw: // the state has the scaled query only
    return tile.scaled(i, j) / op.getScale().convertToDouble();
  case ScoresStage::Scaled:
    return tile.scaled(i, j);
  case ScoresStage::Modified:
    return tile.modified(i, j);
  case ScoresStage::Biased:
    return tile.biased(i, j);
  case ScoresStage::Masked:
    break;
  }
  return tile.masked(i, j);
}

static LogicalResult evaluateOp(Frame &frame, WeighOp op) {
  TileScores<WeighOp> tile(frame, op, op.getState(), op.getKey());
  const State &state = frame.state(op.getState());
  if (failed(tile.check(/*readsMask=*/true)))
    return failure();
  SmallVector<int64_t> shape{state.rows, tile.numKeys()};
  SmallVector<Tensor> results;
  for (Value init : {op.getWeights(), op.getScores()})
    if (init) {
      results.push_back(frame.tensor(init));
      if (failed(require(op, results.back().shape == shape,
                         "weights and scores of queries x keys")))
        return failure();
    }
  for (int64_t i = 0; i < state.rows; ++i)
    for (int64_t j = 0; j < tile.numKeys(); ++j) {
      FailureOr<double> masked = tile.masked(i, j);
      FailureOr<double> staged =
          op.getScores() ? scoreAfter(tile, op, i, j) : masked;
      if (failed(masked) || failed(staged))
        return failure();
      if (op.getWeights() && isSigmoid(op)) {
        results.front().at({i, j}).real = sigmoid(*masked);
      } else if (op.getWeights()) {
        double p = exponential(*masked, state.maximum[i]);
        results.front().at({i, j}).real = p == 0 ? 0 : p / state.sum[i];
      }
      if (op.getScores())
        results.back().at({i, j}).real = *staged;
    }
  return setResults(frame, op, results);
}

Outcome attn::reference::evaluateTileOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<InitStateOp, OnlineOp, AddSinkOp, MergeOp, FinalizeOp,
            FinalizeDifferenceOp, SaveStateOp, CombineOp, WeighOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
