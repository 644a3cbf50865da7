// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers are divided by what a processor can divide them by.
//
// Before:  %q = arith.divsi %a, %b : tensor<?xi32>
// After:   // %bad: %b is 0, or %a the least integer and %b -1
//          %by = arith.select %bad, %ones, %b
//          %q = arith.divsi %a, %by
//
// A processor ends the program there. An integer divided by 0 stays as it is
// and leaves 0, as does the least one by -1, whose quotient no integer is.
// Nothing is asked of divisors that are constants other than 0 and -1.
//
// Before: any. After: the same, and integer divisions are defined.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_GUARDDIVISIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using Predicate = arith::CmpIPredicate;

static bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
             arith::CeilDivSIOp>(op);
}

static bool isDivision(Operation *op) {
  return isSigned(op) ||
         isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// Whether nothing has to be asked of a divisor.
static bool isHarmless(Value divisor, bool isSigned) {
  auto isGood = [&](const APInt &by) {
    return !by.isZero() && !(isSigned && by.isAllOnes());
  };
  Attribute known;
  if (!matchPattern(divisor, m_Constant(&known)))
    return false;
  if (auto one = dyn_cast<IntegerAttr>(known))
    return isGood(one.getValue());
  auto many = dyn_cast<DenseIntElementsAttr>(known);
  return many && llvm::all_of(many.getValues<APInt>(), isGood);
}

/// `number` in each element of what has the type of `like`.
static Value numberLike(OpBuilder &b, Location loc, Value like, APInt number) {
  Type type = like.getType(), element = getElementTypeOrSelf(type);
  TypedAttr one = b.getIntegerAttr(element, number);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return arith::ConstantOp::create(b, loc, one);
  if (tensor.hasStaticShape())
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(tensor, one));
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
    if (tensor.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(b, loc, like, dim));
  return tensor::SplatOp::create(
      b, loc, arith::ConstantOp::create(b, loc, one).getResult(), tensor,
      sizes);
}

static void guard(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value a = op->getOperand(0), by = op->getOperand(1);
  Type element = getElementTypeOrSelf(a.getType());
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto is = [&](Value x, APInt number) -> Value {
    return arith::CmpIOp::create(b, loc, Predicate::eq, x,
                                 numberLike(b, loc, x, number));
  };
  Value isBad = is(by, APInt(bits, 0));
  if (isSigned(op)) {
    Value overflows =
        arith::AndIOp::create(b, loc, is(a, APInt::getSignedMinValue(bits)),
                              is(by, APInt::getAllOnes(bits)));
    isBad = arith::OrIOp::create(b, loc, isBad, overflows);
  }
  op->setOperand(
      1, arith::SelectOp::create(b, loc, isBad,
                                 numberLike(b, loc, by, APInt(bits, 1)), by));
}

namespace {
struct GuardDivisions : attn::impl::GuardDivisionsBase<GuardDivisions> {
  void runOnOperation() override {
    SmallVector<Operation *> open;
    getOperation()->walk([&](Operation *op) {
      if (isDivision(op) && !isHarmless(op->getOperand(1), isSigned(op)))
        open.push_back(op);
    });
    llvm::for_each(open, guard);
  }
};
} // namespace
