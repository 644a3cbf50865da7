// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RaiseMasks.h"
#include "FloatConstant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The ops that `result` needs, in order.
static SmallVector<Operation *> sliceOf(Value result) {
  SetVector<Operation *> needed;
  SmallVector<Value> open{result};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && needed.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> ops(needed.begin(), needed.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

static Type widened(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext())
                                       : type;
}

/// A copy of `op` that computes in f32 where it computed in 16 bits.
static void cloneWide(OpBuilder &b, Operation *op, IRMapping &mapping) {
  Value result = op->getResult(0);
  Type type = result.getType(), wide = widened(type);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value from = mapping.lookup(op->getOperand(0));
    if (from.getType() == wide) {
      mapping.map(result, from);
      return;
    }
  }
  FloatAttr constant;
  if (wide != type && matchPattern(result, m_Constant(&constant))) {
    APFloat value = constant.getValue();
    bool inexact;
    value.convert(cast<FloatType>(wide).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &inexact);
    mapping.map(result, arith::ConstantOp::create(b, op->getLoc(),
                                                  b.getFloatAttr(wide, value)));
    return;
  }
  Operation *clone = b.clone(*op, mapping);
  Value copy = clone->getResult(0);
  if (wide != type && isa<tensor::ExtractOp>(op))
    mapping.map(result, arith::ExtFOp::create(b, op->getLoc(), wide, copy));
  else
    copy.setType(wide);
}

/// Appends the code of `result` to `body`, whose arguments are `leading` and
/// then captures, which it adds. Gives the captured values, which are tensors:
/// a number is captured as one of rank 0, which `outer` makes.
static SmallVector<Value> emitBody(OpBuilder &outer, Block &body,
                                   const ScalarCode &code, Value result,
                                   ValueRange leading) {
  IRMapping mapping;
  Location loc = result.getLoc();
  for (auto [argument, value] :
       llvm::zip(code.arguments().take_back(leading.size()), leading))
    mapping.map(argument, value);
  SmallVector<Value> captures;
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  auto capture = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || mapping.contains(operand))
      return;
    Value captured = code.capturedBy(argument);
    bool isNumber = !isa<RankedTensorType>(captured.getType());
    // Memory has no index.
    bool isIndex = isa<IndexType>(captured.getType());
    if (isIndex)
      captured =
          arith::IndexCastOp::create(outer, loc, outer.getI64Type(), captured);
    if (isNumber)
      captured = tensor::FromElementsOp::create(
          outer, loc, RankedTensorType::get({}, captured.getType()), captured);
    captures.push_back(captured);
    Value inside = body.addArgument(captured.getType(), loc);
    if (isNumber)
      inside = tensor::ExtractOp::create(b, loc, inside, ValueRange());
    if (isIndex)
      inside = arith::IndexCastOp::create(b, loc, b.getIndexType(), inside);
    mapping.map(operand, inside);
  };
  capture(result);
  for (Operation *op : sliceOf(result)) {
    for (Value operand : op->getOperands())
      capture(operand);
    cloneWide(b, op, mapping);
  }
  YieldOp::create(b, loc, mapping.lookup(result));
  return captures;
}

