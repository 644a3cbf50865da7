// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreSteps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;
using namespace attn;

bool attn::isScoreStep(Operation *op) {
  return isa_and_nonnull<SoftcapOp, ScoreModOp, AlibiOp>(op);
}

bool attn::sameScoreStep(Operation *first, Operation *second) {
  return first->getName() == second->getName() &&
         first->getAttrDictionary() == second->getAttrDictionary() &&
         llvm::equal(llvm::drop_begin(first->getOperands()),
                     llvm::drop_begin(second->getOperands())) &&
         llvm::all_of_zip(first->getRegions(), second->getRegions(),
                          [](Region &a, Region &b) {
                            return OperationEquivalence::isRegionEquivalentTo(
                                &a, &b, OperationEquivalence::IgnoreLocations);
                          });
}

SmallVector<Value> attn::operandsOfScoreSteps(ArrayRef<Operation *> steps) {
  SmallVector<Value> operands;
  for (Operation *step : steps)
    llvm::append_range(operands, llvm::drop_begin(step->getOperands()));
  return operands;
}

/// The slopes of the paper: powers of 2^(-8/n) for the n heads up to the
/// largest power of two, then every second one of twice as many.
static Value paperSlopes(OpBuilder &builder, AlibiOp op) {
  auto scores = op.getScores().getType();
  int64_t heads = scores.getDimSize(scores.getRank() - 3), n = 1;
  while (2 * n <= heads)
    n *= 2;
  auto type = RankedTensorType::get({heads}, scores.getElementType());
  SmallVector<Attribute> slopes;
  for (int64_t h = 0; h < heads; ++h) {
    double step = h < n ? 2.0 * (h + 1) : 2.0 * (h - n) + 1;
    slopes.push_back(
        builder.getFloatAttr(type.getElementType(), std::exp2(-4 * step / n)));
  }
  return arith::ConstantOp::create(builder, op.getLoc(),
                                   DenseElementsAttr::get(type, slopes));
}

SmallVector<Value> attn::captureScoreSteps(OpBuilder &builder,
                                           ArrayRef<Operation *> steps,
                                           Value query, Value key) {
  SmallVector<Value> captures;
  int64_t rank = cast<RankedTensorType>(query.getType()).getRank();
  for (Operation *step : steps) {
    if (auto function = dyn_cast<ScoreModOp>(step))
      llvm::append_range(captures, function.getCaptures());
    auto alibi = dyn_cast<AlibiOp>(step);
    if (!alibi)
      continue;
    captures.push_back(alibi.getSlopes() ? Value(alibi.getSlopes())
                                         : paperSlopes(builder, alibi));
    if (alibi.getOffset())
      captures.push_back(alibi.getOffset());
    if (alibi.getAlignment() == Alignment::BottomRight) {
      Location loc = alibi.getLoc();
      Value keys = tensor::DimOp::create(builder, loc, key, rank - 2);
      Value queries = tensor::DimOp::create(builder, loc, query, rank - 2);
      captures.push_back(arith::SubIOp::create(builder, loc, keys, queries));
    }
  }
  return captures;
}

namespace {
/// Appends steps to a function, whose arguments for captures are used up in
/// order.
struct FunctionBuilder {
  OpBuilder builder;
  Block *block;
  int64_t scoresRank;
  unsigned nextCapture = FirstCapture;

  Value capture() { return block->getArgument(nextCapture++); }

  Value constant(Location loc, Type type, double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }

  Value append(SoftcapOp op, Value score) {
    Location loc = op.getLoc();
    double cap = op.getCap().convertToDouble();
    Value inverse = constant(loc, score.getType(), 1 / cap);
    Value scaled = arith::MulFOp::create(builder, loc, score, inverse);
    Value bent = math::TanhOp::create(builder, loc, scaled);
    return arith::MulFOp::create(builder, loc, bent,
                                 constant(loc, score.getType(), cap));
  }

  Value append(ScoreModOp op, Value score) {
    Block &body = op.getScoreFunction().front();
    IRMapping mapping;
    mapping.map(body.getArgument(Score), score);
    for (int i = Batch; i <= Key; ++i)
      mapping.map(body.getArgument(i), block->getArgument(i));
    for (BlockArgument argument : body.getArguments().drop_front(FirstCapture))
      mapping.map(argument, capture());
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  Value append(AlibiOp op, Value score) {
    Location loc = op.getLoc();
    Type index = builder.getIndexType();
    Value head = block->getArgument(Head);
    Value slope = tensor::ExtractOp::create(builder, loc, capture(), head);
    Value distance = arith::SubIOp::create(
        builder, loc, block->getArgument(Key), block->getArgument(Query));
    Value start;
    if (op.getOffset()) {
      auto type = op.getOffset().getType();
      SmallVector<Value> at;
      if (type.getRank() == 1 && type.getDimSize(0) == 1)
        at.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
      else if (type.getRank() == 1)
        at.push_back(block->getArgument(scoresRank == 4 ? Batch : Head));
      start = tensor::ExtractOp::create(builder, loc, capture(), at);
      start = arith::IndexCastOp::create(builder, loc, index, start);
    } else if (op.getAlignment() == Alignment::BottomRight) {
      start = capture();
    }
    if (start)
      distance = arith::SubIOp::create(builder, loc, distance, start);
    distance = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          distance);
    Value steps =
        arith::SIToFPOp::create(builder, loc, score.getType(), distance);
    Value bias = arith::MulFOp::create(builder, loc, slope, steps);
    return arith::AddFOp::create(builder, loc, score, bias);
  }
};
} // namespace

void attn::buildScoreFunction(SdpaOp sdpa, ArrayRef<Operation *> steps) {
  if (steps.empty())
    return;
  auto scores = cast<RankedTensorType>(steps.front()->getResult(0).getType());
  MLIRContext *context = sdpa.getContext();
  Type index = IndexType::get(context);
  SmallVector<Type> types{scores.getElementType(), index, index, index, index};
  llvm::append_range(types, sdpa.getCaptures().getTypes());
  Block &block = sdpa.getScoreFunction().emplaceBlock();
  block.addArguments(types, SmallVector<Location>(types.size(), sdpa.getLoc()));
  FunctionBuilder function{OpBuilder::atBlockBegin(&block), &block,
                           scores.getRank()};
  Value score = block.getArgument(Score);
  for (Operation *step : steps) {
    if (auto softcap = dyn_cast<SoftcapOp>(step))
      score = function.append(softcap, score);
    else if (auto mod = dyn_cast<ScoreModOp>(step))
      score = function.append(mod, score);
    else
      score = function.append(cast<AlibiOp>(step), score);
  }
  YieldOp::create(function.builder, sdpa.getLoc(), score);
}
