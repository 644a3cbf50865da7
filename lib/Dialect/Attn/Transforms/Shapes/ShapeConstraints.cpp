// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShapeConstraints.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

void ShapeConstraints::broadcast(Value small, Value large) {
  auto type = cast<RankedTensorType>(small.getType());
  int64_t shift = rank(large) - type.getRank();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1)
      same(small, i, large, i + shift);
}

void ShapeConstraints::visit(ScoresOp op) {
  Value q = op.getQuery(), k = op.getKey(), s = op.getScores();
  int64_t r = rank(s);
  if (r == 4)
    same(q, 0, k, 0);
  for (int64_t i = 0; i < r - 1; ++i)
    same(q, i, s, i);
  same(k, r - 2, s, r - 1);
  same(q, r - 1, k, r - 1);
}

void ShapeConstraints::visit(ContextOp op) {
  Value w = op.getWeights(), v = op.getValue(), o = op.getOut();
  int64_t r = rank(w);
  if (r == 4)
    same(w, 0, v, 0);
  for (int64_t i = 0; i < r - 1; ++i)
    same(w, i, o, i);
  same(w, r - 1, v, r - 2);
  same(v, r - 1, o, r - 1);
}

void ShapeConstraints::visit(ProjectOp op) {
  Value x = op.getInput(), w = op.getWeight(), y = op.getResult();
  int64_t last = rank(x) - 1;
  for (int64_t i = 0; i < last; ++i)
    same(x, i, y, i);
  if (op.hasWeights())
    same(x, 0, w, 0);
  same(x, last, w, op.depthDim());
  same(w, op.columnDim(), y, last);
  if (op.getBias())
    same(op.getBias(), 0, w, op.columnDim());
}

/// One number per head, if there are any.
void ShapeConstraints::perHead(Value numbers, Value scores) {
  if (numbers)
    same(numbers, 0, scores, rank(scores) - 3);
}

/// One number, or one per head.
void ShapeConstraints::lambda(Value numbers, Dim heads) {
  auto type = cast<RankedTensorType>(numbers.getType());
  if (type.getRank() == 1 && type.getDimSize(0) != 1)
    same(numbers, 0, heads.first, heads.second);
}

void ShapeConstraints::visit(SubtractWeightsOp op) {
  Value weights = op.getWeights();
  sameShape(op.getFirst(), weights);
  sameShape(op.getSecond(), weights);
  lambda(op.getLambda(), {weights, rank(weights) - 3});
}

void ShapeConstraints::visitDetails(AlibiOp op) {
  perHead(op.getSlopes(), op.getScores());
  if (op.getOffset())
    alongScores(op.getOffset(), rank(op.getOffset()), 0,
                Dim{op.getScores(), 0});
}

/// Angles of the rows of `x`, or of its batch entries and rows, which have
/// become one dimension.
void ShapeConstraints::rowForRow(Value angles, Value x, bool hasBatch) {
  int64_t rows = rank(x) - 2;
  if (!hasBatch)
    return same(angles, 0, x, rows);
  Operation *op = angles.getDefiningOp();
  while (isa_and_nonnull<arith::ExtFOp, arith::NegFOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto joined = dyn_cast_or_null<tensor::CollapseShapeOp>(op);
  if (!joined)
    return;
  same(joined.getSrc(), 0, x, 0);
  for (int64_t i = 1; i < rank(joined.getSrc()) - 1; ++i)
    if (joined.getSrcType().getDimSize(i) != 1) // the other one is of heads
      same(joined.getSrc(), i, x, rows);
}

void ShapeConstraints::visitDetails(RopeOp op) {
  Value x = op.getInput(), positions = op.getPositions();
  same(op.getCos(), 0, op.getSin(), 0);
  if (op.getCos().getType().getDimSize(1) > 0)
    table({op.getCos(), op.getSin()}, rows(x));
  if (op->hasAttr(AttnDialect::rowForRowAttr))
    for (Value angles : {op.getCos(), op.getSin()})
      rowForRow(angles, x, positions != nullptr);
  if (!positions)
    return;
  same(positions, rank(positions) - 1, x, rank(x) - 2);
  if (rank(positions) == 2)
    same(positions, 0, x, 0);
}

void ShapeConstraints::visitDetails(RmsNormOp op) {
  if (op.getWeight())
    same(op.getWeight(), 0, op.getInput(), rank(op.getInput()) - 1);
}

void ShapeConstraints::visitDetails(LayerNormOp op) {
  for (Value perFeature : {op.getWeight(), op.getBias()})
    if (perFeature)
      same(perFeature, 0, op.getInput(), rank(op.getInput()) - 1);
}

/// joined (.., S, H*D) and split (.., H, S, D): H and D are static.
void ShapeConstraints::heads(Value joined, Value split) {
  int64_t r = rank(split);
  auto type = cast<RankedTensorType>(split.getType());
  int64_t count = type.getDimSize(r - 3), features = type.getDimSize(r - 1);
  if (!ShapedType::isDynamic(count) && !ShapedType::isDynamic(features))
    classes.fix(op, {joined, r - 2}, count * features);
  same(joined, r - 3, split, r - 2);
  if (r == 4)
    same(joined, 0, split, 0);
}

/// The first `dims` sizes of `value` are 1 or those of the scores, `shift`
/// dimensions further to the right.
void ShapeConstraints::alongScores(Value value, int64_t dims, int64_t shift,
                                   ArrayRef<Dim> scores) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; i < dims; ++i)
    if (type.getDimSize(i) != 1)
      classes.unify(op, {value, i}, scores[i + shift]);
}

