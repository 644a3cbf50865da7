// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-raise-attention: attention that is written in linalg, arith and tensor
// becomes the textbook steps, which attn-fuse knows.
//
//   %kt = linalg.transpose ins(%k) permutation = [0, 1, 3, 2]
//   %s = linalg.generic {q, k -> sum over d} ins(%q, %kt)  (B x H x Sq x Skv)
//   %t = arith.mulf %s, dense<0.125>
//   %m = arith.select %seen, %t, dense<-inf>
//   %w = linalg.softmax dimension(3) ins(%m)
//   %o = linalg.generic {w, v -> sum over k} ins(%w, %v)
// becomes
//   %0 = attn.scores %q, %k
//   %1 = attn.scale %0 by 0.125
//   %2 = attn.mask %1 where %seen : tensor<..xi1>
//   %w = attn.softmax %2
//   %o = attn.context %w, %v
//
// It starts at every linalg.softmax of rows, or of columns, and reads upwards
// to a sum of products over one loop, and downwards to another. On both ways it
// looks through reshapes, transposes, broadcasts and casts, so that the keys of
// shared heads that were repeated are read once.
//
// What is done to the scores is read as code on one score and its indices:
//   scale      products and quotients with one number, also of queries or keys
//   bias       a tensor that is added
//   exclusion  a select, or a sum with 0 or -inf, whose condition does not
//              depend on the score. Conditions on indices alone become
//              attn.mask_fn, of which loop bounds follow; constants that are a
//              band around the diagonal become causal or window.
//   function   everything else, an attn.score_mod
// With `attn.lowest_excludes` on the function, the lowest finite number of a
// type excludes as -inf does, which is what exporters mean by it; a row that
// sees no key then becomes 0 instead of the mean of all values, which a remark
// says.
//
// Where batch entries and heads are one dimension of unknown size, they are
// taken apart again if a tensor around the softmax says how many heads there
// are; else, as in exports of nn.MultiheadAttention, each is a batch entry of
// one head (SoftmaxForms.h).
//
// A column of one number per head that is put behind the scores and goes behind
// the softmax is its sinks. A difference with the maximum of each row goes.
//
// A select that replaces NaN by 0 behind the softmax guards rows without keys.
// It goes, as attn.softmax gives 0 there.
//
// Before: any specification. After: what could be read is in attn ops; each
// softmax between two products that could not has a missed remark, and stays as
// it was.
//
// Not handled: ranks above 4, but for groups of queries of known number; heads
// or features of unknown number, more than 1024 features.
#include "AttentionReader.h"
#include "RaiseMasks.h"
#include "SoftmaxForms.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_RAISEATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// `value` with elements of type `element`.
static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned from = type.getElementTypeBitWidth(),
           to = element.getIntOrFloatBitWidth();
  if (type.getElementType() == element)
    return value;
  if (from < to)
    return arith::ExtFOp::create(b, loc, type.clone(element), value);
  return arith::TruncFOp::create(b, loc, type.clone(element), value);
}

