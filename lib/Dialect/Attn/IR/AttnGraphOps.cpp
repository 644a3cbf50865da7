// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the graph ops. Numbers are those of docs/Spec.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/IR/ScoreFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attn;

static LogicalResult expectSameRank(Operation *op, StringRef first,
                                    RankedTensorType a, StringRef second,
                                    RankedTensorType b) {
  if (a.getRank() != b.getRank())
    return op->emitOpError()
           << "expects " << first << " and " << second
           << " to have the same rank, but got " << a << " and " << b;
  return success();
}

/// Query heads share key heads in groups.
static LogicalResult expectGroups(Operation *op, int64_t queryHeads,
                                  int64_t keyHeads) {
  if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(keyHeads))
    return success();
  if (keyHeads == 0 ? queryHeads != 0 : queryHeads % keyHeads != 0)
    return op->emitOpError() << "expects the number of query heads to be a "
                                "multiple of the number of key heads, but got "
                             << queryHeads << " and " << keyHeads;
  return success();
}

LogicalResult ScoresOp::verify() {
  RankedTensorType q = getQuery().getType(), k = getKey().getType(),
                   s = getScores().getType();
  int64_t rank = q.getRank();
  if (failed(expectRank(*this, "the query", q)) ||              // C1
      failed(expectSameRank(*this, "query", q, "key", k)) ||    // C2
      failed(expectSameRank(*this, "query", q, "scores", s)) || // C2
      failed(expectElement(*this, "query and key", q.getElementType(),
                           k.getElementType()))) // C3
    return failure();
  if (rank == 4 && (failed(expectSize(*this,
                                      "query and key of the same batch "
                                      "size",
                                      q.getDimSize(0), k.getDimSize(0))) ||
                    failed(expectSize(*this,
                                      "query and scores of the same "
                                      "batch size",
                                      q.getDimSize(0), s.getDimSize(0)))))
    return failure(); // C4
  if (rank >= 3 &&
      (failed(expectGroups(*this, q.getDimSize(rank - 3),
                           k.getDimSize(rank - 3))) || // C5
       failed(expectSize(*this, "as many heads in the scores as in the query",
                         s.getDimSize(rank - 3), q.getDimSize(rank - 3)))))
    return failure();
  if (failed(expectSize(*this, "query and key to have the same head dimension",
                        q.getDimSize(rank - 1),
                        k.getDimSize(rank - 1))) || // C6
      failed(expectSize(*this, "a row of scores per query",
                        s.getDimSize(rank - 2),
                        q.getDimSize(rank - 2))) || // C7
      failed(expectSize(*this, "a column of scores per key",
                        s.getDimSize(rank - 1), k.getDimSize(rank - 2)))) // C7
    return failure();
  if (s.getElementType() != scoresElement(q.getElementType())) // C8
    return emitOpError() << "expects scores of "
                         << scoresElement(q.getElementType())
                         << " for queries of " << q.getElementType()
                         << ", but got " << s.getElementType();
  return success();
}

LogicalResult ScaleOp::verify() {
  double factor = getFactor().convertToDouble();
  if (!std::isfinite(factor) || factor == 0) // C1
    return emitOpError() << "expects a finite factor other than 0, but got "
                         << factor;
  return success();
}

LogicalResult BiasOp::verify() {
  auto scores = getScores().getType(), bias = getBias().getType();
  if (!broadcastsTo(bias.getShape(), scores.getShape())) // C1
    return emitOpError() << "expects the bias to broadcast to the scores from "
                            "the right, but got "
                         << bias << " and " << scores;
  return expectElement(*this, "scores and bias", scores.getElementType(),
                       bias.getElementType()); // C2
}

LogicalResult MaskOp::verify() {
  if (failed(expectRank(*this, "the scores", getScores().getType()))) // C5
    return failure();
  // C1 to C4, C6 and C8 are those of masks, in MaskSyntax.cpp and Masks/. C7
  // is the trait AllTypesMatch.
  return verifyMask([&] { return emitOpError(); }, getMask(),
                    getMaskOperands().getTypes(),
                    getScores().getType().getShape());
}

LogicalResult SoftmaxOp::verify() {
  auto scores = getScores().getType();
  if (failed(expectRank(*this, "the scores", scores))) // C1
    return failure();
  return getSinks() ? verifyPerHead(*this, "sinks", getSinks().getType(),
                                    scores.getShape(),
                                    scores.getElementType()) // C3
                    : success();
}

