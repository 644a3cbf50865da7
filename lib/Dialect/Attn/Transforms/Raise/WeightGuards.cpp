// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WeightGuards.h"
#include "FloatConstant.h"
#include "ScorePath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <limits>

using namespace mlir;
using namespace attn;

Value attn::nanGuardOf(Value weights, Operation *user) {
  auto isNaN = dyn_cast<arith::CmpFOp>(user);
  if (!isNaN || isNaN.getLhs() != isNaN.getRhs() || isNaN.getLhs() != weights ||
      !isNaN->hasOneUse() ||
      (isNaN.getPredicate() != arith::CmpFPredicate::UNO &&
       isNaN.getPredicate() != arith::CmpFPredicate::UNE))
    return {};
  auto select = dyn_cast<arith::SelectOp>(*isNaN->user_begin());
  if (!select || select.getCondition() != isNaN.getResult() ||
      select.getFalseValue() != weights ||
      floatConstant(select.getTrueValue()) != 0.0)
    return {};
  return select.getResult();
}

/// All loops of a tensor, in order.
static TensorView wholeView(Value tensor) {
  TensorView view{tensor, {}};
  auto type = cast<RankedTensorType>(tensor.getType());
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    view.dims.push_back(wholeLoop(i, size));
  return view;
}

Value attn::rootOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op))
    return rootOf(op->getOperand(0));
  TensorView view = wholeView(tensor);
  while (std::optional<TensorView> next = peel(view))
    view = *next;
  return view.tensor == tensor ? tensor : rootOf(view.tensor);
}

Value attn::emptyRowsOf(Value condition) {
  auto compare = rootOf(condition).getDefiningOp<arith::CmpFOp>();
  if (!compare || !isa<RankedTensorType>(compare.getLhs().getType()) ||
      compare.getPredicate() != arith::CmpFPredicate::OEQ ||
      floatConstant(compare.getRhs()) !=
          -std::numeric_limits<double>::infinity())
    return {};
  auto reduce = rootOf(compare.getLhs()).getDefiningOp<linalg::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1)
    return {};
  Value masks = reduce.getInputs()[0];
  int64_t last = cast<RankedTensorType>(masks.getType()).getRank() - 1;
  Block &body = reduce.getCombiner().front();
  bool isMaximum = llvm::hasSingleElement(body.without_terminator()) &&
                   isa<arith::MaximumFOp, arith::MaxNumFOp>(body.front());
  return isMaximum && reduce.getDimensions() == ArrayRef(last) ? rootOf(masks)
                                                               : Value();
}

namespace {
/// What a select does to the one of its values that it keeps.
struct Replacement {
  Value condition;
  bool where; ///< the condition is so
  std::optional<double> by;
};
} // namespace

static std::optional<Replacement> replacementIn(arith::SelectOp op,
                                                Value kept) {
  if (op.getFalseValue() == kept)
    return Replacement{op.getCondition(), true,
                       floatConstant(op.getTrueValue())};
  if (op.getTrueValue() == kept)
    return Replacement{op.getCondition(), false,
                       floatConstant(op.getFalseValue())};
  return std::nullopt;
}

Value attn::maskGuardOf(const TensorView &weights, Operation *user,
                        Value scores, bool lowestExcludes) {
  auto guard = dyn_cast<arith::SelectOp>(user);
  auto mask = scores.getDefiningOp<arith::SelectOp>();
  if (!guard || !mask || guard.getType() != mask.getType() ||
      !isa<RankedTensorType>(guard.getCondition().getType()) ||
      !isa<RankedTensorType>(mask.getCondition().getType()) ||
      weights.dims != wholeView(scores).dims)
    return {};
  auto zeroed = replacementIn(guard, weights.tensor);
  Value score = floatConstant(mask.getTrueValue()) ? mask.getFalseValue()
                                                   : mask.getTrueValue();
  auto excluded = replacementIn(mask, score);
  if (!zeroed || !excluded || zeroed->by != 0.0 || !excluded->by ||
      !excludesScore(*excluded->by, lowestExcludes) ||
      zeroed->where != excluded->where)
    return {};
  TensorView one = wholeView(zeroed->condition),
             other = wholeView(excluded->condition);
  for (TensorView *view : {&one, &other})
    while (std::optional<TensorView> next = peel(*view))
      *view = *next;
  bool alike = one.tensor == other.tensor && one.dims == other.dims;
  return alike ? guard.getResult() : Value();
}
