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
// It starts at every linalg.softmax along the last dimension and reads upwards
// to a sum of products over one loop, and downwards to another. On both ways it
// looks through reshapes, transposes, broadcasts and casts, so that the keys of
// shared heads that were repeated are read once, and heads that were split and
// transposed become attn.split_heads and attn.merge_heads.
//
// What is done to the scores is read as code on one score and its indices:
//   scale      products and quotients with one number, also of queries or keys
//   bias       a tensor that is added
//   exclusion  a select, or a sum with 0 or -inf, whose condition does not
//              depend on the score. Conditions on indices alone become
//              attn.mask_fn, of which loop bounds follow; constants that are a
//              band around the diagonal become causal or window.
//   function   everything else, an attn.score_mod
// With `lowest-excludes` the lowest finite number of a type excludes as -inf
// does, which is what exporters mean by it; a row that sees no key then becomes
// 0 instead of the mean of all values, which a remark says.
//
// A select that replaces NaN by 0 behind the softmax guards rows without keys.
// It goes, as attn.softmax gives 0 there.
//
// Before: any specification. After: what could be read is in attn ops; each
// softmax between two products that could not has a missed remark, and stays as
// it was.
//
// Not handled: softmax that is written out, ranks above 4, heads or features of
// unknown number, more than 1024 features.
#include "RaiseMasks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_RAISEATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static constexpr int64_t mostFeatures = 1024;

namespace {
/// All that is known about one attention before anything changes.
struct Raised {
  linalg::SoftmaxOp softmax;
  unsigned rank;
  SmallVector<int64_t>
      sizes; ///< of the loops: scores, query and value features
  ScorePath path;
  double operandScale = 1; ///< of queries times keys
  TensorView query, key, value;
  Value context;    ///< what is replaced
  TensorView shape; ///< how it shows the context
  unsigned queryFeature() const { return rank; }
  unsigned valueFeature() const { return rank + 1; }