LogicalResult SigmoidOp::verify() {
  // C2 is the trait SameOperandsAndResultType.
  return expectRank(*this, "the scores", getScores().getType()); // C1
}

LogicalResult ContextOp::verify() {
  RankedTensorType w = getWeights().getType(), v = getValue().getType(),
                   o = getOut().getType();
  int64_t rank = w.getRank();
  if (failed(expectRank(*this, "the weights", w)) ||             // C1
      failed(expectSameRank(*this, "weights", w, "value", v)) || // C2
      failed(expectSameRank(*this, "weights", w, "out", o)))     // C2
    return failure();
  if (rank == 4 &&
      (failed(expectSize(*this,
                         "weights and value of the same batch "
                         "size",
                         w.getDimSize(0), v.getDimSize(0))) ||
       failed(expectSize(*this, "weights and out of the same batch size",
                         w.getDimSize(0), o.getDimSize(0)))))
    return failure(); // C3
  if (rank >= 3 &&
      (failed(expectGroups(*this, w.getDimSize(rank - 3),
                           v.getDimSize(rank - 3))) || // C4
       failed(expectSize(*this, "as many heads in out as in the weights",
                         o.getDimSize(rank - 3), w.getDimSize(rank - 3)))))
    return failure();
  if (failed(expectSize(*this, "a column of weights per value",
                        w.getDimSize(rank - 1),
                        v.getDimSize(rank - 2))) || // C5
      failed(expectSize(*this, "a row of out per row of weights",
                        o.getDimSize(rank - 2),
                        w.getDimSize(rank - 2))) || // C6
      failed(expectSize(*this, "out and value to have the same head dimension",
                        o.getDimSize(rank - 1),
                        v.getDimSize(rank - 1))) || // C6
      failed(expectElement(*this, "value and out", v.getElementType(),
                           o.getElementType()))) // C7
    return failure();
  if (w.getElementType() != scoresElement(v.getElementType())) // C8
    return emitOpError() << "expects weights of "
                         << scoresElement(v.getElementType())
                         << " for values of " << v.getElementType()
                         << ", but got " << w.getElementType();
  return success();
}

LogicalResult ProjectOp::verify() {
  RankedTensorType x = getInput().getType(), w = getWeight().getType(),
                   r = getResult().getType();
  if (x.getRank() < 2 || x.getRank() > 3) // C1
    return emitOpError() << "expects the input to have rank 2 or 3, but got "
                         << x;
  if (w.getRank() != 2) // C2
    return emitOpError() << "expects the weight to have rank 2, but got " << w;
  if (failed(expectSameRank(*this, "input", x, "result", r)) || // C3
      failed(expectSize(*this,
                        "the input's last dimension to equal the "
                        "weight's first",
                        x.getShape().back(), w.getDimSize(0))) || // C4
      failed(expectSize(*this,
                        "the result's last dimension to equal the "
                        "weight's second",
                        r.getShape().back(), w.getDimSize(1))) || // C5
      failed(expectElement(*this, "input and weight", x.getElementType(),
                           w.getElementType())) || // C6
      failed(expectElement(*this, "input and result", x.getElementType(),
                           r.getElementType()))) // C6
    return failure();
  for (auto [a, b] :
       llvm::zip(x.getShape().drop_back(), r.getShape().drop_back()))
    if (failed(expectSize(*this,
                          "input and result to agree in their leading "
                          "dimensions",
                          a, b))) // C3
      return failure();
  if (getSchedule() && getSchedule()->usesPairs()) // C8
    return emitOpError("expects a schedule without products of ")
           << stringifyProducts(getSchedule()->getProducts());
  if (!getBias())
    return success();
  RankedTensorType b = getBias().getType();
  if (b.getRank() != 1) // C7
    return emitOpError() << "expects the bias to have rank 1, but got " << b;
  if (failed(expectSize(*this, "a bias per column of the weight",
                        b.getDimSize(0), w.getDimSize(1)))) // C7
    return failure();
  return expectElement(*this, "input and bias", x.getElementType(),
                       b.getElementType()); // C7
}

