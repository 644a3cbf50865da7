// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionReader.h"
#include "FloatConstant.h"
#include "WeightGuards.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

static constexpr int64_t mostFeaturesOfHead = 1024;

//===----------------------------------------------------------------------===//
// Downwards: weights and values
//===----------------------------------------------------------------------===//

/// `user` replaces the weights of rows without keys by 0.
Value AttentionReader::rowGuardOf(Value weights, Operation *user) {
  auto select = dyn_cast<arith::SelectOp>(user);
  if (!select || select.getFalseValue() != weights ||
      floatConstant(select.getTrueValue()) != 0.0 ||
      !isa<RankedTensorType>(select.getCondition().getType()))
    return {};
  Value masks = emptyRowsOf(select.getCondition());
  if (!masks || guardedBy)
    return {};
  guardedBy = masks;
  return select.getResult();
}

/// Whether the masks that the guard looks at are what is added to the scores.
bool AttentionReader::checkGuard() {
  if (!guardedBy)
    return true;
  std::optional<double> constant = floatConstant(guardedBy);
  if (constant && *constant > -std::numeric_limits<double>::infinity())
    return true;
  for (Operation *sum : raised.path.sums)
    if (llvm::any_of(sum->getOperands(),
                     [&](Value v) { return rootOf(v) == guardedBy; }))
      return true;
  return no("rows of weights are replaced by 0 for another reason than that "
            "they see no key");
}

bool AttentionReader::findContext(const TensorView &weights, unsigned depth) {
  if (depth == 8)
    return false;
  for (Operation *user : weights.tensor.getUsers()) {
    if (readContext(weights, user))
      return true;
    std::optional<TensorView> next = follow(weights, user);
    if (isa<arith::ExtFOp, arith::TruncFOp>(user))
      next = TensorView{user->getResult(0), weights.dims};
    else if (Value guarded = nanGuardOf(weights.tensor, user))
      next = TensorView{guarded, weights.dims};
    else if (Value guarded = rowGuardOf(weights.tensor, user))
      next = TensorView{guarded, weights.dims};
    else if (Value guarded = maskGuardOf(weights, user, raised.parts.scores,
                                         lowestExcludes))
      next = TensorView{guarded, weights.dims};
    if (next && findContext(*next, depth + 1))
      return true;
    if (!next && !user->hasTrait<OpTrait::IsTerminator>() &&
        !isa<tensor::DimOp>(user))
      stopsAt = user;
  }
  return false;
}

/// Where no product with values reads the weights: none of attention, unless
/// scores come from a product and something is computed of the weights.
bool AttentionReader::noContext() {
  if (stopsAt && comeFromProduct(raised.parts.scores))
    return no("no product with values reads its weights, but '" +
              stopsAt->getName().getStringRef() + "'");
  return false;
}

