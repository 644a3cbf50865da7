// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ResultSizes.h"
#include "attn/Dialect/Attn/IR/SizeText.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

bool attn::statesSizes(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::EmptyOp, tensor::SplatOp,
             tensor::GenerateOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ConcatOp, tensor::PadOp>(op);
}

ResultSizes::ResultSizes(func::FuncOp function, SizeClasses &classes)
    : classes(classes) {
  for (Operation &op : function.front())
    if (statesSizes(&op))
      for (int64_t i = 0;
           i < cast<RankedTensorType>(op.getResult(0).getType()).getRank(); ++i)
        if (Dim dim{op.getResult(0), i}; classes.sizeOf(dim) < 0)
          makers[classes.find(dim)].push_back(dim);
}

bool attn::isNeverNegative(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  auto two = dyn_cast<AffineBinaryOpExpr>(expr);
  return !two ||
         (isNeverNegative(two.getLHS()) && isNeverNegative(two.getRHS()));
}

/// Expressions share parts that a text repeats.
static bool isShort(AffineExpr expr) {
  size_t parts = 0;
  return !expr.walk([&](AffineExpr) {
                return ++parts > maxSizeText ? WalkResult::interrupt()
                                             : WalkResult::advance();
              })
              .wasInterrupted();
}

/// One question. Ops that state a size are gone behind it.
struct ResultSizes::Search : OpBuilder::Listener {
  Search(ResultSizes &sizes, const llvm::DenseMap<unsigned, std::string> &names)
      : sizes(sizes), names(names) {}
  ~Search() override {
    for (Operation *op : llvm::reverse(stated))
      op->erase();
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    stated.push_back(op);
  }

  ResultSizes &sizes;
  const llvm::DenseMap<unsigned, std::string> &names;
  SmallVector<unsigned> symbols; ///< classes
  SmallVector<Operation *> stated;
  /// Ops that are looked at: a size that nests deeper, or doubles with each
  /// op, has no text that one can read.
  unsigned steps = 64;

  AffineExpr ofClass(MLIRContext *context, Dim dim);
  AffineExpr of(MLIRContext *context, OpFoldResult size);
  AffineExpr ofOp(Operation *op);
  AffineExpr quotient(Operation *op, bool isFloor);
};

/// `isFloor`: of numbers below 0, too.
AffineExpr ResultSizes::Search::quotient(Operation *op, bool isFloor) {
  std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  AffineExpr number = divisor && *divisor > 0
                          ? of(op->getContext(), op->getOperand(0))
                          : AffineExpr();
  return number && (isFloor || isNeverNegative(number))
             ? number.floorDiv(*divisor)
             : AffineExpr();
}

AffineExpr ResultSizes::Search::ofOp(Operation *op) {
  MLIRContext *context = op->getContext();
  auto both = [&](auto combine) {
    AffineExpr left = of(context, op->getOperand(0)),
               right = left ? of(context, op->getOperand(1)) : AffineExpr();
    return right ? combine(left, right) : AffineExpr();
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case([&](tensor::DimOp size) {
        std::optional<int64_t> dim = size.getConstantIndex();
        return dim && isa<RankedTensorType>(size.getSource().getType())
                   ? ofClass(context, {size.getSource(), *dim})
                   : AffineExpr();
      })
      .Case([&](arith::AddIOp) { return both(std::plus<AffineExpr>()); })
      .Case([&](arith::SubIOp) { return both(std::minus<AffineExpr>()); })
      .Case([&](arith::MulIOp) { return both(std::multiplies<AffineExpr>()); })
      .Case([&](arith::FloorDivSIOp) { return quotient(op, true); })
      .Case<arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return quotient(op, false); })
      .Case([&](affine::AffineApplyOp apply) {
        SmallVector<AffineExpr> operands;
        for (Value operand : apply.getMapOperands())
          if (!operands.emplace_back(of(context, operand)))
            return AffineExpr();
        unsigned dims = apply.getAffineMap().getNumDims();
        return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
            ArrayRef(operands).take_front(dims),
            ArrayRef(operands).drop_front(dims));
      })
      .Default(AffineExpr());
}

AffineExpr ResultSizes::Search::of(MLIRContext *context, OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return getAffineConstantExpr(*known, context);
  Operation *op = cast<Value>(size).getDefiningOp();
  AffineExpr found = op && steps && steps-- ? ofOp(op) : AffineExpr();
  return found && isShort(found) ? found : AffineExpr();
}

AffineExpr ResultSizes::Search::ofClass(MLIRContext *context, Dim dim) {
  if (int64_t known = sizes.classes.sizeOf(dim); known >= 0)
    return getAffineConstantExpr(known, context);
  unsigned size = sizes.classes.find(dim);
  if (names.contains(size)) {
    const unsigned *found = llvm::find(symbols, size);
    size_t place = found - symbols.begin();
    if (place == symbols.size())
      symbols.push_back(size);
    return getAffineSymbolExpr(place, context);
  }
  for (Dim made : sizes.makers.lookup(size)) {
    Operation *op = made.first.getDefiningOp();
    ReifiedRankedShapedTypeDims shapes;
    OpBuilder b(op, this);
    if (!steps || !steps-- || failed(reifyResultShapes(b, op, shapes)))
      return {};
    if (AffineExpr found = of(context, shapes.front()[made.second]))
      return found;
  }
  return {};
}

std::string
ResultSizes::find(unsigned size,
                  const llvm::DenseMap<unsigned, std::string> &names) {
  if (auto known = names.find(size); known != names.end())
    return known->second;
  auto made = makers.find(size);
  if (made == makers.end())
    return "";
  Search search{*this, names};
  Dim first = made->second.front();
  AffineExpr found = search.ofClass(first.first.getContext(), first);
  if (!found)
    return "";
  SmallVector<std::string> called;
  for (unsigned symbol : search.symbols)
    called.push_back(names.lookup(symbol));
  std::string text = sizeText(found, called);
  return text.size() <= maxSizeText ? text : "";
}