/// Checks joined = (.., S, H*D) against split = (.., H, S, D).
static LogicalResult verifyHeads(Operation *op, RankedTensorType joined,
                                 RankedTensorType split) {
  if (joined.getRank() < 2 || joined.getRank() > 3) // C1
    return op->emitOpError()
           << "expects the joined tensor to have rank 2 or 3, but got "
           << joined;
  if (split.getRank() != joined.getRank() + 1) // C2
    return op->emitOpError()
           << "expects the split tensor to have one dimension more than the "
              "joined, but got "
           << split << " and " << joined;
  int64_t r = split.getRank();
  int64_t heads = split.getDimSize(r - 3), dim = split.getDimSize(r - 1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(dim)) // C3
    return op->emitOpError() << "expects the number of heads and the head "
                                "dimension to be static, but got "
                             << split;
  int64_t product;
  if (llvm::MulOverflow(heads, dim, product)) // C4
    return op->emitOpError() << "expects heads times head dimension to be less "
                                "than 2^63, but got "
                             << split;
  if (failed(expectSize(op,
                        "heads times head dimension to equal the joined "
                        "dimension",
                        product, joined.getShape().back())) || // C4
      failed(expectSize(op, "the same sequence length", split.getDimSize(r - 2),
                        joined.getDimSize(r - 3))) || // C5
      (r == 4 &&
       failed(expectSize(op, "the same batch size", split.getDimSize(0),
                         joined.getDimSize(0))))) // C5
    return failure();
  return expectElement(op, "joined and split tensor", joined.getElementType(),
                       split.getElementType()); // C6
}

LogicalResult SplitHeadsOp::verify() {
  RankedTensorType result = getResult().getType();
  if (failed(verifyHeads(*this, getInput().getType(), result)))
    return failure();
  return expectSize(*this, "as many heads in the result as given after 'into'",
                    result.getDimSize(result.getRank() - 3),
                    static_cast<int64_t>(getHeads())); // C7
}

LogicalResult MergeHeadsOp::verify() {
  return verifyHeads(*this, getResult().getType(), getInput().getType());
}

SdpaOp::Dims SdpaOp::dims(int64_t rank, Layout layout) {
  int last = static_cast<int>(rank) - 1;
  Dims d{rank == 4 ? 0 : -1, rank >= 3 ? last - 2 : -1, last - 1, last};
  if (layout == Layout::SequenceMajor && rank >= 3)
    std::swap(d.head, d.sequence);
  return d;
}

SmallVector<int64_t> SdpaOp::scoresShape() {
  Dims q = queryDims(), k = keyDims();
  SmallVector<int64_t> shape;
  if (q.batch >= 0)
    shape.push_back(getQuery().getType().getDimSize(q.batch));
  if (q.head >= 0)
    shape.push_back(getQuery().getType().getDimSize(q.head));
  shape.push_back(getQuery().getType().getDimSize(q.sequence));
  shape.push_back(getKey().getType().getDimSize(k.sequence));
  return shape;
}

/// Checks an optional result with one element per pair, or per row.
static LogicalResult verifyStatistics(SdpaOp op, StringRef name, Value result,
                                      ArrayRef<int64_t> expected) {
  if (!result)
    return success();
  auto type = cast<RankedTensorType>(result.getType());
  bool matches = type.getRank() == static_cast<int64_t>(expected.size()) &&
                 llvm::all_of(llvm::zip(type.getShape(), expected), [](auto p) {
                   return compatible(std::get<0>(p), std::get<1>(p));
                 });
  Type element = scoresElement(op.getQuery().getType().getElementType());
  if (!matches || type.getElementType() != element)
    return op.emitOpError()
           << "expects " << name << " to have type "
           << RankedTensorType::get(expected, element) << ", but got " << type;
  return success();
}

static LogicalResult verifySchedules(SdpaOp op) {
  auto expectKind = [&](StringRef name, std::optional<ScheduleAttr> schedule,
                        Kind kind) -> LogicalResult {
    if (!schedule || schedule->getKind() == kind)
      return success();
    return op.emitOpError()
           << "expects " << name << " to have kind " << stringifyKind(kind)
           << ", but got " << stringifyKind(schedule->getKind());
  };
  if (failed(expectKind("schedule", op.getSchedule(), Kind::Prefill)) || // C13
      failed(expectKind("decode_schedule", op.getDecodeSchedule(),
                        Kind::Decode))) // C13
    return failure();
  if (op.getDecodeSchedule() && (op.getWeights() || op.getScores())) // C14
    return op.emitOpError()
           << "expects no decode_schedule where weights or scores are returned";
  StringRef why = op.whyKeysStayTogether();
  if (op.getSchedule() && op.getSchedule()->getSplitKeys() && !why.empty())
    return op.emitOpError() // C23
           << "expects a schedule without split_keys: " << why;
  return success();
}

