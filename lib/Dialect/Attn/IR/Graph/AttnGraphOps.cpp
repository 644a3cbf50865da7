// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the graph ops. Numbers are those of docs/Spec.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attn;

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
  // C1 to C4, C6 and C8 are those of masks, in MaskSyntax.cpp and Mask/Terms.
  // C7 is the trait AllTypesMatch.
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

LogicalResult DropoutOp::verify() {
  if (failed(expectRank(*this, "the weights", getWeights().getType()))) // C1
    return failure();
  // C4 is the trait AllTypesMatch.
  return verifyDropout(*this, getProbability(), getSeed().getType()); // C2, C3
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

/// Products of f64 are among themselves; all others are summed in f32.
static LogicalResult expectProductTypes(ProjectOp op) {
  Type result = op.getType().getElementType();
  auto fits = [&](Value operand) {
    return !operand || getElementTypeOrSelf(operand).isF64() == result.isF64();
  };
  if (fits(op.getInput()) && fits(op.getWeight()) && fits(op.getBias())) // C6
    return success();
  return op.emitOpError("expects input, weight, bias and result to be all of "
                        "f64, or none of them");
}

static LogicalResult verifyFewRows(ProjectOp op) {
  Attribute few = op.getFewRowsScheduleAttr();
  auto usesDot = [](Attribute schedule) {
    auto ofCPU = dyn_cast_or_null<CPUScheduleAttr>(schedule);
    return ofCPU ? std::optional<bool>(ofCPU.usesDot()) : std::nullopt;
  };
  if (!few || (usesDot(few) == false && usesDot(op.getScheduleAttr()) == true))
    return success();
  if (isa<GPUScheduleAttr>(few) &&
      isa_and_present<GPUScheduleAttr>(op.getScheduleAttr()))
    return success();
  return op.emitOpError() << "expects few_rows_schedule to have products = fma "
                             "beside a schedule of pairs or tiles, but got "
                          << few;
}

LogicalResult ProjectOp::verify() {
  RankedTensorType x = getInput().getType(), w = getWeight().getType(),
                   r = getResult().getType();
  if (x.getRank() < 2 || x.getRank() > 3) // C1
    return emitOpError() << "expects the input to have rank 2 or 3, but got "
                         << x;
  if (w.getRank() != 2 && (w.getRank() != 3 || x.getRank() != 3)) // C2
    return emitOpError() << "expects the weight to have rank 2, or 3 where the "
                            "input has, but got "
                         << w;
  if (failed(expectSameRank(*this, "input", x, "result", r)) || // C3
      failed(expectSize(*this,
                        "the input's last dimension to equal the "
                        "weight's rows",
                        x.getShape().back(), w.getDimSize(depthDim()))) || // C4
      failed(expectSize(*this,
                        "the result's last dimension to equal the "
                        "weight's columns",
                        r.getShape().back(),
                        w.getDimSize(columnDim()))) || // C5
      failed(expectProductTypes(*this)))               // C6
    return failure();
  if (hasWeights() && failed(expectSize(*this, "a weight per batch entry",
                                        w.getDimSize(0), x.getDimSize(0))))
    return failure(); // C2
  for (auto [a, b] :
       llvm::zip(x.getShape().drop_back(), r.getShape().drop_back()))
    if (failed(expectSize(*this,
                          "input and result to agree in their leading "
                          "dimensions",
                          a, b))) // C3
      return failure();
  if (getSchedule() && failed(expectPairs(*this, *getSchedule(),
                                          {getInput(), getWeight()}))) // C8
    return failure();
  if (failed(verifyFewRows(*this))) // C9
    return failure();
  if (!getBias())
    return success();
  RankedTensorType b = getBias().getType();
  if (b.getRank() != 1) // C7
    return emitOpError() << "expects the bias to have rank 1, but got " << b;
  return expectSize(*this, "a bias per column of the weight", b.getDimSize(0),
                    w.getDimSize(columnDim())); // C7
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
