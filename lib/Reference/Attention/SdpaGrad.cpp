// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn.sdpa_grad, row by row. Pairs that are excluded, or whose weight is 0,
// are left out: nothing of them is read.
#include "Dropout.h"
#include "Masks.h"
#include "ScoreDerivative.h"
#include "Steps.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {
class SdpaGrad {
public:
  SdpaGrad(Frame &frame, SdpaGradOp op)
      : frame(frame), op(op), q(view(op.getQuery(), op.getQueryLayout())),
        k(view(op.getKey(), op.getKeyLayout())),
        v(view(op.getValue(), op.getValueLayout())),
        dOut(view(op.getDOut(), op.getOutLayout())),
        bias(optional(op.getBias())), sinks(optional(op.getSinks())),
        lambda(optional(op.getLambda())), function(frame, op, op.getCaptures()),
        dropout(dropoutOf(frame, op)),
        rank(frame.tensor(op.getQuery()).rank()) {}

  LogicalResult evaluate();

private:
  /// One map of weights: where its queries and keys are.
  struct Map {
    HeadView query, key;
    StringRef queryName, keyName;
  };
  /// A visible pair.
  struct Pair {
    int64_t key;
    double score, weight;
    Tangent tangent;
  };
  /// The visible pairs of a row, and the logarithm of its sum.
  struct Row {
    std::vector<Pair> pairs;
    double lse;
  };
  struct Place {
    int64_t b, h, i;
  };

  HeadView view(Value tensor, Layout layout) const {
    return HeadView(frame.tensor(tensor), layout);
  }
  const Tensor *optional(Value tensor) const {
    return tensor ? &frame.tensor(tensor) : nullptr;
  }
  SmallVector<int64_t> leading(std::initializer_list<int64_t> shape) const {
    return SmallVector<int64_t>(shape.begin() + (4 - rank), shape.end());
  }
  /// The element of a row in a tensor with one per row; 0 without one.
  double ofRow(Value tensor, Place p) const {
    SmallVector<int64_t> at = leading({p.b, p.h, p.i, 0});
    at.pop_back();
    return tensor ? frame.tensor(tensor).at(at).real : 0;
  }
  double sinkOf(int64_t h) const {
    return sinks ? sinks->elements[h].real : excluded;
  }
  Tensor *gradient(StringRef name) {
    auto found = gradients.find(name.str());
    return found == gradients.end() ? nullptr : &found->second;
  }
  void add(StringRef name, int64_t offset, double value) {
    if (Tensor *tensor = gradient(name))
      tensor->elements[offset].real += value;
  }

  LogicalResult prepare();
  FailureOr<Row> weigh(const Map &map, Place p);
  double cotangentOf(Place p, int64_t j);
  void addSink(const Row &row, Place p, double factor);
  void addPair(const Map &map, const Pair &pair, Place p, double ds);
  LogicalResult oneMap(Place p);
  LogicalResult twoMaps(Place p);
  void addValue(Place p, int64_t j, double weight);

  Frame &frame;
  SdpaGradOp op;
  HeadView q, k, v, dOut;
  const Tensor *bias, *sinks, *lambda;
  ScoreDerivative function;
  Dropout dropout;
  int64_t rank;
  std::optional<Mask> mask;
  std::map<std::string, Tensor> gradients;
};
} // namespace

LogicalResult SdpaGrad::prepare() {
  SmallVector<int64_t> shape =
      leading({q.batches(), q.heads(), q.rows(), k.rows()});
  if (failed(requireHeadsThatFit(op, q, k, v)) ||
      failed(require(op,
                     dOut.rows() == q.rows() && dOut.columns() == v.columns() &&
                         dOut.heads() == q.heads(),
                     "a cotangent of the shape of out")) ||
      failed(require(op, !bias || broadcasts(bias->shape, shape),
                     "the bias to broadcast to the scores")))
    return failure();
  FailureOr<Mask> made =
      Mask::make(frame, op, op.getMask(), op.getMaskOperands(), shape);
  if (failed(made))
    return failure();
  mask = std::move(*made);
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>()) {
    Tensor zeros(frame.tensor(op.operandNamed(name)).shape);
    for (Number &number : zeros.elements)
      number.real = 0;
    gradients.emplace(name.str(), std::move(zeros));
  }
  return success();
}

