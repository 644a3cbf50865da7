// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn.sdpa, row by row. Keys and values that a row does not see are not read.
#include "Dropout.h"
#include "Masks.h"
#include "ScoreFunctions.h"
#include "Steps.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {
class Sdpa {
public:
  Sdpa(Frame &frame, SdpaOp op)
      : frame(frame), op(op),
        q(frame.tensor(op.getQuery()), op.getQueryLayout()),
        k(frame.tensor(op.getKey()), op.getKeyLayout()),
        v(frame.tensor(op.getValue()), op.getValueLayout()),
        bias(op.getBias() ? &frame.tensor(op.getBias()) : nullptr),
        sinks(op.getSinks() ? &frame.tensor(op.getSinks()) : nullptr),
        lambda(op.getLambda() ? &frame.tensor(op.getLambda()) : nullptr),
        function(frame, op, op.getCaptures()), dropout(dropoutOf(frame, op)),
        rank(frame.tensor(op.getQuery()).rank()) {}

  LogicalResult evaluate();

private:
  /// One row of a map: its weights, the maximum of its scores, and the sum.
  struct Row {
    std::vector<double> weights;
    double maximum, sum = 0;
  };

  LogicalResult check();
  LogicalResult checkSecondMap();
  LogicalResult makeResults();
  FailureOr<Row> weigh(const HeadView &query, const HeadView &key, int64_t b,
                       int64_t h, int64_t i);
  LogicalResult subtractSecondMap(Row &row, int64_t b, int64_t h, int64_t i);
  LogicalResult evaluateRow(int64_t b, int64_t h, int64_t i);

  /// The shape (batch, heads, rows, columns) without the dimensions that
  /// tensors of this rank lack.
  SmallVector<int64_t> leading(std::initializer_list<int64_t> shape) const {
    return SmallVector<int64_t>(shape.begin() + (4 - rank), shape.end());
  }
  SmallVector<int64_t> scoresShape() const {
    return leading({q.batches(), q.heads(), q.rows(), k.rows()});
  }
  FailureOr<double> score(const HeadView &query, const HeadView &key, int64_t b,
                          int64_t h, int64_t i, int64_t j, ScoresStage stage);

  Frame &frame;
  SdpaOp op;
  HeadView q, k, v;
  const Tensor *bias, *sinks, *lambda;
  ScoreFunction function;
  Dropout dropout;
  int64_t rank;
  std::optional<Mask> mask;
  std::optional<Tensor> out, lse, weights, scores, stateMaximum, stateSum, acc;
};
} // namespace

LogicalResult attn::reference::requireHeadsThatFit(Operation *op,
                                                   const HeadView &q,
                                                   const HeadView &k,
                                                   const HeadView &v) {
  return failure(
      failed(require(op,
                     q.batches() == k.batches() && q.batches() == v.batches(),
                     "query, key and value of the same batch size")) ||
      failed(require(op, k.heads() == v.heads(),
                     "key and value to have the same number of heads")) ||
      failed(require(op, sharesHeads(q.heads(), k.heads()),
                     "the number of query heads to be a multiple of the number "
                     "of key heads")) ||
      failed(require(op, q.columns() == k.columns(),
                     "query and key to have the same head dimension")) ||
      failed(require(op, k.rows() == v.rows(),
                     "key and value to have the same length")));
}

LogicalResult Sdpa::check() {
  SmallVector<int64_t> shape = scoresShape();
  if (failed(requireHeadsThatFit(op, q, k, v)) ||
      failed(require(op, !bias || broadcasts(bias->shape, shape),
                     "the bias to broadcast to the scores")) ||
      failed(require(op, !sinks || sinks->size() == q.heads(),
                     "a sink per head")) ||
      failed(checkSecondMap()))
    return failure();
  FailureOr<Mask> made =
      Mask::make(frame, op, op.getMask(), op.getMaskOperands(), shape);
  if (failed(made))
    return failure();
  mask = std::move(*made);
  return success();
}

LogicalResult Sdpa::checkSecondMap() {
  if (!op.isDifferential())
    return success();
  auto sameShape = [&](Value first, Value second) {
    return frame.tensor(first).shape == frame.tensor(second).shape;
  };
  if (failed(require(op, sameShape(op.getQuery(), op.getSecondQuery()),
                     "two queries of the same shape")) ||
      failed(require(op, sameShape(op.getKey(), op.getSecondKey()),
                     "two keys of the same shape")))
    return failure();
  return requireLambda(op, *lambda, q.heads());
}

LogicalResult Sdpa::makeResults() {
  SmallVector<int64_t> pairs = scoresShape();
  bool headMajor = op.getOutLayout() == Layout::HeadMajor || rank < 3;
  int64_t first = headMajor ? q.heads() : q.rows();
  int64_t second = headMajor ? q.rows() : q.heads();
  SmallVector<int64_t> rows(ArrayRef<int64_t>(pairs).drop_back());
  SmallVector<int64_t> outShape =
      leading({q.batches(), first, second, v.columns()});
  auto make = [&](std::optional<Tensor> &result, bool wanted,
                  ArrayRef<int64_t> shape) -> LogicalResult {
    if (!wanted)
      return success();
    FailureOr<Tensor> made = makeTensor(op, shape);
    if (succeeded(made))
      result = std::move(*made);
    return made;
  };
  return success(succeeded(make(out, true, outShape)) &&
                 succeeded(make(lse, !!op.getLse(), rows)) &&
                 succeeded(make(stateMaximum, !!op.getMaximum(), rows)) &&
                 succeeded(make(stateSum, !!op.getSum(), rows)) &&
                 succeeded(make(acc, !!op.getAcc(), outShape)) &&
                 succeeded(make(weights, !!op.getWeights(), pairs)) &&
                 succeeded(make(scores, !!op.getScores(), pairs)));
}

