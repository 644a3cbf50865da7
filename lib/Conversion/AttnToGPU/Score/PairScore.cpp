// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PairScore.h"
#include "ApplyFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

static Value real(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

/// Towards zero, a product of finite numbers is finite.
Value gpucode::inLog2(OpBuilder &b, Location loc, Value natural) {
  return LLVM::CallIntrinsicOp::create(
             b, loc, b.getF32Type(), b.getStringAttr("llvm.nvvm.mul.rz.f"),
             {natural, real(b, loc, std::log2(std::exp(1.0)))})
      .getResult(0);
}

/// A bias of -inf excludes, whatever the score is.
Value PairScore::addBias(OpBuilder &b, Value score, Value bias) {
  Value infinity = real(b, loc, -std::numeric_limits<float>::infinity());
  Value excludes =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, bias, infinity);
  Value sum = arith::AddFOp::create(b, loc, score, bias);
  return arith::SelectOp::create(b, loc, excludes, infinity, sum);
}

Value PairScore::of(OpBuilder &b, Value product, const Pair &pair) {
  Value score = product;
  auto scaled = [&](double factor) -> Value {
    return arith::MulFOp::create(b, loc, product, real(b, loc, factor));
  };
  if (pairs.function)
    score = inLog2(b, loc, applyFunction(b, pairs, scaled(scale), pair));
  else
    score = scaled(scale * std::log2(std::exp(1.0)));
  if (pairs.bias)
    score =
        addBias(b, score, inLog2(b, loc, loadOfPair(b, loc, pairs.bias, pair)));
  return score;
}

Value PairScore::atStage(OpBuilder &b, Value product, const Pair &pair,
                         ScoresStage stage) {
  Value score = product;
  if (stage >= ScoresStage::Scaled)
    score = arith::MulFOp::create(b, loc, score, real(b, loc, scale));
  if (stage >= ScoresStage::Modified && pairs.function)
    score = applyFunction(b, pairs, score, pair);
  if (stage >= ScoresStage::Biased && pairs.bias)
    score = addBias(b, score, loadOfPair(b, loc, pairs.bias, pair));
  return score;
}
