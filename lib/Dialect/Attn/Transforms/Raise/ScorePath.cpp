// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScorePath.h"
#include "FloatConstant.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The way to the product
//===----------------------------------------------------------------------===//

namespace {
/// Scores on their way, the product first.
struct Levels {
  SmallVector<TensorView, 0> views;
  SumOfProducts product;
};

class PathFinder {
public:
  /// `withWeights`: products with weights count as well.
  explicit PathFinder(std::string &reason, bool withWeights = false)
      : reason(reason), withWeights(withWeights) {}
  std::optional<Levels> find(TensorView view);
  bool leadsToProduct(Value tensor);

private:
  SmallVector<Value> scoreOperands(Operation *op);
  std::optional<TensorView> below(const TensorView &view, Operation *op,
                                  Value operand);

  std::string &reason;
  bool withWeights;
  DenseMap<Value, bool> leads;
};
} // namespace

/// Ops that compute each element from those at the same place.
static bool isPointwise(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumParallelLoops() == generic.getNumLoops() &&
           generic.getNumResults() == 1;
  return isa<ScaleOp>(op) ||
         (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
          op->getNumResults() == 1 && op->getNumOperands() > 0);
}

bool PathFinder::leadsToProduct(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return false;
  auto [known, isNew] = leads.try_emplace(tensor, false);
  if (!isNew)
    return known->second;
  Operation *op = tensor.getDefiningOp();
  bool result = false;
  if (op && (productOf(tensor) || (withWeights && isa<ProjectOp>(op))))
    result = true;
  else if (op && isa<tensor::CastOp, tensor::ExpandShapeOp,
                     tensor::CollapseShapeOp, linalg::TransposeOp>(op))
    result = leadsToProduct(op->getOperand(0));
  else if (op && isPointwise(op))
    result = llvm::any_of(op->getOperands(),
                          [&](Value v) { return leadsToProduct(v); });
  return leads[tensor] = result;
}

SmallVector<Value> PathFinder::scoreOperands(Operation *op) {
  SmallVector<Value> found;
  for (Value operand : op->getOperands())
    if (leadsToProduct(operand) && !llvm::is_contained(found, operand))
      found.push_back(operand);
  return found;
}

std::optional<TensorView> PathFinder::below(const TensorView &view,
                                            Operation *op, Value operand) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return TensorView{operand, view.dims};
  AffineMap out = generic.getIndexingMapsArray().back();
  if (!out.isPermutation())
    return std::nullopt;
  SmallVector<LoopIndex> loops(generic.getNumLoops());
  readLoops(view, out, loops);
  for (OpOperand *input : generic.getDpsInputOperands())
    if (input->get() == operand)
      return attn::viewOf(*input, generic.getMatchingIndexingMap(input), loops);
  return std::nullopt;
}

std::optional<Levels> PathFinder::find(TensorView view) {
  Levels levels;
  bool joined = false; // several ways lead from here to the product
  while (true) {
    while (std::optional<TensorView> next = peel(view))
      view = *next;
    if (std::optional<SumOfProducts> product = productOf(view.tensor)) {
      levels.product = *product;
      levels.views.push_back(view);
      std::reverse(levels.views.begin(), levels.views.end());
      return levels;
    }
    if (!joined)
      levels.views.push_back(view);
    Operation *op = view.tensor.getDefiningOp();
    SmallVector<Value> operands;
    if (op && isPointwise(op))
      operands = scoreOperands(op);
    if (operands.empty()) {
      reason = "its scores come from no product of queries and keys";
      return std::nullopt;
    }
    joined |= operands.size() > 1;
    std::optional<TensorView> next = below(view, op, operands.front());
    if (!next) {
      reason = "its scores are permuted by '" +
               op->getName().getStringRef().str() + "'";
      return std::nullopt;
    }
    view = *next;
  }
}

bool attn::comeFromProduct(Value scores) {
  std::string ignored;
  return PathFinder(ignored, /*withWeights=*/true).leadsToProduct(scores);
}

//===----------------------------------------------------------------------===//
// What a step is
//===----------------------------------------------------------------------===//

/// Below the conversions of floats.
static Value withoutCasts(Value number) {
  while (Operation *op = number.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    number = op->getOperand(0);
  }
  return number;
}

namespace {
enum class StepKind { Neutral, Scale, Sum, Function };

/// One step: from one level to the next.
struct Step {
  StepKind kind = StepKind::Function;
  double factor = 1;
  SmallVector<TensorView, 0> biases;
  SmallVector<Exclusion, 0> exclusions;
  bool tookLowest = false;
};

class StepReader {
public:
  StepReader(std::shared_ptr<ScalarCode> code, const PathOptions &options)
      : code(std::move(code)), options(options) {}
  Step read(Value number);

private:
  bool isScore(Value number) const {
    return withoutCasts(number) == code->score();
  }
  bool isLow(double value);
  bool isLow(Value number) {
    std::optional<double> value = floatConstant(withoutCasts(number));
    return value && isLow(*value);
  }
  bool readScale(Value number);
  bool readSelect(arith::SelectOp op);
  bool readSum(Value number);
  bool readAddend(Value number);
  bool readExclusion(Value number);
  bool readConstant(Value number);
  bool exclude(Value condition, bool negated);