  /// (.., S, D) of the loops in front, `sequence` and `feature`.
  Arrangement arrangement(unsigned sequence, unsigned feature) const {
    Arrangement wanted;
    for (unsigned loop = 0; loop + 2 < rank; ++loop)
      wanted.loops.push_back(loop);
    wanted.loops.append({sequence, feature});
    wanted.sizes = sizes;
    return wanted;
  }
  Arrangement keysArrangement(unsigned feature) const {
    Arrangement wanted = arrangement(rank - 1, feature);
    wanted.head = rank >= 3 ? rank - 3 : -1;
    return wanted;
  }
};

/// Decides about one softmax.
class Reader {
public:
  Reader(linalg::SoftmaxOp softmax, bool lowestExcludes)
      : lowestExcludes(lowestExcludes) {
    raised.softmax = softmax;
  }
  /// False: `reason` says why not; it is empty where there is no attention.
  bool read();
  Raised raised;
  std::string reason;

private:
  bool no(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool readValues();
  bool readOperands();
  bool findContext(const TensorView &weights, unsigned depth);
  bool readContext(const TensorView &weights, Operation *user);
  TensorView deepest(TensorView view, const Arrangement &wanted,
                     double &factor);

  bool lowestExcludes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Downwards: weights and values
//===----------------------------------------------------------------------===//

/// `user` replaces NaN among the weights by 0.
static Value guardOf(Value weights, Operation *user) {
  auto isNaN = dyn_cast<arith::CmpFOp>(user);
  if (!isNaN || isNaN.getLhs() != isNaN.getRhs() || isNaN.getLhs() != weights ||
      !isNaN->hasOneUse() ||
      (isNaN.getPredicate() != arith::CmpFPredicate::UNO &&
       isNaN.getPredicate() != arith::CmpFPredicate::UNE))
    return {};
  auto select = dyn_cast<arith::SelectOp>(*isNaN->user_begin());
  if (!select || select.getCondition() != isNaN.getResult() ||
      select.getFalseValue() != weights ||
      !matchPattern(select.getTrueValue(), m_AnyZeroFloat()))
    return {};
  return select.getResult();
}

bool Reader::findContext(const TensorView &weights, unsigned depth) {
  if (depth == 8)
    return false;
  for (Operation *user : weights.tensor.getUsers()) {
    if (readContext(weights, user))
      return true;
    std::optional<TensorView> next = follow(weights, user);
    if (isa<arith::ExtFOp, arith::TruncFOp>(user))
      next = TensorView{user->getResult(0), weights.dims};
    else if (Value guarded = guardOf(weights.tensor, user))
      next = TensorView{guarded, weights.dims};
    if (next && findContext(*next, depth + 1))
      return true;
  }
  return false;
}

/// Whether `user` sums values by these weights over the keys.
bool Reader::readContext(const TensorView &weights, Operation *user) {
  if (!isa<linalg::LinalgOp>(user) || user->getNumResults() != 1)
    return false;
  std::optional<Product> product = productOf(user->getResult(0));
  if (!product)
    return false;
  linalg::LinalgOp op = product->op;
  OpOperand *left = op.getDpsInputOperand(0), *right = op.getDpsInputOperand(1);
  bool isLeft = left->get() == weights.tensor;
  if (isLeft == (right->get() == weights.tensor))
    return false;
  OpOperand *value = isLeft ? right : left;
  SmallVector<LoopIndex> loops(op.getNumLoops());
  readLoops(weights, op.getMatchingIndexingMap(isLeft ? left : right), loops);
  unsigned rank = raised.rank;
  LoopIndex keys = wholeLoop(rank - 1, raised.sizes[rank - 1]);
  ArrayRef<unsigned> features = isLeft ? product->right : product->left;
  if (loops[product->summed] != keys || features.size() != 1)
    return false;
  int64_t size = op.getStaticLoopRanges()[features[0]];
  raised.sizes[raised.valueFeature()] = size;
  loops[features[0]] = wholeLoop(raised.valueFeature(), size);
  raised.value = viewOf(*value, op.getMatchingIndexingMap(value), loops);
  OpOperand *init = op.getDpsInitOperand(0);
  raised.shape = viewOf(*init, op.getMatchingIndexingMap(init), loops);
  raised.shape.tensor = raised.context = op->getResult(0);
  return true;
}

/// Follows the context through what only shows it otherwise, so that merged
/// heads are known as such.
bool Reader::readValues() {
  Arrangement given =
      raised.arrangement(raised.rank - 2, raised.valueFeature());
  if (!canRestore(raised.shape, given))
    return no("the sums of its values are in an order that it cannot read");
  while (raised.context.hasOneUse()) {
    std::optional<TensorView> next =
        follow(raised.shape, *raised.context.user_begin());
    if (!next || !canRestore(*next, given))
      break;
    raised.shape = *next;
    raised.context = next->tensor;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Upwards: queries and keys
//===----------------------------------------------------------------------===//

/// The input of a product with one number, and that number.
static Value unscaled(Value tensor, double &factor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !isa<arith::MulFOp, arith::DivFOp>(op))
    return {};
  Value left = op->getOperand(0), right = op->getOperand(1);
  auto constantOf = [](Value value) -> std::optional<double> {
    Value scalar = value;
    if (auto splat = value.getDefiningOp<tensor::SplatOp>())
      scalar = splat.getInput();
    else if (auto fill = value.getDefiningOp<linalg::FillOp>())
      scalar = fill.value();
    APFloat number(0.0);
    if (!matchPattern(scalar, m_ConstantFloat(&number)))
      return std::nullopt;
    bool inexact;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &inexact);
    return number.convertToDouble();
  };
  std::optional<double> constant = constantOf(right);
  if (!constant && isa<arith::MulFOp>(op)) {
    constant = constantOf(left);
    std::swap(left, right);
  }
  if (!constant || !std::isfinite(*constant) || *constant == 0)
    return {};
  factor *= isa<arith::DivFOp>(op) ? 1 / *constant : *constant;
  return left;
}

/// The view furthest up that can be put in order; factors on the way are taken
/// out if `factor` may change.
TensorView Reader::deepest(TensorView view, const Arrangement &wanted,
                           double &factor) {
  TensorView best = view;
  double taken = 1;
  while (true) {
    if (canArrange(view, wanted)) {
      best = view;
      factor *= std::exchange(taken, 1);
    }
    if (std::optional<TensorView> next = peel(view))
      view = *next;
    else if (Value input = unscaled(view.tensor, taken))
      view.tensor = input;
    else
      return best;
  }
}

bool Reader::readOperands() {
  const Product &product = raised.path.product;
  linalg::LinalgOp op = product.op;
  unsigned rank = raised.rank;
  SmallVector<LoopIndex> loops(op.getNumLoops());
  OpOperand *init = op.getDpsInitOperand(0);
  readLoops(raised.path.result, op.getMatchingIndexingMap(init), loops);
  int64_t size = op.getStaticLoopRanges()[product.summed];
  raised.sizes[raised.queryFeature()] = size;
  loops[product.summed] = wholeLoop(raised.queryFeature(), size);
  auto has = [&](ArrayRef<unsigned> own, unsigned loop) {
    return llvm::any_of(own, [&](unsigned i) {
      return llvm::any_of(loops[i], [&](Digit d) { return d.loop == loop; });
    });
  };
  bool keysLeft = has(product.left, rank - 1) || has(product.right, rank - 2);
  OpOperand *left = op.getDpsInputOperand(0), *right = op.getDpsInputOperand(1);
  if (keysLeft)
    std::swap(left, right);
  TensorView query = viewOf(*left, op.getMatchingIndexingMap(left), loops),
             key = viewOf(*right, op.getMatchingIndexingMap(right), loops);
  Arrangement queries = raised.arrangement(rank - 2, raised.queryFeature()),
              keys = raised.keysArrangement(raised.queryFeature()),
              values = raised.keysArrangement(raised.valueFeature());
  double none = 1;
  raised.query = deepest(query, queries, raised.operandScale);
  raised.key = deepest(key, keys, raised.operandScale);
  // A factor of values is none of scores: the product is left as it is.
  TensorView value = raised.value;
  raised.value = deepest(value, values, none);
  if (none != 1) {
    raised.value = value;
    while (std::optional<TensorView> next = peel(value)) {
      value = *next;
      if (canArrange(value, values))
        raised.value = value;
    }
  }
  if (!canArrange(raised.query, queries))
    return no("its queries are in an order that it cannot read");
  if (!canArrange(raised.key, keys))
    return no("its keys are in an order that it cannot read");
  if (!canArrange(raised.value, values))
    return no("its values are in an order that it cannot read");
  return true;
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

bool Reader::read() {
  linalg::SoftmaxOp softmax = raised.softmax;
  auto type = dyn_cast<RankedTensorType>(softmax.getInputOperandType());
  if (!type || !softmax->getNumResults())
    return false;
  raised.rank = type.getRank();
  raised.sizes.assign(type.getShape().begin(), type.getShape().end());
  raised.sizes.resize(raised.rank + 2, ShapedType::kDynamic);
  int64_t last = type.getRank() - 1;
  bool alongLast = static_cast<int64_t>(softmax.getDimension()) == last;
  TensorView weights{softmax.getResult()[0], {}};
  for (int64_t i = 0; i <= last; ++i)
    weights.dims.push_back(wholeLoop(i, type.getDimSize(i)));
  if (last < 1 || !alongLast || !findContext(weights, 0))
    return false;
  if (raised.rank > 4)
    return no("its scores have more than 4 dimensions");
  PathOptions options{ArrayRef(raised.sizes).take_front(raised.rank),
                      lowestExcludes};
  std::optional<ScorePath> path =
      readScorePath(softmax.getInput(), options, reason);
  if (!path)
    return false;
  raised.path = std::move(*path);
  if (!readOperands() || !readValues())
    return false;
  for (unsigned feature : {raised.queryFeature(), raised.valueFeature()})
    if (ShapedType::isDynamic(raised.sizes[feature]) ||
        raised.sizes[feature] > mostFeatures)
      return no("its heads have an unknown number of features, or more than " +
                Twine(mostFeatures));
  if (raised.rank >= 3 && ShapedType::isDynamic(raised.sizes[raised.rank - 3]))
    return no("its number of heads is unknown");
  if (getElementTypeOrSelf(raised.query.tensor) !=
      getElementTypeOrSelf(raised.key.tensor))
    return no("its queries and keys have different types");
  if (double scale = raised.operandScale * raised.path.scale;
      !std::isfinite(scale) || scale == 0)
    return no("the product of its scales is 0 or not finite");
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// A transpose of (.., S, H, D) is attn.split_heads of (.., S, H*D), which
/// attn-absorb-heads makes a layout.
static Value asSplitHeads(OpBuilder &b, Location loc, Value tensor) {
  auto transpose = tensor.getDefiningOp<linalg::TransposeOp>();
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (!transpose || rank < 3)
    return tensor;
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(swapped[rank - 3], swapped[rank - 2]);
  if (transpose.getPermutation() != ArrayRef(swapped) ||
      type.isDynamicDim(rank - 3))
    return tensor;
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank - 2; ++i)
    groups.push_back({i});
  groups.push_back({rank - 2, rank - 1});
  Value joined =
      tensor::CollapseShapeOp::create(b, loc, transpose.getInput(), groups);
  return SplitHeadsOp::create(b, loc, type, joined,
                              b.getI64IntegerAttr(type.getDimSize(rank - 3)));
}

/// (.., S, H*D) of the context: attn.merge_heads where the view is that.
static Value restoreContext(OpBuilder &b, Value out, const Raised &raised) {
  Location loc = out.getLoc();
  unsigned rank = raised.rank;
  Arrangement given = raised.arrangement(rank - 2, raised.valueFeature());
  auto type = cast<RankedTensorType>(out.getType());
  bool large = rank >= 3 && type.getDimSize(rank - 3) != 1 &&
               type.getDimSize(rank - 1) != 1;
  const auto &dims = raised.shape.dims;
  bool merged = large && dims.size() == rank - 1 && dims.back().size() == 2 &&
                dims.back()[0].loop == rank - 3 &&
                dims[rank - 3] == wholeLoop(rank - 2, raised.sizes[rank - 2]);
  if (!merged)
    return restore(b, loc, out, raised.shape, given);
  SmallVector<int64_t> shape(type.getShape());
  shape[rank - 3] = type.getDimSize(rank - 2);
  shape[rank - 2] = type.getDimSize(rank - 3) * type.getDimSize(rank - 1);
  shape.pop_back();
  Value joined = MergeHeadsOp::create(b, loc, type.clone(shape), out);
  if (joined.getType() != raised.shape.type())
    joined = tensor::CastOp::create(b, loc, raised.shape.type(), joined);
  return joined;
}

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

/// The scores of the raised steps, of the type that attn.scores gives.
static Value emitScores(OpBuilder &b, Location loc, const Raised &raised) {
  unsigned rank = raised.rank;
  ArrayRef<int64_t> sizes = ArrayRef(raised.sizes).take_front(rank);
  auto operand = [&](const TensorView &view, const Arrangement &wanted) {
    return asSplitHeads(b, loc, arrange(b, loc, view, wanted));
  };
  Value query = operand(raised.query,
                        raised.arrangement(rank - 2, raised.queryFeature())),
        key =
            operand(raised.key, raised.keysArrangement(raised.queryFeature()));
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
  if (path.function)
    scores = emitFunction(b, loc, scores, *path.function, path.functionResult);
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
  return scores;
}

/// Erases `op`, if nothing reads it, and then what only it read.
static void eraseUnread(Operation *op, IRRewriter &rewriter,
                        DenseSet<Operation *> &erased) {
  if (!op || erased.contains(op) || !isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  erased.insert(op);
  rewriter.eraseOp(op);
  for (Value operand : operands)
    eraseUnread(operand.getDefiningOp(), rewriter, erased);
}

static void rewrite(Raised &raised, IRRewriter &rewriter,
                    DenseSet<Operation *> &erased) {
  linalg::SoftmaxOp softmax = raised.softmax;
  Location loc = softmax.getLoc();
  rewriter.setInsertionPointAfter(softmax);
  Value scores = emitScores(rewriter, loc, raised);
  Value weights = SoftmaxOp::create(rewriter, loc, scores.getType(), scores,
                                    /*sinks=*/Value());
  auto type = cast<RankedTensorType>(softmax->getResult(0).getType());
  Operation *context = raised.context.getDefiningOp();
  rewriter.setInsertionPoint(context);
  Value value =
      asSplitHeads(rewriter, loc,
                   arrange(rewriter, loc, raised.value,
                           raised.keysArrangement(raised.valueFeature())));
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(scores.getType()).getShape());
  shape.back() = raised.sizes[raised.valueFeature()];
  Type element = getElementTypeOrSelf(value);
  Value out = ContextOp::create(
      rewriter, loc, RankedTensorType::get(shape, element), weights, value);
  Value result = restoreContext(
      rewriter,
      convert(rewriter, loc, out, raised.shape.type().getElementType()),
      raised);
  rewriter.replaceAllUsesWith(raised.context, result);
  eraseUnread(context, rewriter, erased);
  // Weights that others read are those of the step.
  if (!erased.contains(softmax)) {
    rewriter.setInsertionPointAfterValue(weights);
    Value same = convert(rewriter, loc, weights, type.getElementType());
    if (same.getType() != type)
      same = tensor::CastOp::create(rewriter, loc, type, same);
    rewriter.replaceAllUsesWith(softmax->getResult(0), same);
    eraseUnread(softmax, rewriter, erased);
  }
  remark::passed(loc, remark::RemarkOpts::name("RaisedAttention")
                          .category("attn-raise-attention"))
      << "read as attention";
  if (raised.path.tookLowest)
    remark::passed(loc, remark::RemarkOpts::name("LowestExcludes")
                            .category("attn-raise-attention"))
        << "the lowest finite number is taken for an exclusion: a query that "
           "sees no key gives 0 instead of the mean of all values";
}

namespace {
struct RaiseAttention : attn::impl::RaiseAttentionBase<RaiseAttention> {
  using RaiseAttentionBase::RaiseAttentionBase;
  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> ops;
    getOperation()->walk([&](linalg::SoftmaxOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    DenseSet<Operation *> erased;
    for (linalg::SoftmaxOp op : ops) {
      if (erased.contains(op))
        continue;
      Reader reader(op, lowestExcludes);
      if (reader.read())
        rewrite(reader.raised, rewriter, erased);
      else if (!reader.reason.empty())
        remark::missed(op.getLoc(), remark::RemarkOpts::name("NotAttention")
                                        .category("attn-raise-attention"))
            << "not read as attention: " + reader.reason;
    }
  }
};
} // namespace