FailureOr<SdpaGrad::Row> SdpaGrad::weigh(const Map &map, Place p) {
  double sink = sinkOf(p.h), m = sink;
  int64_t shared = sharedHead(p.h, map.query.heads(), map.key.heads());
  Row row;
  for (int64_t j = 0; j < map.key.rows(); ++j) {
    SmallVector<int64_t> at = leading({p.b, p.h, p.i, j});
    if (!mask->sees(at))
      continue;
    double score = 0;
    for (int64_t d = 0; d < map.query.columns(); ++d)
      score += map.query(p.b, p.h, p.i, d) * map.key(p.b, shared, j, d);
    auto modified =
        function(score * op.getScale().convertToDouble(), p.b, p.h, p.i, j);
    if (failed(modified))
      return failure();
    double s = modified->value;
    if (bias)
      s = addBias(s, bias->elements[broadcastOffset(*bias, at)].real);
    if (s == excluded)
      continue;
    row.pairs.push_back({j, s, 0, std::move(modified->tangent)});
    m = maximum(m, s);
  }
  if (op.getLse()) {
    row.lse = ofRow(op.getLse(), p);
  } else {
    double sum = sinkTerm(sink, m);
    for (const Pair &pair : row.pairs)
      sum += exponential(pair.score, m);
    row.lse = sum == 0 ? excluded : m + std::log(sum);
  }
  for (Pair &pair : row.pairs)
    pair.weight =
        op.isSigmoid() ? sigmoid(pair.score) : exponential(pair.score, row.lse);
  llvm::erase_if(row.pairs, [](const Pair &pair) { return pair.weight == 0; });
  return row;
}

/// The cotangent of the weight of key j, in front of a dropout.
double SdpaGrad::cotangentOf(Place p, int64_t j) {
  double u = 0;
  double factor = dropout.factor(p.b, p.h, p.i, j);
  int64_t shared = sharedHead(p.h, q.heads(), v.heads());
  for (int64_t d = 0; factor != 0 && d < v.columns(); ++d)
    u += factor * dOut(p.b, p.h, p.i, d) * v(p.b, shared, j, d);
  if (op.getDWeights())
    u += frame.tensor(op.getDWeights()).at(leading({p.b, p.h, p.i, j})).real;
  return u;
}

/// `factor` is the cotangent of the row's lse: d lse / d sink is its weight.
void SdpaGrad::addSink(const Row &row, Place p, double factor) {
  double sink = sinkOf(p.h);
  if (sink != excluded && row.lse != excluded)
    add("sinks", p.h, exponential(sink, row.lse) * factor);
}

void SdpaGrad::addValue(Place p, int64_t j, double weight) {
  int64_t shared = sharedHead(p.h, q.heads(), v.heads());
  weight = dropout.weight(weight, p.b, p.h, p.i, j);
  for (int64_t d = 0; weight != 0 && d < v.columns(); ++d)
    add("value", v.offset(p.b, shared, j, d), weight * dOut(p.b, p.h, p.i, d));
}

