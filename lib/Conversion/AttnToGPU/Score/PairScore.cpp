// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PairScore.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

static Value real(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

Value gpucode::inLog2(OpBuilder &b, Location loc, Value natural) {
  using Predicate = arith::CmpFPredicate;
  Value scaled = arith::MulFOp::create(b, loc, natural,
                                       real(b, loc, std::log2(std::exp(1.0))));
  Value lowest = real(b, loc, std::numeric_limits<float>::lowest());
  Value infinity = real(b, loc, -std::numeric_limits<float>::infinity());
  Value below = arith::CmpFOp::create(b, loc, Predicate::OLT, scaled, lowest);
  scaled = arith::SelectOp::create(b, loc, below, lowest, scaled);
  Value excludes =
      arith::CmpFOp::create(b, loc, Predicate::OEQ, natural, infinity);
  return arith::SelectOp::create(b, loc, excludes, infinity, scaled);
}

/// Elements of captured tensors are those at the nearest places inside.
Value PairScore::applyFunction(OpBuilder &b, Value score, const Pair &pair) {
  Block &block = pairs.function->front();
  IRMapping mapping;
  mapping.map(block.getArgument(Score), score);
  mapping.map(block.getArgument(Query), pair.query);
  mapping.map(block.getArgument(Key), pair.key);
  mapping.map(block.getArgument(Batch), pairs.captures[0]);
  Value head = pairs.captures[1];
  if (pair.head)
    head = arith::AddIOp::create(b, loc, head, pair.head);
  mapping.map(block.getArgument(Head), head);
  for (auto [argument, capture] :
       llvm::zip_equal(block.getArguments().drop_front(FirstCapture),
                       pairs.captures.drop_front(2)))
    mapping.map(argument, capture);
  for (Operation &inner : block.without_terminator()) {
    Operation *copy = b.clone(inner, mapping);
    if (auto exp2 = dyn_cast<math::Exp2Op>(copy))
      exp2.setFastmath(arith::FastMathFlags::afn);
    if (auto load = dyn_cast<memref::LoadOp>(copy)) {
      b.setInsertionPoint(load);
      for (auto [dim, index] : llvm::enumerate(load.getIndicesMutable()))
        index.set(clampIndex(b, loc, load.getMemRef(),
                             static_cast<int64_t>(dim), index.get()));
      b.setInsertionPointAfter(load);
    }
  }
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
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
    score = inLog2(b, loc, applyFunction(b, scaled(scale), pair));
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
    score = applyFunction(b, score, pair);
  if (stage >= ScoresStage::Biased && pairs.bias)
    score = addBias(b, score, loadOfPair(b, loc, pairs.bias, pair));
  return score;
}
