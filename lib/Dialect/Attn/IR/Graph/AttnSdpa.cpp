// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attn;

HeadDims HeadDims::of(int64_t rank, Layout layout) {
  int last = static_cast<int>(rank) - 1;
  HeadDims d{rank == 4 ? 0 : -1, rank >= 3 ? last - 2 : -1, last - 1, last};
  if (layout == Layout::SequenceMajor && rank >= 3)
    std::swap(d.head, d.sequence);
  return d;
}

template <typename Op> static SmallVector<int64_t> scoresShapeOf(Op op) {
  HeadDims q = op.queryDims(), k = op.keyDims();
  RankedTensorType query = op.getQuery().getType();
  SmallVector<int64_t> shape;
  if (q.batch >= 0)
    shape.push_back(query.getDimSize(q.batch));
  if (q.head >= 0)
    shape.push_back(query.getDimSize(q.head));
  shape.push_back(query.getDimSize(q.sequence));
  shape.push_back(op.getKey().getType().getDimSize(k.sequence));
  return shape;
}
SmallVector<int64_t> SdpaOp::scoresShape() { return scoresShapeOf(*this); }
SmallVector<int64_t> SdpaGradOp::scoresShape() { return scoresShapeOf(*this); }

static RankedTensorType outType(SdpaOp op) { return op.getOut().getType(); }
static RankedTensorType outType(SdpaGradOp op) {
  return op.getDOut().getType();
}