/// A row of integers, or several by the leading dimension.
void ShapeConstraints::maskRow(Value row, const MaskOperand &kind,
                               ArrayRef<Dim> scores) {
  int64_t last = rank(row) - 1;
  alongScores(row, last, 0, scores);
  if (kind.row == MaskRow::Query || kind.row == MaskRow::Key)
    classes.unify(op, {row, last},
                  scores[scores.size() - (kind.row == MaskRow::Key ? 1 : 2)]);
  else if (kind.row == MaskRow::Count)
    classes.fix(op, {row, last}, kind.count);
}

void ShapeConstraints::maskOperands(Attribute mask, OperandRange operands,
                                    ArrayRef<Dim> scores) {
  int64_t scoresRank = static_cast<int64_t>(scores.size());
  for (Attribute leaf : leafTerms(mask)) {
    Value own; // a row of the term's own length
    for (const MaskOperand &operand :
         cast<MaskTermInterface>(leaf).describeOperands()) {
      Value value = operands[operand.position];
      int64_t dims = rank(value);
      switch (operand.kind) {
      case MaskOperandKind::Number:
      case MaskOperandKind::OfRow: // made behind this pass
        alongScores(value, dims, 0, scores);
        break;
      case MaskOperandKind::Row:
        maskRow(value, operand, scores);
        if (operand.row == MaskRow::Own)
          same(own ? own : value, 0, value, 0), own = value;
        break;
      case MaskOperandKind::Pairs:
        alongScores(value, dims, scoresRank - dims, scores);
        break;
      case MaskOperandKind::Blocks:
        alongScores(value, dims - 2, scoresRank - dims, scores);
        break;
      case MaskOperandKind::Captured:
        table(value, scores.drop_back());
        break;
      }
    }
  }
}

/// Captured tensors that an elementwise op read beside the scores, before it
/// became part of their function, have their sizes.
void ShapeConstraints::pairForPair(Region &function, OperandRange captures,
                                   ArrayRef<Dim> scores) {
  if (function.empty())
    return;
  // The score, its four indices, and what is captured.
  unsigned first = 5, missing = 4 - scores.size();
  for (auto read : function.front().getOps<tensor::ExtractOp>()) {
    auto tensor = dyn_cast<BlockArgument>(read.getTensor());
    if (!tensor || !read->hasAttr(AttnDialect::rowForRowAttr))
      continue;
    Value captured = captures[tensor.getArgNumber() - first];
    for (auto [i, index] : llvm::enumerate(read.getIndices()))
      if (auto pair = dyn_cast<BlockArgument>(index);
          pair && pair.getArgNumber() > missing)
        classes.unify(op, {captured, static_cast<int64_t>(i)},
                      scores[pair.getArgNumber() - missing - 1]);
  }
}