Value attn::emitFunction(OpBuilder &b, Location loc, Value scores,
                         const ScalarCode &code, Value result) {
  auto type = cast<RankedTensorType>(scores.getType());
  auto op = ScoreModOp::create(b, loc, type, scores, ValueRange());
  Block &body = op.getScoreFunction().emplaceBlock();
  Type index = b.getIndexType();
  SmallVector<Type> types{type.getElementType(), index, index, index, index};
  body.addArguments(types, SmallVector<Location>(types.size(), loc));
  b.setInsertionPoint(op);
  op.getCapturesMutable().assign(
      emitBody(b, body, code, result, body.getArguments()));
  b.setInsertionPointAfter(op);
  return op.getResult();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

bool attn::canBroadcast(const TensorView &view, ArrayRef<int64_t> sizes) {
  Arrangement wanted;
  wanted.sizes = sizes;
  for (const LoopIndex &index : view.dims)
    for (const Digit &digit : index)
      wanted.loops.push_back(digit.loop);
  return canArrange(view, wanted);
}

Value attn::emitBroadcastable(OpBuilder &b, Location loc,
                              const TensorView &view, ArrayRef<int64_t> sizes) {
  // From the first loop that it has on, sizes of 1 stand for the others.
  unsigned first = sizes.size();
  for (const LoopIndex &index : view.dims)
    for (const Digit &digit : index)
      first = std::min(first, digit.loop);
  SmallVector<int64_t> known(sizes);
  Arrangement wanted;
  for (unsigned loop = first; loop < sizes.size(); ++loop)
    wanted.loops.push_back(loop);
  wanted.sizes = known;
  return arrange(b, loc, view, wanted);
}

namespace {
/// What a constant mask (Sq x Skv) says by the distance of key and query.
struct Band {
  int64_t lowest, highest; ///< k - q of the pairs that are seen
  bool below, above;       ///< whether pairs are hidden on that side
};
} // namespace

static std::optional<Band> bandOf(ArrayRef<bool> seen, int64_t queries,
                                  int64_t keys) {
  auto isSeen = [&](int64_t q, int64_t k) { return seen[q * keys + k]; };
  Band band{keys, -queries, false, false};
  for (int64_t distance = 1 - queries; distance < keys; ++distance) {
    int64_t first = std::max<int64_t>(0, -distance);
    bool value = isSeen(first, first + distance);
    for (int64_t q = first; q < queries && q + distance < keys; ++q)
      if (isSeen(q, q + distance) != value)
        return std::nullopt;
    if (value) {
      band.lowest = std::min(band.lowest, distance);
      band.highest = std::max(band.highest, distance);
    }
  }
  if (band.lowest > band.highest)
    return std::nullopt;
  for (int64_t d = band.lowest; d <= band.highest; ++d) {
    int64_t q = std::max<int64_t>(0, -d);
    if (!isSeen(q, q + d))
      return std::nullopt;
  }
  band.below = band.lowest > 1 - queries;
  band.above = band.highest < keys - 1;
  return band;
}

static Value emitMask(OpBuilder &b, Location loc, Value scores, Attribute mask,
                      ValueRange operands = {}) {
  return MaskOp::create(b, loc, scores.getType(), scores, mask, operands);
}

/// A mask of booleans: a causal one or a window where the numbers are one.
static Value emitConstant(OpBuilder &b, Location loc, Value scores,
                          DenseElementsAttr seen, TensorView view,
                          ArrayRef<int64_t> sizes) {
  if (seen.isSplat() && seen.getSplatValue<bool>())
    return scores;
  MLIRContext *context = b.getContext();
  int64_t query = view.dimOf(sizes.size() - 2),
          key = view.dimOf(sizes.size() - 1);
  auto shape = seen.getType().getShape();
  if (query >= 0 && key > query &&
      shape[query] * shape[key] == seen.getNumElements()) {
    SmallVector<bool> values(seen.getValues<bool>());
    std::optional<Band> band = bandOf(values, shape[query], shape[key]);
    if (band && (!band->below || band->lowest <= 0)) {
      if (band->above)
        scores = emitMask(b, loc, scores,
                          CausalAttr::get(context, Alignment::Offset,
                                          band->highest, /*operand=*/-1));
      if (band->below)
        scores = emitMask(b, loc, scores,
                          WindowAttr::get(context,
                                          b.getI64IntegerAttr(-band->lowest),
                                          Attribute(), PositionAttr()));
      return scores;
    }
  }
  view.tensor = arith::ConstantOp::create(b, loc, cast<TypedAttr>(seen));
  Value operand = emitBroadcastable(b, loc, view, sizes);
  return emitMask(b, loc, scores, AllowedAttr::get(context, 0), operand);
}

/// Whether code reads a tensor at an index that follows from key or query.
static bool readsAlong(const ScalarCode &code, Value condition,
                       ArrayRef<int64_t> sizes) {
  int64_t first = static_cast<int64_t>(sizes.size()) - 2;
  for (Operation *op : sliceOf(condition))
    if (auto read = dyn_cast<tensor::ExtractOp>(op))
      for (Value index : read.getIndices())
        if (index.getDefiningOp() ? !matchPattern(index, m_Constant())
                                  : code.loopOf(index) >= first)
          return true;
  return false;
}

/// The tensor of booleans that `condition` is an element of, if a tile may just
/// as well read them: it is an argument, or has a number per key or per query.
static const TensorView *tensorOfBooleans(const ScalarCode &code,
                                          Value condition,
                                          ArrayRef<int64_t> sizes) {
  const TensorView *view = code.viewOf(condition);
  if (!view || !canBroadcast(*view, sizes))
    return nullptr;
  if (condition.getDefiningOp<tensor::ExtractOp>())
    return view;
  bool both =
      view->dimOf(sizes.size() - 1) >= 0 && view->dimOf(sizes.size() - 2) >= 0;
  return !both && readsAlong(code, condition, sizes) ? view : nullptr;
}

namespace {
/// A condition, or its opposite.
struct Literal {
  Value condition;
  bool negated;
};
} // namespace

/// Whether `number` compares with `constant` as the comparison `op` asks.
static bool compares(Operation *op, double number, double constant) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APFloat(number),
                                    APFloat(constant));
  auto integer = [](double x) {
    return APInt(64, static_cast<int64_t>(x), /*isSigned=*/true);
  };
  return arith::applyCmpPredicate(cast<arith::CmpIOp>(op).getPredicate(),
                                  integer(number), integer(constant));
}