/// Checks an optional result with one element per pair, or per row.
template <typename Op>
static LogicalResult verifyStatistics(Op op, StringRef name, Value result,
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
  auto expectKind = [&](StringRef name,
                        std::optional<ScheduleInterface> schedule,
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
  for (std::optional<ScheduleInterface> schedule :
       {op.getSchedule(), op.getDecodeSchedule()}) {
    if (!schedule || !schedule->usesDot())
      continue;
    if (op.isSigmoid())
      return op.emitOpError() << "expects no products = "
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
template <typename Op> static LogicalResult verifyTensors(Op op) {
  RankedTensorType q = op.getQuery().getType(), k = op.getKey().getType(),
                   v = op.getValue().getType(), o = outType(op);
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
  bool isWide = isa<SdpaOp>(op.getOperation()) &&
                o.getElementType() == scoresElement(v.getElementType());
  if (failed(expectElement(op, "query and key", q.getElementType(),
                           k.getElementType())) || // C3
      (!isWide && failed(expectElement(op, "value and out", v.getElementType(),
                                       o.getElementType()))) || // C3
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

/// The clause of attn.dropout, and what its kernels need.
template <typename Op> static LogicalResult verifyDropoutClause(Op op) {
  if (static_cast<bool>(op.getSeed()) != op.getDropout().has_value())
    return op.emitOpError("expects a seed exactly where there is a dropout");
  if (!op.getSeed())
    return success();
  if (failed(verifyDropout(op, *op.getDropout(), op.getSeed().getType())))
    return failure();
  std::optional<ScheduleInterface> schedule = op.getSchedule();
  return refuseParts(
      op, {{"products of pairs", schedule && schedule->usesDot()}}, "dropout");
}

/// C8 to C10: scale, bias and mask of scores of `shape` and type `element`.
template <typename Op>
static LogicalResult verifyScores(Op op, ArrayRef<int64_t> shape,
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
  if (getSeed() &&
      failed(refuseParts(*this,
                         {{"state", static_cast<bool>(getAcc())},
                          {"decode_schedule", getDecodeSchedule().has_value()}},
                         "dropout"))) // C24
    return failure();
  if (failed(verifyDropoutClause(*this))) // C24
    return failure();
  return verifyPairs(*this); // C20
}

// --- attn.sdpa_grad ---

Value SdpaGradOp::operandNamed(StringRef name) {
  if (name.consume_front("capture_")) {
    unsigned number;
    return name.getAsInteger(10, number) || number >= getCaptures().size()
               ? Value()
               : getCaptures()[number];
  }
  return llvm::StringSwitch<Value>(name)
      .Case("query", getQuery())
      .Case("key", getKey())
      .Case("value", getValue())
      .Case("bias", getBias())
      .Case("sinks", getSinks())
      .Case("second_query", getSecondQuery())
      .Case("second_key", getSecondKey())
      .Case("lambda", getLambda())
      .Default(Value());
}

Value SdpaGradOp::gradientBy(StringRef name) {
  for (auto [named, gradient] : llvm::zip(getWrt(), getGradients()))
    if (cast<StringAttr>(named).getValue() == name)
      return gradient;
  return {};
}

std::pair<unsigned, unsigned> SdpaGradOp::products() {
  unsigned maps = isDifferential() ? 2 : 1;
  // Sinks of one map need the rows alone, the value the weights alone.
  bool weights = false, cotangents = false;
  for (StringAttr name : getWrt().getAsRange<StringAttr>()) {
    bool ofRows = name == "sinks" && maps == 1;
    weights |= !ofRows;
    cotangents |= !ofRows && name != "value";
  }
  unsigned byKey = weights ? maps : 0;
  for (StringRef name : {"query", "key", "second_query", "second_key"})
    byKey += gradientBy(name) ? 1 : 0;
  return {byKey, (cotangents ? 1 : 0) + (gradientBy("value") ? 1 : 0)};
}

SdpaOp SdpaGradOp::attention(OpBuilder &b) {
  auto layout = [&](Layout which) {
    return LayoutAttr::get(getContext(), which);
  };
  return SdpaOp::create(
      b, getLoc(), getDOut().getType(), /*lse=*/Type(), /*weights=*/Type(),
      /*scores=*/Type(), /*maximum=*/Type(), /*sum=*/Type(), /*acc=*/Type(),
      getQuery(), getKey(), getValue(), getBias(), getMaskOperands(),
      getCaptures(), getSinks(), getSecondQuery(), getSecondKey(), getLambda(),
      getSeed(), getScaleAttr(), getMaskAttr(), getDropoutAttr(),
      layout(getQueryLayout()), layout(getKeyLayout()),
      layout(getValueLayout()), layout(getOutLayout()), getNormalizationAttr(),
      /*scores_stage=*/ScoresStageAttr(), getScheduleAttr(),
      /*decode_schedule=*/ScheduleInterface());
}

/// C2: what the attention computed.
static LogicalResult verifyResiduals(SdpaGradOp op, ArrayRef<int64_t> rows,
                                     Type element) {
  bool wanted = !op.isSigmoid() && !op.isDifferential();
  if (static_cast<bool>(op.getOut()) != wanted ||
      static_cast<bool>(op.getLse()) != wanted) // C2
    return op.emitOpError()
           << (wanted ? "expects out and lse of the attention"
                      : "expects neither out nor lse where weights are those "
                        "of sigmoid or of two maps");
  bool ofWeights = wanted && op.getDWeights();
  if (static_cast<bool>(op.getWeights()) != ofWeights) // C2
    return op.emitOpError()
           << (ofWeights ? "expects the weights that have a cotangent"
                         : "expects no weights, except those of softmax that "
                           "have a cotangent");
  if (!wanted)
    return success();
  RankedTensorType out = op.getOut().getType(), d = op.getDOut().getType();
  if (failed(verifyCompatibleShape(out.getShape(), d.getShape())) ||
      (out.getElementType() != d.getElementType() &&
       out.getElementType() != element)) // C2
    return op.emitOpError()
           << "expects out to have the shape of its cotangent " << d
           << ", and its element type or " << element << ", but got " << out;
  SmallVector<int64_t> pairs = op.scoresShape();
  if (failed(verifyStatistics(op, "weights", op.getWeights(), pairs))) // C2
    return failure();
  return verifyStatistics(op, "lse", op.getLse(), rows); // C2
}

/// C4 to C6: what is asked for, and the results.
static LogicalResult verifyGradients(SdpaGradOp op, Type element) {
  ArrayAttr wrt = op.getWrt();
  if (wrt.empty() || wrt.size() != op.getGradients().size()) // C4
    return op.emitOpError()
           << "expects an operand in wrt per result, and at "
              "least one, but got "
           << wrt.size() << " and " << op.getGradients().size();
  llvm::StringSet<> seen;
  for (auto [named, gradient] : llvm::zip(wrt, op.getGradients())) {
    StringRef name = cast<StringAttr>(named).getValue();
    Value operand = op.operandNamed(name);
    if (!operand || !seen.insert(name).second) // C4
      return op.emitOpError()
             << "expects wrt to name operands, each once, but got '" << name
             << "'";
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !isa<FloatType>(type.getElementType())) // C5
      return op.emitOpError() << "expects the gradient of a tensor of floats, "
                                 "but '"
                              << name << "' is " << operand.getType();
    bool own =
        name.ends_with("query") || name.ends_with("key") || name == "value";
    Type expected = own ? type.getElementType() : element;
    auto result = cast<RankedTensorType>(gradient.getType());
    if (failed(verifyCompatibleShape(result.getShape(), type.getShape())) ||
        result.getElementType() != expected) // C6
      return op.emitOpError()
             << "expects the gradient of '" << name << "' to have type "
             << type.clone(expected) << ", but got " << result;
  }
  return success();
}

LogicalResult SdpaGradOp::verify() {
  if (failed(verifyTensors(*this))) // C1
    return failure();
  SmallVector<int64_t> shape = scoresShape();
  ArrayRef<int64_t> rows = ArrayRef(shape).drop_back();
  Type element = scoresElement(getQuery().getType().getElementType());
  if (failed(verifyScores(*this, shape, element)) || // C1
      (getSinks() && failed(verifyPerHead(*this, "sinks", getSinks().getType(),
                                          shape, element))) || // C1
      failed(verifyScoreFunction(*this, getCaptures().getTypes(),
                                 element)) ||         // C1
      failed(verifySecondMap(*this, shape, element))) // C1
    return failure();
  if (isSigmoid() &&
      failed(refuseParts(*this, {{"sinks", static_cast<bool>(getSinks())}},
                         "normalization sigmoid"))) // C1
    return failure();
  if (failed(verifyDropoutClause(*this)) || // C1
      failed(verifyResiduals(*this, rows, element)) ||
      failed(verifyStatistics(*this, "the cotangent of lse", getDLse(),
                              rows)) || // C3
      failed(verifyStatistics(*this, "the cotangent of weights", getDWeights(),
                              shape))) // C3
    return failure();
  if (getDLse() && !getLse()) // C3
    return emitOpError() << "expects no cotangent of lse where the weights are "
                            "those of sigmoid or of two maps";
  if (getDWeights() && isDifferential()) // C3
    return emitOpError("expects no cotangent of weights of two maps");
  std::optional<ScheduleInterface> schedule = getSchedule();
  if (schedule && schedule->getKind() != Kind::Prefill) // C7
    return emitOpError() << "expects schedule to have kind prefill, but got "
                         << stringifyKind(schedule->getKind());
  return verifyGradients(*this, element);
}
