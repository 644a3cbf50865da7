// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-normalize-constants: a tensor compared with itself is a constant, of the
// tensor's own sizes.
//
// Before:  %0 = arith.cmpi eq, %x, %x : tensor<?xi64>
// After:   %true = arith.constant true
//          %n = tensor.dim %x, %c0 : tensor<?xi64>
//          %0 = tensor.splat %true[%n] : tensor<?xi1>
//
// MLIR folds this, and arith.xori of a tensor with itself, into an
// arith.constant of a type whose sizes are not known (seen in 22.1), of which
// no pass could tell them any more.
//
// Before: any. After: no arith.cmpi and arith.xori has the same tensor of
// unknown sizes on both sides.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_NORMALIZECONSTANTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// What every element of the result is, if the two operands are one tensor of
/// unknown sizes.
static std::optional<bool> valueOf(Operation *op) {
  if (!isa<arith::CmpIOp, arith::XOrIOp>(op) ||
      op->getOperand(0) != op->getOperand(1))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.hasStaticShape())
    return std::nullopt;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && arith::applyCmpPredicate(compare.getPredicate(),
                                             APInt(1, 0), APInt(1, 0));
}

namespace {
struct NormalizeConstants
    : attn::impl::NormalizeConstantsBase<NormalizeConstants> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      std::optional<bool> value = valueOf(op);
      if (!value)
        return;
      rewriter.setInsertionPoint(op);
      Location loc = op->getLoc();
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      Value element = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getIntegerAttr(type.getElementType(), *value));
      SmallVector<Value> sizes;
      for (auto [axis, size] : llvm::enumerate(type.getShape()))
        if (ShapedType::isDynamic(size))
          sizes.push_back(
              tensor::DimOp::create(rewriter, loc, op->getOperand(0), axis));
      rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, element, type.getShape(),
                                                   sizes);
    });
  }
};
} // namespace