/// What attention and its gradient share, where `out` has the shape of out.
/// Returns the sizes of the scores.
template <typename Op>
SmallVector<Dim> ShapeConstraints::visitAttention(Op op, Value out) {
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue();
  HeadDims q = op.queryDims(), k = op.keyDims(), v = op.valueDims(),
           o = op.outDims();
  same(query, q.batch, key, k.batch);
  same(query, q.batch, value, v.batch);
  same(query, q.batch, out, o.batch);
  same(query, q.head, out, o.head);
  same(key, k.head, value, v.head);
  auto isOpen = [](Value tensor, int head) {
    return head >= 0 &&
           cast<RankedTensorType>(tensor.getType()).isDynamicDim(head);
  };
  // Of unknown heads there are no groups in kernels.
  if (isOpen(query, q.head) && isOpen(key, k.head))
    same(query, q.head, key, k.head);
  same(query, q.sequence, out, o.sequence);
  same(key, k.sequence, value, v.sequence);
  same(query, q.feature, key, k.feature);
  same(value, v.feature, out, o.feature);

  // Everything else has the shape of the scores, or broadcasts to it.
  SmallVector<Dim> scores;
  for (int dim : {q.batch, q.head, q.sequence})
    if (dim >= 0)
      scores.push_back({query, dim});
  scores.push_back({key, k.sequence});
  int64_t scoresRank = static_cast<int64_t>(scores.size());
  if (op.getBias())
    alongScores(op.getBias(), rank(op.getBias()),
                scoresRank - rank(op.getBias()), scores);
  if (op.getSinks())
    same(op.getSinks(), 0, query, q.head);
  if (op.isDifferential()) {
    sameShape(op.getSecondQuery(), query);
    sameShape(op.getSecondKey(), key);
    lambda(op.getLambda(), {query, q.head});
  }
  table(op.getCaptures(), ArrayRef(scores).drop_back());
  pairForPair(op.getScoreFunction(), op.getCaptures(), scores);
  maskOperands(op.getMaskAttr(), op.getMaskOperands(), scores);
  return scores;
}

void ShapeConstraints::visit(SdpaOp op) {
  SmallVector<Dim> scores = visitAttention(op, op.getOut());
  for (Value result : {op.getLse(), op.getWeights(), op.getScores(),
                       op.getMaximum(), op.getSum()})
    if (result)
      alongScores(result, rank(result), 0, scores);
  if (op.getAcc())
    sameShape(op.getAcc(), op.getOut());
}

void ShapeConstraints::visit(SdpaGradOp op) {
  SmallVector<Dim> scores = visitAttention(op, op.getDOut());
  for (Value tensor :
       {op.getLse(), op.getDLse(), op.getWeights(), op.getDWeights()})
    if (tensor)
      alongScores(tensor, rank(tensor), 0, scores);
  if (op.getOut())
    sameShape(op.getOut(), op.getDOut());
  for (auto [name, gradient] : llvm::zip(op.getWrt(), op.getGradients()))
    sameShape(gradient, op.operandNamed(cast<StringAttr>(name).getValue()));
}

void ShapeConstraints::collect(Operation *operation) {
  op = operation;
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScoresOp, SubtractWeightsOp, ContextOp, ProjectOp, SdpaOp,
            SdpaGradOp>([&](auto graphOp) { visit(graphOp); })
      .Case<ScaleOp, SoftmaxOp, SigmoidOp, DropoutOp, SoftcapOp, ScoreModOp,
            AlibiOp, RopeOp, RmsNormOp, LayerNormOp>([&](auto step) {
        sameShape(step->getOperand(0), step->getResult(0));
        visitDetails(step);
      })
      .Case([&](BiasOp bias) {
        sameShape(bias.getScores(), bias.getResult());
        broadcast(bias.getBias(), bias.getScores());
      })
      .Case([&](MaskOp mask) {
        sameShape(mask.getScores(), mask.getResult());
        SmallVector<Dim> scores;
        for (int64_t i = 0; i < rank(mask.getScores()); ++i)
          scores.push_back({mask.getScores(), i});
        maskOperands(mask.getMask(), mask.getMaskOperands(), scores);
      })
      .Case<MergeStatesOp, FinalizeStateOp>([&](auto state) {
        // An element per row, or per element of a row.
        SmallVector<Value> tensors(state->getOperands());
        llvm::append_range(tensors, state->getResults());
        for (Value tensor : tensors)
          for (int64_t i = 0; i < rank(tensor); ++i)
            same(tensor, i, state.getAcc(), i);
      })
      .Case([&](SplitHeadsOp split) {
        heads(split.getInput(), split.getResult());
      })
      .Case([&](MergeHeadsOp merge) {
        heads(merge.getResult(), merge.getInput());
      })
      .Default([&](Operation *other) {
        if (collectTensors(other) ||
            !(OpTrait::hasElementwiseMappableTraits(other) ||
              other->hasTrait<OpTrait::SameOperandsAndResultType>()))
          return;
        for (Value operand : other->getOperands())
          for (Value result : other->getResults())
            if (isa<RankedTensorType>(operand.getType()) &&
                isa<RankedTensorType>(result.getType()))
              sameShape(operand, result);
      });
}