/// The scores behind scale, function and mask, of the type that attn.scores
/// gives.
static SmallVector<Value> emitScores(OpBuilder &b, Location loc,
                                     const Raised &raised) {
  unsigned rank = raised.rank;
  ArrayRef<int64_t> sizes = ArrayRef(raised.sizes).take_front(rank);
  unsigned feature = raised.queryFeature();
  Value query = arrange(b, loc, raised.query,
                        raised.arrangement(rank - 2, feature)),
        key = arrange(b, loc, raised.key, raised.keysArrangement(feature));
  auto type = cast<RankedTensorType>(query.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.push_back(cast<RankedTensorType>(key.getType()).getDimSize(rank - 2));
  Type element = type.getElementType().isF64() ? type.getElementType()
                                               : Type(b.getF32Type());
  Value scores = ScoresOp::create(b, loc, RankedTensorType::get(shape, element),
                                  query, key);
  const ScorePath &path = raised.path;
  if (double scale = raised.operandScale * path.scale; scale != 1)
    scores = ScaleOp::create(b, loc, scores, APFloat(scale));
  SmallVector<Value> stages{scores};
  if (path.function)
    scores = emitFunction(b, loc, scores, *path.function, path.functionResult);
  stages.push_back(scores);
  for (auto [i, bias] : llvm::enumerate(path.biases)) {
    bool last = i + 1 == path.biases.size();
    if (last && canBroadcast(bias, sizes)) {
      Value tensor = emitBroadcastable(b, loc, bias, sizes);
      scores = BiasOp::create(b, loc, scores.getType(), scores,
                              convert(b, loc, tensor, element));
      continue;
    }
    // attn.sdpa has one bias: the others are functions of the score.
    ScalarCode code(b.getContext(), loc, sizes, element);
    Value added = code.emit(bias);
    if (added.getType() != element)
      added = arith::ExtFOp::create(code.builder(), loc, element, added);
    Value sum = arith::AddFOp::create(code.builder(), loc, code.score(), added);
    scores = emitFunction(b, loc, scores, code, sum);
  }
  for (const Exclusion &exclusion : path.exclusions)
    scores = emitExclusion(b, loc, scores, exclusion, sizes);
  stages.push_back(scores);
  return stages;
}

/// Erases `op`, if nothing reads it, and then what only it read.
static void eraseUnread(Operation *op, IRRewriter &rewriter,
                        DenseSet<Operation *> &erased) {
  if (!op || erased.contains(op) || !isOpTriviallyDead(op))
    return;
  // Two operands may come from one op.
  auto producers = llvm::map_to_vector(
      op->getOperands(), [](Value operand) { return operand.getDefiningOp(); });
  erased.insert(op);
  rewriter.eraseOp(op);
  for (Operation *producer : producers)
    eraseUnread(producer, rewriter, erased);
}

namespace {
/// Scores of the specification, and the op whose result they are.
struct Stage {
  TensorView view;
  Operation *producer;
};
} // namespace

/// All dimensions of the scores.
static Arrangement scoresArrangement(const Raised &raised) {
  Arrangement all;
  for (unsigned loop = 0; loop < raised.rank; ++loop)
    all.loops.push_back(loop);
  all.sizes = raised.sizes;
  return all;
}

/// Scores behind scale, function and mask.
static SmallVector<Stage, 3> stagesOf(const Raised &raised) {
  TensorView last{raised.parts.scores, {}};
  for (unsigned loop = 0; loop < raised.rank; ++loop)
    last.dims.push_back(wholeLoop(loop, raised.sizes[loop]));
  SmallVector<Stage, 3> stages;
  for (const TensorView &view :
       {raised.path.scaled, raised.path.modified, last})
    stages.push_back({view, view.tensor.getDefiningOp()});
  return stages;
}

/// Scores of one stage that others read as well are those of the steps;
/// attn.sdpa returns no more than one. Readers in front of the steps keep what
/// they read.
static void replaceScores(IRRewriter &rewriter, const Raised &raised,
                          ArrayRef<Stage> stages, ArrayRef<Value> made,
                          DenseSet<Operation *> &erased) {
  // What only a later stage reads goes with it.
  size_t read = stages.size();
  while (read > 0 && erased.contains(stages[read - 1].producer))
    --read;
  if (read-- == 0)
    return;
  TensorView view = stages[read].view;
  Value scores = made[read];
  Operation *step = scores.getDefiningOp();
  Arrangement all = scoresArrangement(raised);
  while (view.tensor.hasOneUse()) {
    std::optional<TensorView> next = follow(view, *view.tensor.user_begin());
    if (!next || !canRestore(*next, all))
      break;
    view = *next;
  }
  auto isBehind = [&](Operation *user) {
    Operation *in = step->getBlock()->findAncestorOpInBlock(*user);
    return isa<tensor::DimOp>(user) || (in && step->isBeforeInBlock(in));
  };
  if (!canRestore(view, all) || !llvm::all_of(view.tensor.getUsers(), isBehind))
    return;
  rewriter.setInsertionPointAfter(step);
  Location loc = step->getLoc();
  Value same = convert(rewriter, loc, scores, view.type().getElementType());
  same = restore(rewriter, loc, same, view, all);
  Operation *old = view.tensor.getDefiningOp();
  rewriter.replaceUsesWithIf(view.tensor, same, [](OpOperand &use) {
    return !isa<tensor::DimOp>(use.getOwner());
  });
  eraseUnread(old, rewriter, erased);
}

/// One number per head of the scores.
static Value sinksOf(OpBuilder &b, Location loc, Raised &raised, Type element) {
  auto type = RankedTensorType::get(raised.sizes[raised.rank - 3], element);
  if (raised.sink)
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, b.getFloatAttr(element, *raised.sink)));
  Arrangement heads = raised.headsArrangement();
  bool isShared = !canArrange(raised.sinks, heads);
  heads.head = isShared ? raised.rank - 3 : -1;
  Value sinks = convert(b, loc, arrange(b, loc, raised.sinks, heads), element);
  if (!isShared)
    return sinks;
  Value one = tensor::CollapseShapeOp::create(b, loc, sinks,
                                              ArrayRef<ReassociationIndices>());
  Value all = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  return linalg::BroadcastOp::create(b, loc, one, all, ArrayRef<int64_t>(0))
      .getResult()[0];
}

