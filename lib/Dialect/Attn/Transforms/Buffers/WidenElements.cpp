// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-widen-elements: numbers of 16 bits are computed with in f32.
//
// Before:  %z = linalg.exp ins(%x : tensor<4xf16>) ..
// After:   %z = linalg.generic .. ins(%x : tensor<4xf16>) {
//            %a = arith.extf %in : f16 to f32
//            %b = math.exp %a : f32
//            %c = arith.truncf %b : f32 to f16
//            linalg.yield %c : f16
//          }
//
// Few processors have arithmetic of 16 bits, and where they have not, LLVM
// calls a library. Each op rounds its result, as it says. Conversions between
// 16 bits and f64 go through f32: into f64 without a loss, and from f64 by an
// f32 that is rounded to odd, so that the second rounding is the only one (S.
// Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
//
// Before: scalar arithmetic; elementwise ops on tensors are linalg ops. After:
// arith and math ops, outside of the regions of attn ops, read and give f16 and
// bf16 only in conversions from and to f32 (and where they move numbers).
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_WIDENELEMENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// Whether `op` computes with, or converts, numbers of 16 bits.
static bool computesNarrow(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op) ||
      op->getParentOfType<attn::SdpaOp>())
    return false;
  if (isa<math::CopySignOp>(op))
    return op->getResult(0).getType().isFloat();
  bool narrow = llvm::any_of(op->getOperandTypes(), isNarrow) ||
                llvm::any_of(op->getResultTypes(), isNarrow);
  if (isa<arith::ExtFOp>(op))
    return narrow && !op->getResult(0).getType().isF32();
  if (isa<arith::TruncFOp>(op))
    return narrow && !op->getOperand(0).getType().isF32();
  return narrow;
}

/// Of the two f32 around an f64 that is none, the one whose last bit is 1.
static Value roundToOdd(OpBuilder &b, Location loc, Value x) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto integer = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(i32, value));
  };
  Value nearest = arith::TruncFOp::create(b, loc, f32, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, loc, i32, nearest);
  Value inexact =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value last = arith::AndIOp::create(b, loc, bits, integer(1));
  Value even =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, last, integer(0));
  // The magnitude of bits grows with that of numbers.
  Value isLarger = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, loc, back),
                                         math::AbsFOp::create(b, loc, x));
  Value step =
      arith::SelectOp::create(b, loc, isLarger, integer(-1), integer(1));
  Value other = arith::AddIOp::create(b, loc, bits, step);
  Value moves = arith::AndIOp::create(b, loc, inexact, even);
  return arith::BitcastOp::create(
      b, loc, f32, arith::SelectOp::create(b, loc, moves, other, bits));
}

/// One number of the two that have this magnitude. (LLVM's own code for bf16
/// gives the magnitude, also where it finds the bits put together.)
static Value copySign(OpBuilder &b, math::CopySignOp op) {
  Location loc = op.getLoc();
  Type integer = b.getIntegerType(op.getType().getIntOrFloatBitWidth());
  APInt mask = APInt::getSignMask(op.getType().getIntOrFloatBitWidth());
  auto bitsOf = [&](Value number) -> Value {
    return arith::BitcastOp::create(b, loc, integer, number);
  };
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value));
  };
  Value bits = bitsOf(op.getLhs());
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            bitsOf(op.getRhs()), constant(mask ^ mask));
  Value result = arith::SelectOp::create(
      b, loc, isNegative, arith::OrIOp::create(b, loc, bits, constant(mask)),
      arith::AndIOp::create(b, loc, bits, constant(~mask)));
  return arith::BitcastOp::create(b, loc, op.getType(), result);
}

/// `value` in a type that is computed with.
static Value widened(OpBuilder &b, Location loc, Value value) {
  if (!isNarrow(value.getType()))
    return value;
  return arith::ExtFOp::create(b, loc, b.getF32Type(), value);
}

static Value narrowed(OpBuilder &b, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  if (value.getType().isF64())
    value = roundToOdd(b, loc, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

static void widen(IRRewriter &rewriter, Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  if (isa<arith::ExtFOp>(op)) { // to f64, or between types of 16 bits
    Value wide = widened(rewriter, loc, op->getOperand(0));
    Type type = op->getResult(0).getType();
    return rewriter.replaceOp(
        op, arith::ExtFOp::create(rewriter, loc, type, wide).getResult());
  }
  if (isa<arith::TruncFOp>(op))
    return rewriter.replaceOp(
        op,
        narrowed(rewriter, loc, op->getResult(0).getType(), op->getOperand(0)));
  if (auto copied = dyn_cast<math::CopySignOp>(op))
    return rewriter.replaceOp(op, copySign(rewriter, copied));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(widened(rewriter, loc, operand));
  // Numbers that f32 has no room for are rounded once.
  bool isWideInteger = isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
                       op->getOperand(0).getType().getIntOrFloatBitWidth() > 16;
  Type wide =
      isWideInteger ? Type(rewriter.getF64Type()) : Type(rewriter.getF32Type());
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(isNarrow(type) ? wide : type);
  Operation *computed = rewriter.create(loc, op->getName().getIdentifier(),
                                        operands, types, op->getAttrs());
  SmallVector<Value> results;
  for (auto [result, type] :
       llvm::zip_equal(computed->getResults(), op->getResultTypes()))
    results.push_back(isNarrow(type) ? narrowed(rewriter, loc, type, result)
                                     : Value(result));
  rewriter.replaceOp(op, results);
}

namespace {
struct WidenElements : attn::impl::WidenElementsBase<WidenElements> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // The body of an op with a name of its own cannot change.
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) &&
          llvm::any_of(op.getBlock()->without_terminator(),
                       [](Operation &inner) { return computesNarrow(&inner); }))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op->emitOpError("cannot be written as linalg.generic");
        return signalPassFailure();
      }
    }
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (computesNarrow(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      widen(rewriter, op);
  }
};
} // namespace