  std::shared_ptr<ScalarCode> code;
  const PathOptions &options;
  Step step;
};
} // namespace

bool attn::excludesScore(double number, bool lowestExcludes) {
  return number == -std::numeric_limits<double>::infinity() ||
         (lowestExcludes &&
          llvm::is_contained({-65504.0, -0x1.fep127, -0x1.fffffep127,
                              std::numeric_limits<double>::lowest()},
                             number));
}

bool StepReader::isLow(double value) {
  bool excludes = excludesScore(value, options.lowestExcludes);
  step.tookLowest |= excludes && std::isfinite(value);
  return excludes;
}

bool StepReader::readScale(Value number) {
  Operation *op = number.getDefiningOp();
  if (!op || !isa<arith::MulFOp, arith::DivFOp>(op))
    return false;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isa<arith::MulFOp>(op) && isScore(right))
    std::swap(left, right);
  std::optional<double> constant = floatConstant(withoutCasts(right));
  if (!isScore(left) || !constant)
    return false;
  step.factor = isa<arith::DivFOp>(op) ? 1 / *constant : *constant;
  return std::isfinite(step.factor) && step.factor != 0;
}

/// A condition on the score is no mask.
bool StepReader::exclude(Value condition, bool negated) {
  SmallVector<Value> open{condition};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == code->score())
      return false;
    if (Operation *op = value.getDefiningOp(); op && seen.insert(value).second)
      llvm::append_range(open, op->getOperands());
  }
  step.exclusions.push_back({code, condition, negated, {}, {}});
  return true;
}

/// The score where a condition holds, and nothing elsewhere.
bool StepReader::readSelect(arith::SelectOp op) {
  if (isScore(op.getTrueValue()) && isLow(op.getFalseValue()))
    return exclude(op.getCondition(), /*negated=*/false);
  return isScore(op.getFalseValue()) && isLow(op.getTrueValue()) &&
         exclude(op.getCondition(), /*negated=*/true);
}

/// A number that is 0 for pairs that are seen and lowest for the others.
bool StepReader::readExclusion(Value number) {
  number = withoutCasts(number);
  auto isSeen = [&](Value value) {
    std::optional<double> constant = floatConstant(withoutCasts(value));
    return constant ? *constant == 0 : readExclusion(value);
  };
  if (auto select = number.getDefiningOp<arith::SelectOp>()) {
    Value yes = select.getTrueValue(), no = select.getFalseValue();
    bool negated = isLow(yes);
    if (!negated && !isLow(no))
      return false;
    if (!isSeen(negated ? no : yes))
      return false;
    return exclude(select.getCondition(), negated);
  }
  // (1 - seen) * lowest
  if (auto product = number.getDefiningOp<arith::MulFOp>()) {
    Value left = product.getLhs(), right = product.getRhs();
    if (isLow(left))
      std::swap(left, right);
    auto hidden = withoutCasts(left).getDefiningOp<arith::SubFOp>();
    if (!isLow(right) || !hidden ||
        floatConstant(withoutCasts(hidden.getLhs())) != 1.0)
      return false;
    auto seen = withoutCasts(hidden.getRhs()).getDefiningOp<arith::UIToFPOp>();
    return seen && seen.getIn().getType().isInteger(1) &&
           exclude(seen.getIn(), /*negated=*/false);
  }
  return readConstant(number);
}

/// A constant tensor of 0 and lowest.
bool StepReader::readConstant(Value number) {
  auto read = number.getDefiningOp<tensor::ExtractOp>();
  const TensorView *view = code->viewOf(number);
  DenseElementsAttr values;
  if (!read || !view || view->tensor != code->tensorOf(read) ||
      !matchPattern(view->tensor, m_Constant(&values)) ||
      !isa<FloatType>(values.getElementType()))
    return false;
  SmallVector<bool> seen;
  for (APFloat value : values.getValues<APFloat>()) {
    bool inexact;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &inexact);
    bool low = isLow(value.convertToDouble());
    if (!low && !value.isZero())
      return false;
    seen.push_back(!low);
  }
  auto type =
      RankedTensorType::get(values.getType().getShape(),
                            IntegerType::get(code->builder().getContext(), 1));
  step.exclusions.push_back(
      {code, {}, false, DenseElementsAttr::get(type, seen), *view});
  return true;
}

