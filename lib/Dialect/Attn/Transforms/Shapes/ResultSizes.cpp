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
  SmallVector<SizeSymbol> symbols;
  SmallVector<Operation *> stated;
  /// Ops that are looked at: a size that nests deeper, or doubles with each
  /// op, has no text that one can read.
  unsigned steps = 64;

  AffineExpr ofClass(MLIRContext *context, Dim dim);
  AffineExpr of(MLIRContext *context, OpFoldResult size);
  AffineExpr ofOp(Operation *op);
  AffineExpr quotient(Operation *op, bool isFloor);
  AffineExpr add(AffineExpr left, AffineExpr right);
  AffineExpr extreme(SizeSymbolKind kind, AffineExpr left, AffineExpr right);
  const SizeSymbol *asExtreme(AffineExpr expr);
  bool isNeverNegative(AffineExpr expr);
  bool isNeverLess(AffineExpr expr, AffineExpr than);
  bool isShort(AffineExpr expr);
};

/// Expressions share parts that a text repeats; a remainder repeats what is
/// divided.
bool ResultSizes::Search::isShort(AffineExpr expr) {
  int64_t parts = 0;
  std::function<bool(AffineExpr)> count = [&](AffineExpr part) {
    auto visit = [&](AffineExpr e) {
      const SizeSymbol *symbol = asExtreme(e);
      bool fits = ++parts <= maxSizeParts &&
                  (!symbol || (count(symbol->left) && count(symbol->right))) &&
                  (e.getKind() != AffineExprKind::Mod ||
                   count(cast<AffineBinaryOpExpr>(e).getLHS()));
      return fits ? WalkResult::advance() : WalkResult::interrupt();
    };
    return !part.walk(visit).wasInterrupted();
  };
  return count(expr);
}

/// `expr` as a maximum or a minimum; null if it is none.
const SizeSymbol *ResultSizes::Search::asExtreme(AffineExpr expr) {
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  const SizeSymbol *known = symbol ? &symbols[symbol.getPosition()] : nullptr;
  return known && known->kind != SizeSymbolKind::Name ? known : nullptr;
}

/// Whether no sizes of arguments make it negative.
bool ResultSizes::Search::isNeverNegative(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  if (const SizeSymbol *symbol = asExtreme(expr)) {
    bool left = isNeverNegative(symbol->left),
         right = isNeverNegative(symbol->right);
    return symbol->kind == SizeSymbolKind::Max ? left || right : left && right;
  }
  auto two = dyn_cast<AffineBinaryOpExpr>(expr);
  return !two ||
         (isNeverNegative(two.getLHS()) && isNeverNegative(two.getRHS()));
}

bool ResultSizes::Search::isNeverLess(AffineExpr expr, AffineExpr than) {
  if (const SizeSymbol *symbol = asExtreme(than)) {
    bool left = isNeverLess(expr, symbol->left),
         right = isNeverLess(expr, symbol->right);
    return symbol->kind == SizeSymbolKind::Max ? left && right : left || right;
  }
  return isNeverNegative(
      simplifyAffineExpr(expr - than, /*numDims=*/0, symbols.size()));
}

/// A sum with a maximum is a maximum of sums, and so on: s - min(s, 4) is
/// max(0, s - 4).
AffineExpr ResultSizes::Search::add(AffineExpr left, AffineExpr right) {
  auto into = [&](AffineExpr expr, AffineExpr other) -> AffineExpr {
    AffineExpr part = expr;
    int64_t factor = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(expr);
        product && product.getKind() == AffineExprKind::Mul &&
        product.getRHS() == -1) {
      part = product.getLHS();
      factor = -1;
    }
    const SizeSymbol *found = asExtreme(part);
    if (!found)
      return {};
    SizeSymbol symbol = *found; // others come behind it
    bool isMax = (symbol.kind == SizeSymbolKind::Max) == (factor > 0);
    return extreme(isMax ? SizeSymbolKind::Max : SizeSymbolKind::Min,
                   add(other, symbol.left * factor),
                   add(other, symbol.right * factor));
  };
  if (AffineExpr found = into(right, left))
    return found;
  if (AffineExpr found = into(left, right))
    return found;
  return simplifyAffineExpr(left + right, /*numDims=*/0, symbols.size());
}

AffineExpr ResultSizes::Search::extreme(SizeSymbolKind kind, AffineExpr left,
                                        AffineExpr right) {
  bool isMax = kind == SizeSymbolKind::Max;
  if (isNeverLess(left, right))
    return isMax ? left : right;
  if (isNeverLess(right, left))
    return isMax ? right : left;
  if (isa<AffineConstantExpr>(left)) // max(s-4,0)
    std::swap(left, right);
  return symbolExpr({kind, {}, left, right}, left.getContext(), symbols);
}

/// A quotient or a remainder; `isFloor`: of numbers below 0, too.
AffineExpr ResultSizes::Search::quotient(Operation *op, bool isFloor) {
  std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  AffineExpr number = divisor && *divisor > 0
                          ? of(op->getContext(), op->getOperand(0))
                          : AffineExpr();
  if (!number || !(isFloor || isNeverNegative(number)))
    return {};
  bool isRest = isa<arith::RemSIOp, arith::RemUIOp>(op);
  return isRest ? number % *divisor : number.floorDiv(*divisor);
}

AffineExpr ResultSizes::Search::ofOp(Operation *op) {
  MLIRContext *context = op->getContext();
  auto both = [&](auto combine) {
    AffineExpr left = of(context, op->getOperand(0)),
               right = left ? of(context, op->getOperand(1)) : AffineExpr();
    return right ? combine(left, right) : AffineExpr();
  };
  auto choose = [&](SizeSymbolKind kind) {
    return both([&](AffineExpr left, AffineExpr right) {
      return extreme(kind, left, right);
    });
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case([&](tensor::DimOp size) {
        std::optional<int64_t> dim = size.getConstantIndex();
        return dim && isa<RankedTensorType>(size.getSource().getType())
                   ? ofClass(context, {size.getSource(), *dim})
                   : AffineExpr();
      })
      .Case([&](arith::AddIOp) {
        return both([&](AffineExpr a, AffineExpr b) { return add(a, b); });
      })
      .Case([&](arith::SubIOp) {
        return both([&](AffineExpr a, AffineExpr b) { return add(a, b * -1); });
      })
      .Case([&](arith::MulIOp) { return both(std::multiplies<AffineExpr>()); })
      .Case([&](arith::MaxSIOp) { return choose(SizeSymbolKind::Max); })
      .Case([&](arith::MinSIOp) { return choose(SizeSymbolKind::Min); })
      .Case([&](arith::FloorDivSIOp) { return quotient(op, true); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
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
  if (auto name = names.find(size); name != names.end())
    return symbolExpr({SizeSymbolKind::Name, name->second, {}, {}}, context,
                      symbols);
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
  return sizeText(found, search.symbols);
}