static void rewrite(Raised &raised, IRRewriter &rewriter,
                    DenseSet<Operation *> &erased) {
  linalg::SoftmaxOp softmax = raised.softmax;
  Location loc = softmax.getLoc();
  rewriter.setInsertionPointAfter(softmax);
  SmallVector<Stage, 3> stages = stagesOf(raised);
  SmallVector<Value> made = emitScores(rewriter, loc, raised);
  Value scores = made.back();
  Value sinks;
  if (raised.parts.sink)
    sinks = sinksOf(rewriter, loc, raised, getElementTypeOrSelf(scores));
  Value weights =
      SoftmaxOp::create(rewriter, loc, scores.getType(), scores, sinks);
  Value old = raised.parts.weights;
  Operation *shown = old.getDefiningOp();
  auto type = cast<RankedTensorType>(old.getType());
  Operation *context = raised.context.getDefiningOp();
  // As early as possible: other readers of the weights may stand in front of
  // the context.
  Operation *source = raised.value.tensor.getDefiningOp();
  bool isLater = source && source->getBlock() == softmax->getBlock() &&
                 softmax->isBeforeInBlock(source);
  rewriter.setInsertionPointAfterValue(isLater ? raised.value.tensor : weights);
  unsigned feature = raised.valueFeature();
  Value value =
      arrange(rewriter, loc, raised.value, raised.keysArrangement(feature));
  rewriter.setInsertionPoint(context);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(scores.getType()).getShape());
  shape.back() = raised.sizes[feature];
  Type element = getElementTypeOrSelf(value);
  Value out = ContextOp::create(
      rewriter, loc, RankedTensorType::get(shape, element), weights, value);
  out = convert(rewriter, loc, out, raised.shape.type().getElementType());
  Value result = restore(rewriter, loc, out, raised.shape,
                         raised.arrangement(raised.rank - 2, feature));
  rewriter.replaceAllUsesWith(raised.context, result);
  eraseUnread(context, rewriter, erased);
  // Weights that others read are those of the step.
  if (!erased.contains(shown)) {
    rewriter.setInsertionPointAfterValue(weights);
    Value same = convert(rewriter, loc, weights, type.getElementType());
    if (same.getType() != type)
      same = tensor::CastOp::create(rewriter, loc, type, same);
    rewriter.replaceAllUsesWith(old, same);
    eraseUnread(shown, rewriter, erased);
  }
  replaceScores(rewriter, raised, stages, made, erased);
  remark::passed(loc, remark::RemarkOpts::name("RaisedAttention")
                          .category("attn-raise-attention"))
      << "read as attention";
  if (raised.path.tookLowest)
    remark::passed(loc, remark::RemarkOpts::name("LowestExcludes")
                            .category("attn-raise-attention"))
        << "the lowest finite number is taken for an exclusion: a query that "
           "sees no key gives 0 instead of the mean of all values";
}

/// Whether the function around `op` comes from a model.
static bool lowestExcludes(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function && function->hasAttr(AttnDialect::lowestExcludesAttr);
}

namespace {
struct RaiseAttention : attn::impl::RaiseAttentionBase<RaiseAttention> {
  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> ops;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    DenseSet<Operation *> erased;
    for (linalg::SoftmaxOp op : ops) {
      if (erased.contains(op))
        continue;
      std::string reason;
      if (raise(op, rewriter, erased, reason) || reason.empty())
        continue;
      remark::missed(op.getLoc(), remark::RemarkOpts::name("NotAttention")
                                      .category("attn-raise-attention"))
          << "not read as attention: " + reason;
    }
  }

  /// Reads the softmax in each of its forms. False: `reason` is why the first
  /// could not be read, and empty where there is no attention.
  static bool raise(linalg::SoftmaxOp op, IRRewriter &rewriter,
                    DenseSet<Operation *> &erased, std::string &reason) {
    for (const SoftmaxForm &form : formsOf(op)) {
      WrittenSoftmax written = writeAs(form, op, rewriter);
      AttentionReader reader(written.op, lowestExcludes(op));
      if (reader.read()) {
        for (Operation *needed : reader.raised.earlier)
          rewriter.moveOpBefore(needed, written.op);
        rewrite(reader.raised, rewriter, erased);
        eraseUnread(op, rewriter, erased);
        return true;
      }
      if (written.op != op) {
        rewriter.replaceAllUsesWith(written.result, op->getResult(0));
        DenseSet<Operation *> tried; // whose places later ops may take
        eraseUnread(written.result.getDefiningOp(), rewriter, tried);
      }
      if (reason.empty())
        reason = reader.reason;
    }
    return false;
  }
};
} // namespace