/// Whether `user` sums values by these weights over the keys.
bool AttentionReader::readContext(const TensorView &weights, Operation *user) {
  if (!isa<linalg::LinalgOp>(user) || user->getNumResults() != 1)
    return false;
  std::optional<SumOfProducts> product = productOf(user->getResult(0));
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
bool AttentionReader::readValues() {
  Arrangement given =
      raised.arrangement(raised.rank - 2, raised.valueFeature());
  TensorView last = raised.shape;
  bool found = canRestore(last, given);
  while (last.tensor.hasOneUse()) {
    Operation *user = *last.tensor.user_begin();
    std::optional<TensorView> next = follow(last, user);
    if (isa<arith::TruncFOp>(user)) // the context is rounded once, anyway
      next = TensorView{user->getResult(0), last.dims};
    if (!next || (found && !canRestore(*next, given)))
      break;
    last = *next;
    if (canRestore(last, given)) {
      found = true;
      raised.shape = last;
      raised.context = last.tensor;
    }
  }
  return found || no("the sums of its values are in an order that it cannot "
                     "read");
}

//===----------------------------------------------------------------------===//
// Upwards: queries and keys
//===----------------------------------------------------------------------===//

/// The input of a product with one number, and that number.
static Value unscaled(Value tensor, double &factor) {
  Operation *op = tensor.getDefiningOp();
  if (auto scale = dyn_cast_or_null<ScaleOp>(op)) {
    factor *= scale.getFactor().convertToDouble();
    return scale.getInput();
  }
  if (!op || !isa<arith::MulFOp, arith::DivFOp>(op))
    return {};
  Value left = op->getOperand(0), right = op->getOperand(1);
  std::optional<double> constant = floatConstant(right);
  if (!constant && isa<arith::MulFOp>(op)) {
    constant = floatConstant(left);
    std::swap(left, right);
  }
  if (!constant || !std::isfinite(*constant) || *constant == 0)
    return {};
  factor *= isa<arith::DivFOp>(op) ? 1 / *constant : *constant;
  return left;
}

/// The view furthest up that can be put in order, of `heads` heads if that is
/// not 0; factors on the way are multiplied into `factor`, unless it is null.
TensorView AttentionReader::deepest(TensorView view, const Arrangement &wanted,
                                    double *factor, int64_t heads) {
  TensorView best = view;
  double taken = 1;
  while (true) {
    if (canArrange(view, wanted) && (!heads || headsOf(view) == heads)) {
      best = view;
      if (factor)
        *factor *= std::exchange(taken, 1);
    }
    Value input;
    if (std::optional<TensorView> next = peel(view))
      view = *next;
    else if (factor && (input = unscaled(view.tensor, taken)))
      view.tensor = input;
    else
      return best;
  }
}

/// The heads of keys or values: 1 where all queries share them.
int64_t AttentionReader::headsOf(const TensorView &view) const {
  for (const LoopIndex &index : view.dims)
    for (const Digit &digit : index)
      if (raised.rank >= 3 && digit.loop == raised.rank - 3)
        return digit.size;
  return 1;
}

bool AttentionReader::readOperands() {
  const SumOfProducts &product = raised.path.product;
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
             key = viewOf(*right, op.getMatchingIndexingMap(right), loops),
             value = raised.value;
  Arrangement queries = raised.arrangement(rank - 2, raised.queryFeature()),
              keys = raised.keysArrangement(raised.queryFeature()),
              values = raised.keysArrangement(raised.valueFeature());
  raised.query = deepest(query, queries, &raised.operandScale);
  // A factor of values is none of scores: the product is left as it is.
  raised.value = deepest(value, values, /*factor=*/nullptr);
  double ofKeys = 1;
  raised.key = deepest(key, keys, &ofKeys);
  if (headsOf(raised.key) != headsOf(raised.value)) {
    // Fewer keys than values, or the reverse: all heads of both, repeated.
    int64_t heads = raised.sizes[rank - 3];
    raised.value = deepest(value, values, /*factor=*/nullptr, heads);
    raised.key = deepest(key, keys, &(ofKeys = 1), heads);
  }
  raised.operandScale *= ofKeys;
  if (!canArrange(raised.query, queries))
    return no("its queries are in an order that it cannot read");
  if (!canArrange(raised.key, keys))
    return no("its keys are in an order that it cannot read");
  if (!canArrange(raised.value, values))
    return no("its values are in an order that it cannot read");
  if (headsOf(raised.key) != headsOf(raised.value))
    return no("its keys and values have different numbers of heads");
  return true;
}

/// A number per head, or one for all of them, seen below what repeats it for
/// all rows.
bool AttentionReader::readSinks() {
  if (!raised.parts.sink)
    return true;
  if (raised.rank < 3)
    return no("its sinks belong to no head");
  raised.sink = floatConstant(raised.parts.sink);
  if (raised.sink)
    return true;
  TensorView view{raised.parts.sink, {}};
  for (unsigned loop = 0; loop + 1 < raised.rank; ++loop)
    view.dims.push_back(wholeLoop(loop, raised.sizes[loop]));
  view.dims.emplace_back();
  Arrangement heads = raised.headsArrangement();
  heads.head = raised.rank - 3;
  while (!canArrange(view, heads)) {
    std::optional<TensorView> next = peel(view);
    if (!next)
      return no("its sinks are not one number per head");
    view = *next;
  }
  raised.sinks = view;
  return true;
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

/// Ops that show the weights in another way.
static bool showsAgain(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             linalg::TransposeOp, arith::ExtFOp, arith::TruncFOp,
             arith::SelectOp>(op);
}

/// What `op` needs of what stands behind `softmax` in its block, in order, and
/// `op` itself; none if it needs the softmax or what may have effects.
static SmallVector<Operation *> neededBehind(Operation *softmax,
                                             Operation *op) {
  llvm::SetVector<Operation *> needed;
  needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] == softmax || !isMemoryEffectFree(needed[i]))
      return {};
    needed[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && source->getBlock() == softmax->getBlock() &&
            !source->isBeforeInBlock(softmax))
          needed.insert(source);
    });
  }
  SmallVector<Operation *> inOrder = needed.takeVector();
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return inOrder;
}