/// What is added to a score: an exclusion, or elements of a tensor.
bool StepReader::readAddend(Value number) {
  number = withoutCasts(number);
  if (auto sum = number.getDefiningOp<arith::AddFOp>())
    return readAddend(sum.getLhs()) && readAddend(sum.getRhs());
  if (floatConstant(number) == 0.0)
    return true;
  size_t before = step.exclusions.size();
  bool tookLowest = step.tookLowest;
  if (readExclusion(number))
    return true;
  step.exclusions.truncate(before);
  step.tookLowest = tookLowest;
  auto read = number.getDefiningOp<tensor::ExtractOp>();
  const TensorView *view = code->viewOf(number);
  if (!read || !view || view->tensor != code->tensorOf(read) ||
      !isa<FloatType>(view->type().getElementType()))
    return false;
  step.biases.push_back(*view);
  return true;
}

bool StepReader::readSum(Value number) {
  auto sum = number.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value left = sum.getLhs(), right = sum.getRhs();
  if (isScore(right))
    std::swap(left, right);
  return isScore(left) && readAddend(right);
}

Step StepReader::read(Value number) {
  number = withoutCasts(number);
  auto select = number.getDefiningOp<arith::SelectOp>();
  if (number == code->score())
    step.kind = StepKind::Neutral;
  else if (readScale(number))
    step.kind = StepKind::Scale;
  else if (select ? readSelect(select) : readSum(number))
    step.kind = StepKind::Sum;
  if (step.kind == StepKind::Function)
    return {};
  return step;
}

//===----------------------------------------------------------------------===//
// All steps
//===----------------------------------------------------------------------===//

namespace {
/// Collects steps in the order of attn.sdpa.
struct Collector {
  ScorePath &path;
  /// Steps up to here are scales, and the product of their factors.
  size_t scales = 0;
  double leading = 1;
  /// Steps from `scales` to here are the score function.
  size_t functions = 0;

  /// Step `i` and all in front of it, but the leading scales, are a function.
  void makeFunction(size_t i) {
    functions = i + 1;
    path.scale = leading;
    path.biases.clear();
    path.exclusions.clear();
    path.tookLowest = false;
  }

  void add(size_t i, Step step) {
    bool only = scales == i && functions == 0;
    switch (step.kind) {
    case StepKind::Neutral:
      scales += only;
      return;
    case StepKind::Scale:
      // Exclusion stays exclusion under a positive factor.
      if (functions || !path.biases.empty() ||
          (!path.exclusions.empty() && step.factor < 0))
        return makeFunction(i);
      path.scale *= step.factor;
      if (only) {
        leading = path.scale;
        ++scales;
      }
      return;
    case StepKind::Sum:
      path.biases.append(step.biases);
      for (Exclusion &exclusion : step.exclusions)
        path.exclusions.push_back(std::move(exclusion));
      path.tookLowest |= step.tookLowest;
      return;
    case StepKind::Function:
      return makeFunction(i);
    }
  }
};
} // namespace

/// The code of the steps from one level to another, and what it gives.
static std::pair<std::shared_ptr<ScalarCode>, Value>
codeBetween(const TensorView &from, const TensorView &to, Location loc,
            ArrayRef<int64_t> sizes, std::string &reason) {
  auto code = std::make_shared<ScalarCode>(loc.getContext(), loc, sizes,
                                           from.type().getElementType());
  code->bindScore(from);
  Value result = code->emit(to);
  if (!result)
    reason = "its scores cannot be read as a function: " + code->reason;
  return {code, result};
}

std::optional<ScorePath> attn::readScorePath(Value scores,
                                             const PathOptions &options,
                                             std::string &reason) {
  TensorView top{scores, {}};
  for (auto [i, size] : llvm::enumerate(options.sizes))
    top.dims.push_back(wholeLoop(i, size));
  std::optional<Levels> levels = PathFinder(reason).find(top);
  if (!levels)
    return std::nullopt;
  ArrayRef<TensorView> views = levels->views;
  ScorePath path{
      levels->product, views.front(), {}, {}, 1, {}, {}, {}, {}, {}, false};
  Collector collector{path};
  Location loc = scores.getLoc();
  for (size_t i = 0; i + 1 < views.size(); ++i) {
    auto [code, result] =
        codeBetween(views[i], views[i + 1], loc, options.sizes, reason);
    if (!result)
      return std::nullopt;
    if (code->comparesResultsOf(levels->product.op)) {
      // Scores that are computed again may be rounded in another way.
      reason = "its scores are compared with what is computed from them";
      return std::nullopt;
    }
    collector.add(i, StepReader(code, options).read(result));
  }
  path.scaled = views[collector.scales];
  path.modified = views[std::max(collector.scales, collector.functions)];
  for (const TensorView &view : views.drop_front(collector.functions + 1))
    path.sums.push_back(view.tensor.getDefiningOp());
  if (collector.functions) {
    std::tie(path.function, path.functionResult) =
        codeBetween(views[collector.scales], views[collector.functions], loc,
                    options.sizes, reason);
    if (!path.functionResult)
      return std::nullopt;
  }
  return path;
}