/// A comparison of one of two constants with a third is the choice between
/// them: exporters write masks as numbers.
static Literal simplified(Value condition) {
  auto numberOf = [](Value value) -> std::optional<double> {
    APInt integer;
    return matchPattern(value, m_ConstantInt(&integer))
               ? static_cast<double>(integer.getSExtValue())
               : floatConstant(value);
  };
  Literal same{condition, false};
  Operation *op = condition.getDefiningOp();
  if (!isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(op))
    return same;
  std::optional<double> constant = numberOf(op->getOperand(1));
  Operation *choice = op->getOperand(0).getDefiningOp();
  if (!constant || !choice)
    return same;
  Value chosen;
  std::optional<double> yes = 1, no = 0;
  if (auto select = dyn_cast<arith::SelectOp>(choice)) {
    chosen = select.getCondition();
    yes = numberOf(select.getTrueValue());
    no = numberOf(select.getFalseValue());
  } else if (isa<arith::UIToFPOp, arith::ExtUIOp>(choice) &&
             choice->getOperand(0).getType().isInteger(1)) {
    chosen = choice->getOperand(0);
  }
  if (!chosen || !yes || !no)
    return same;
  bool ofYes = compares(op, *yes, *constant),
       ofNo = compares(op, *no, *constant);
  if (ofYes == ofNo)
    return same;
  return {chosen, ofNo};
}

static Value emitCondition(OpBuilder &b, Location loc, Value scores,
                           const ScalarCode &code, Value condition,
                           bool negated, ArrayRef<int64_t> sizes) {
  if (Literal simple = simplified(condition); simple.condition != condition)
    return emitCondition(b, loc, scores, code, simple.condition,
                         negated != simple.negated, sizes);
  Operation *op = condition.getDefiningOp();
  if (auto flip = dyn_cast_or_null<arith::XOrIOp>(op))
    if (matchPattern(flip.getRhs(), m_One()))
      return emitCondition(b, loc, scores, code, flip.getLhs(), !negated,
                           sizes);
  if (negated ? isa_and_nonnull<arith::OrIOp>(op)
              : isa_and_nonnull<arith::AndIOp>(op)) {
    for (Value part : op->getOperands())
      scores = emitCondition(b, loc, scores, code, part, negated, sizes);
    return scores;
  }
  MLIRContext *context = b.getContext();
  if (const TensorView *view = tensorOfBooleans(code, condition, sizes)) {
    DenseElementsAttr constant;
    if (!negated && matchPattern(view->tensor, m_Constant(&constant)))
      return emitConstant(b, loc, scores, constant, *view, sizes);
    Value operand = emitBroadcastable(b, loc, *view, sizes);
    Attribute mask = AllowedAttr::get(context, 0);
    if (negated)
      mask = NotAttr::get(context, mask);
    return emitMask(b, loc, scores, mask, operand);
  }
  auto mask = MaskFnOp::create(b, loc, scores.getType(), scores, ValueRange());
  Block &body = mask.getPredicate().emplaceBlock();
  Type index = b.getIndexType();
  body.addArguments({index, index, index, index},
                    SmallVector<Location>(4, loc));
  b.setInsertionPoint(mask);
  mask.getCapturesMutable().assign(
      emitBody(b, body, code, condition, body.getArguments()));
  b.setInsertionPointAfter(mask);
  if (negated) {
    Operation *yield = body.getTerminator();
    OpBuilder inner(yield);
    Value yes = arith::ConstantOp::create(inner, loc, inner.getBoolAttr(true));
    yield->setOperand(
        0, arith::XOrIOp::create(inner, loc, yield->getOperand(0), yes));
  }
  return mask.getResult();
}

Value attn::emitExclusion(OpBuilder &b, Location loc, Value scores,
                          const Exclusion &exclusion, ArrayRef<int64_t> sizes) {
  if (exclusion.constant)
    return emitConstant(b, loc, scores, exclusion.constant, exclusion.view,
                        sizes);
  return emitCondition(b, loc, scores, *exclusion.code, exclusion.condition,
                       exclusion.negated, sizes);
}