/// `ds` is the cotangent of the pair's final score.
void SdpaGrad::addPair(const Map &map, const Pair &pair, Place p, double ds) {
  int64_t shared = sharedHead(p.h, map.query.heads(), map.key.heads());
  if (bias)
    add("bias", broadcastOffset(*bias, leading({p.b, p.h, p.i, pair.key})), ds);
  for (auto [input, derivative] : pair.tangent.by) {
    auto [capture, element] = input;
    if (capture >= 0) {
      add("capture_" + std::to_string(capture), element, ds * derivative);
      continue;
    }
    double dt = op.getScale().convertToDouble() * ds * derivative;
    for (int64_t d = 0; d < map.query.columns(); ++d) {
      add(map.queryName, map.query.offset(p.b, p.h, p.i, d),
          dt * map.key(p.b, shared, pair.key, d));
      add(map.keyName, map.key.offset(p.b, shared, pair.key, d),
          dt * map.query(p.b, p.h, p.i, d));
    }
  }
}

LogicalResult SdpaGrad::oneMap(Place p) {
  Map map{q, k, "query", "key"};
  FailureOr<Row> row = weigh(map, p);
  if (failed(row))
    return failure();
  // A row that sees no key is constant, whatever its cotangents hold.
  double delta = 0;
  if (op.getOut() && !row->pairs.empty()) {
    HeadView out = view(op.getOut(), op.getOutLayout());
    for (int64_t d = 0; d < v.columns(); ++d)
      delta += dOut(p.b, p.h, p.i, d) * out(p.b, p.h, p.i, d);
    for (const Pair &pair : row->pairs)
      if (op.getDWeights())
        delta += pair.weight * frame.tensor(op.getDWeights())
                                   .at(leading({p.b, p.h, p.i, pair.key}))
                                   .real;
  }
  double ofLse = ofRow(op.getDLse(), p) - delta;
  addSink(*row, p, ofLse);
  for (const Pair &pair : row->pairs) {
    double u = cotangentOf(p, pair.key), w = pair.weight;
    addPair(map, pair, p, op.isSigmoid() ? w * (1 - w) * u : w * (u + ofLse));
    addValue(p, pair.key, w);
  }
  return success();
}

LogicalResult SdpaGrad::twoMaps(Place p) {
  Map maps[] = {{q, k, "query", "key"},
                {view(op.getSecondQuery(), op.getQueryLayout()),
                 view(op.getSecondKey(), op.getKeyLayout()), "second_query",
                 "second_key"}};
  double factor = lambdaOf(*lambda, p.h);
  for (auto [number, map] : llvm::enumerate(maps)) {
    FailureOr<Row> row = weigh(map, p);
    if (failed(row))
      return failure();
    double sign = number ? -factor : 1, delta = 0;
    for (const Pair &pair : row->pairs)
      delta += pair.weight * cotangentOf(p, pair.key);
    if (number && !row->pairs.empty())
      add("lambda", lambda->size() == 1 ? 0 : p.h, -delta);
    if (op.isSigmoid())
      delta = 0;
    addSink(*row, p, sign * -delta);
    for (const Pair &pair : row->pairs) {
      double u = cotangentOf(p, pair.key), w = pair.weight;
      addPair(map, pair, p,
              sign * (op.isSigmoid() ? w * (1 - w) * u : w * (u - delta)));
      addValue(p, pair.key, sign * w);
    }
  }
  return success();
}

LogicalResult SdpaGrad::evaluate() {
  if (failed(prepare()))
    return failure();
  for (int64_t b = 0; b < q.batches(); ++b)
    for (int64_t h = 0; h < q.heads(); ++h)
      for (int64_t i = 0; i < q.rows(); ++i)
        if (failed(op.isDifferential() ? twoMaps({b, h, i})
                                       : oneMap({b, h, i})))
          return failure();
  for (auto [name, result] : llvm::zip(op.getWrt(), op->getResults()))
    if (failed(frame.setTensor(
            result, std::move(*gradient(cast<StringAttr>(name).getValue())))))
      return failure();
  return success();
}

Outcome attn::reference::evaluateSdpaGrad(Frame &frame, Operation *op) {
  auto grad = dyn_cast<SdpaGradOp>(op);
  return grad ? Outcome(SdpaGrad(frame, grad).evaluate()) : std::nullopt;
}