bool SdpaOp::seesLeadingKeys() {
  return isa_and_nonnull<KeyLengthAttr>(getMaskAttr()) && !getWeights() &&
         !getScores();
}

StringRef SdpaOp::whyKeysStayTogether() {
  if (getWeights() || getScores())
    return "weights and scores need the sum over all keys";
  if (isSigmoid())
    return "weights by sigmoid have no sums to merge";
  if (isDifferential())
    return "the difference of two maps needs their sums over all keys";
  if (llvm::any_of(leafTerms(getMaskAttr()), llvm::IsaPred<DocumentAttr>))
    return "rows see few of all keys, those of their documents";
  return {};
}

/// The state of each row: acc has the place of out in its layout.
static LogicalResult verifyState(SdpaOp op, ArrayRef<int64_t> rows) {
  if (!op.getMaximum() != !op.getSum() || !op.getMaximum() != !op.getAcc())
    return op.emitOpError() // C17
           << "expects all of maximum, sum and acc where one is returned";
  if (op.getAcc() && op.getSinks()) // C18
    return op.emitOpError()
           << "expects no sinks where the state is returned, because a sink "
              "would count once per part of the keys; merge a state of maximum "
              "sink, sum 1 and acc 0 instead";
  if (failed(verifyStatistics(op, "maximum", op.getMaximum(), rows)) || // C17
      failed(verifyStatistics(op, "sum", op.getSum(), rows)))           // C17
    return failure();
  return verifyStatistics(op, "acc", op.getAcc(),
                          op.getOut().getType().getShape()); // C17
}

static LogicalResult verifyPairs(SdpaOp op) {
  for (std::optional<ScheduleAttr> schedule :
       {op.getSchedule(), op.getDecodeSchedule()}) {
    if (!schedule || !schedule->usesPairs())
      continue;
    if (op.isSigmoid())
      return op.emitOpError() << "expects no products of "
                              << stringifyProducts(schedule->getProducts())
                              << " with normalization sigmoid";
    if (failed(expectPairs(op, *schedule,
                           {op.getQuery(), op.getKey(), op.getValue()})) ||
        failed(expectWholePairs(op, *schedule,
                                op.getKey().getType().getShape().back(),
                                op.getValue().getType().getShape().back())))
      return failure();
  }
  return success();
}

LogicalResult attn::refuseParts(Operation *op,
                                ArrayRef<std::pair<StringRef, bool>> parts,
                                StringRef other) {
  for (auto [name, isThere] : parts)
    if (isThere)
      return op->emitOpError() << "expects no " << name << " with " << other;
  return success();
}

/// What only weights that add up to 1 have.
static LogicalResult verifyNormalization(SdpaOp op) {
  if (!op.isSigmoid())
    return success();
  return refuseParts(op,
                     {{"lse", static_cast<bool>(op.getLse())},
                      {"state", static_cast<bool>(op.getAcc())},
                      {"sinks", static_cast<bool>(op.getSinks())},
                      {"decode_schedule", op.getDecodeSchedule().has_value()}},
                     "normalization sigmoid"); // C19
}