/// Whether nothing is computed from the weights before the values are there:
/// one op gives weights and context. Values that do not need the weights may be
/// computed earlier.
bool AttentionReader::checkReaders() {
  Operation *softmax = raised.softmax,
            *context = raised.context.getDefiningOp();
  Operation *last = raised.value.tensor.getDefiningOp();
  Block *block = softmax->getBlock();
  if (!last || last->getBlock() != block || last->isBeforeInBlock(softmax))
    return true;
  SmallVector<Value> shown{raised.parts.weights};
  while (!shown.empty())
    for (Operation *user : shown.pop_back_val().getUsers()) {
      if (user == context)
        continue;
      Operation *in = block->findAncestorOpInBlock(*user);
      if (showsAgain(user))
        llvm::append_range(shown, user->getResults());
      else if (in && !last->isBeforeInBlock(in)) {
        raised.earlier = neededBehind(softmax, last);
        return !raised.earlier.empty() ||
               no("'" + user->getName().getStringRef() +
                  "' reads its weights before its values are there");
      }
    }
  return true;
}

bool AttentionReader::read() {
  linalg::SoftmaxOp softmax = raised.softmax;
  auto type = dyn_cast<RankedTensorType>(raised.parts.scores.getType());
  if (!type)
    return false;
  raised.rank = type.getRank();
  raised.sizes.assign(type.getShape().begin(), type.getShape().end());
  raised.sizes.resize(raised.rank + 2, ShapedType::kDynamic);
  int64_t last = type.getRank() - 1;
  bool alongLast = static_cast<int64_t>(softmax.getDimension()) == last;
  TensorView weights{raised.parts.weights, {}};
  for (int64_t i = 0; i <= last; ++i)
    weights.dims.push_back(wholeLoop(i, type.getDimSize(i)));
  if (last < 1 || !alongLast)
    return false;
  PathOptions options{ArrayRef(raised.sizes).take_front(raised.rank),
                      lowestExcludes};
  if (!findContext(weights, 0))
    return noContext();
  if (raised.rank > 4)
    return no("its scores have more than 4 dimensions");
  if (raised.rank >= 3 && ShapedType::isDynamic(raised.sizes[raised.rank - 3]))
    return no("its number of heads is unknown");
  std::optional<ScorePath> path =
      readScorePath(raised.parts.scores, options, reason);
  if (!path)
    return false;
  raised.path = std::move(*path);
  if (!checkGuard() || !readOperands() || !readSinks() || !readValues() ||
      !checkReaders())
    return false;
  for (unsigned feature : {raised.queryFeature(), raised.valueFeature()})
    if (ShapedType::isDynamic(raised.sizes[feature]) ||
        raised.sizes[feature] > mostFeaturesOfHead)
      return no("its heads have an unknown number of features, or more than " +
                Twine(mostFeaturesOfHead));
  if (getElementTypeOrSelf(raised.query.tensor) !=
      getElementTypeOrSelf(raised.key.tensor))
    return no("its queries and keys have different types");
  if (double scale = raised.operandScale * raised.path.scale;
      !std::isfinite(scale) || scale == 0)
    return no("the product of its scales is 0 or not finite");
  return true;
}