FailureOr<double> Sdpa::score(const HeadView &query, const HeadView &key,
                              int64_t b, int64_t h, int64_t i, int64_t j,
                              ScoresStage stage) {
  SmallVector<int64_t> pair = leading({b, h, i, j});
  if (stage == ScoresStage::Masked && !mask->sees(pair))
    return excluded;
  int64_t shared = sharedHead(h, query.heads(), key.heads());
  double result = 0;
  for (int64_t d = 0; d < query.columns(); ++d)
    result += query(b, h, i, d) * key(b, shared, j, d);
  if (stage == ScoresStage::Raw)
    return result;
  result *= op.getScale().convertToDouble();
  if (stage == ScoresStage::Scaled)
    return result;
  FailureOr<double> modified = function(result, b, h, i, j);
  if (failed(modified) || stage == ScoresStage::Modified || !bias)
    return modified;
  return addBias(*modified, bias->elements[broadcastOffset(*bias, pair)].real);
}

FailureOr<Sdpa::Row> Sdpa::weigh(const HeadView &query, const HeadView &key,
                                 int64_t b, int64_t h, int64_t i) {
  // A sink is one more score, which has no key.
  double sink = sinks ? sinks->elements[h].real : excluded;
  Row row{std::vector<double>(key.rows()), sink};
  for (int64_t j = 0; j < key.rows(); ++j) {
    FailureOr<double> masked =
        score(query, key, b, h, i, j, ScoresStage::Masked);
    if (failed(masked))
      return failure();
    row.weights[j] = *masked;
    row.maximum = maximum(row.maximum, *masked);
  }
  row.sum += sinkTerm(sink, row.maximum);
  for (double s : row.weights)
    row.sum += exponential(s, row.maximum);

  // A row that sees no key has sum 0: its weights and context are 0.
  for (double &s : row.weights)
    s = op.isSigmoid()  ? sigmoid(s)
        : s == excluded ? 0
                        : exponential(s, row.maximum) / row.sum;
  return row;
}

LogicalResult Sdpa::subtractSecondMap(Row &row, int64_t b, int64_t h,
                                      int64_t i) {
  HeadView query(frame.tensor(op.getSecondQuery()), op.getQueryLayout()),
      key(frame.tensor(op.getSecondKey()), op.getKeyLayout());
  FailureOr<Row> second = weigh(query, key, b, h, i);
  if (failed(second))
    return failure();
  for (auto [weight, other] : llvm::zip(row.weights, second->weights))
    weight -= reference::weigh(other, lambdaOf(*lambda, h));
  return success();
}

LogicalResult Sdpa::evaluateRow(int64_t b, int64_t h, int64_t i) {
  FailureOr<Row> weighed = weigh(q, k, b, h, i);
  if (failed(weighed) ||
      (op.isDifferential() && failed(subtractSecondMap(*weighed, b, h, i))))
    return failure();
  auto &[row, m, sum] = *weighed;
  int64_t shared = sharedHead(h, q.heads(), k.heads());
  HeadView o(*out, op.getOutLayout());
  for (int64_t d = 0; d < v.columns(); ++d) {
    double context = 0;
    for (int64_t j = 0; j < v.rows(); ++j)
      if (double weight = dropout.weight(row[j], b, h, i, j); weight != 0)
        context +=
            frame.besideValues(op.getValue(), weight) * v(b, shared, j, d);
    int64_t at = o.offset(b, h, i, d);
    out->elements[at].real = context;
    if (acc)
      acc->elements[at].real = reference::weigh(sum, context);
  }

  SmallVector<int64_t> position = leading({b, h, i, 0});
  if (acc) {
    ArrayRef<int64_t> place = ArrayRef<int64_t>(position).drop_back();
    stateMaximum->at(place).real = std::isnan(sum) ? sum : m;
    stateSum->at(place).real = sum;
  }
  if (lse)
    lse->at(ArrayRef<int64_t>(position).drop_back()).real =
        sum == 0 ? excluded : m + std::log(sum);
  for (int64_t j = 0; j < k.rows(); ++j) {
    position.back() = j;
    if (weights)
      weights->at(position).real = row[j];
    if (scores) {
      FailureOr<double> staged = score(q, k, b, h, i, j, *op.getScoresStage());
      if (failed(staged))
        return failure();
      scores->at(position).real = *staged;
    }
  }
  return success();
}

LogicalResult Sdpa::evaluate() {
  if (failed(check()) || failed(makeResults()))
    return failure();
  for (int64_t b = 0; b < q.batches(); ++b)
    for (int64_t h = 0; h < q.heads(); ++h)
      for (int64_t i = 0; i < q.rows(); ++i)
        if (failed(evaluateRow(b, h, i)))
          return failure();
  unsigned next = 0;
  for (std::optional<Tensor> *result :
       {&out, &lse, &weights, &scores, &stateMaximum, &stateSum, &acc})
    if (*result &&
        failed(frame.setTensor(op->getResult(next++), std::move(**result))))
      return failure();
  return success();
}

Outcome attn::reference::evaluateSdpa(Frame &frame, Operation *op) {
  auto sdpa = dyn_cast<SdpaOp>(op);
  return sdpa ? Outcome(Sdpa(frame, sdpa).evaluate()) : std::nullopt;
}