/// C1 to C7: ranks, element types and sizes of query, key, value and out.
static LogicalResult verifyTensors(SdpaOp op) {
  RankedTensorType q = op.getQuery().getType(), k = op.getKey().getType(),
                   v = op.getValue().getType(), o = op.getOut().getType();
  if (failed(expectRank(op, "the query", q)) ||             // C1
      failed(expectSameRank(op, "query", q, "key", k)) ||   // C2
      failed(expectSameRank(op, "query", q, "value", v)) || // C2
      failed(expectSameRank(op, "query", q, "out", o)))     // C2
    return failure();
  SdpaOp::Dims dq = op.queryDims(), dk = op.keyDims(), dv = op.valueDims(),
               dout = op.outDims();
  auto same = [&](const Twine &what, RankedTensorType a, int i,
                  RankedTensorType b, int j) {
    return i < 0 ? success()
                 : expectSize(op, what, a.getDimSize(i), b.getDimSize(j));
  };
  if (failed(expectElement(op, "query and key", q.getElementType(),
                           k.getElementType())) || // C3
      failed(expectElement(op, "value and out", v.getElementType(),
                           o.getElementType())) || // C3
      failed(same("query and key of the same batch size", q, dq.batch, k,
                  dk.batch)) || // C4
      failed(same("query and value of the same batch size", q, dq.batch, v,
                  dv.batch)) || // C4
      failed(same("query and out of the same batch size", q, dq.batch, o,
                  dout.batch)) || // C4
      failed(same("key and value to have the same number of heads", k, dk.head,
                  v, dv.head)) || // C5
      failed(same("query and out to have the same number of heads", q, dq.head,
                  o, dout.head)) || // C5
      failed(same("query and key to have the same head dimension", q,
                  dq.feature, k, dk.feature)) || // C6
      failed(same("key and value to have the same length", k, dk.sequence, v,
                  dv.sequence)) || // C7
      failed(same("query and out to have the same length", q, dq.sequence, o,
                  dout.sequence)) || // C7
      failed(same("value and out to have the same head dimension", v,
                  dv.feature, o, dout.feature))) // C6
    return failure();
  if (scoresElement(q.getElementType()) != scoresElement(v.getElementType()))
    return op.emitOpError()
           << "expects query and value both of f64 or "
              "neither, but got "
           << q.getElementType() << " and " << v.getElementType(); // C3
  return dq.head < 0 ? success()
                     : expectGroups(op, q.getDimSize(dq.head),
                                    k.getDimSize(dk.head)); // C5
}

/// C8 to C10: scale, bias and mask of scores of `shape` and type `element`.
static LogicalResult verifyScores(SdpaOp op, ArrayRef<int64_t> shape,
                                  Type element) {
  double scale = op.getScale().convertToDouble();
  if (!std::isfinite(scale) || scale == 0) // C8
    return op.emitOpError()
           << "expects a finite scale other than 0, but got " << scale;
  auto bias = op.getBias();
  if (bias && !broadcastsTo(bias.getType().getShape(), shape)) // C9
    return op.emitOpError() << "expects the bias to broadcast to the scores "
                               "from the right, but got "
                            << bias.getType();
  if (bias && bias.getType().getElementType() != element) // C9
    return op.emitOpError()
           << "expects a bias of " << element << " for queries of "
           << op.getQuery().getType().getElementType() << ", but got "
           << bias.getType();
  if (!op.getMask() && !op.getMaskOperands().empty()) // C10
    return op.emitOpError() << "expects a mask where there are mask operands";
  return op.getMask()
             ? verifyMask([&] { return op.emitOpError(); }, *op.getMask(),
                          op.getMaskOperands().getTypes(), shape)
             : success(); // C10
}

LogicalResult SdpaOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  SmallVector<int64_t> shape = scoresShape();
  ArrayRef<int64_t> rows = ArrayRef(shape).drop_back();
  Type element = scoresElement(getQuery().getType().getElementType());
  if (failed(verifyScores(*this, shape, element)))
    return failure();
  if (static_cast<bool>(getScores()) != getScoresStage().has_value()) // C11
    return emitOpError()
           << "expects scores_stage exactly where scores are returned";
  if (failed(verifyStatistics(*this, "lse", getLse(), rows)) ||          // C12
      failed(verifyStatistics(*this, "weights", getWeights(), shape)) || // C12
      failed(verifyStatistics(*this, "scores", getScores(), shape)) ||   // C12
      failed(verifyState(*this, rows)) || // C17, C18
      failed(verifyNormalization(*this))) // C19
    return failure();
  if (getSinks() && failed(verifyPerHead(*this, "sinks", getSinks().getType(),
                                         shape, element))) // C15
    return failure();
  if (failed(verifyScoreFunction(*this, getCaptures().getTypes(),
                                 element)) || // C16
      failed(verifySchedules(*this)) ||
      failed(verifySecondMap(*this, shape, element))) // C21, C22
    return failure();
  return verifyPairs(*this); // C20
}
