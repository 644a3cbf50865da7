// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function has one score and few reads, so that a tangent for each of them
// costs what a sweep backwards would. Most fold away: those of `s + t[h, i -
// j]` are the constant 1. And `select` picks a tangent instead of multiplying
// one by 0, so that nothing leaks out of the branch that was not taken.
#include "ScoreTangents.h"
#include "Partials.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

Operation *attn::findUnknownPartial(Region &function,
                                    function_ref<bool(unsigned)> isLearned) {
  Block &block = function.front();
  llvm::DenseSet<Value> dependent{block.getArgument(Score)};
  for (Operation &op : block.without_terminator()) {
    if (readsLearned(&op, isLearned))
      dependent.insert(op.getResult(0));
    // Where a score decides what is read, nothing flows.
    if (!readsCapture(&op) && !spreadDependence(&op, dependent))
      return &op;
  }
  return nullptr;
}

void attn::addTangents(Region &function,
                       function_ref<bool(unsigned)> isLearned) {
  Block &block = function.front();
  Operation *end = block.getTerminator();
  SmallVector<Operation *> ops;
  SmallVector<Value> inputs{block.getArgument(Score)};
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    if (readsLearned(&op, isLearned))
      inputs.push_back(op.getResult(0));
  }
  OpBuilder b(end);
  auto number = [&](Type type, double value) -> Value {
    return arith::ConstantOp::create(b, end->getLoc(),
                                     b.getFloatAttr(type, value));
  };
  Value answer = end->getOperand(0);
  SmallVector<Value> yielded{answer};
  for (Value input : inputs) {
    llvm::DenseMap<Value, Value> tangents{{input, number(input.getType(), 1)}};
    for (Operation *op : ops)
      if (!readsCapture(op))
        if (Value tangent = tangentOf(b, op, tangents))
          tangents[op->getResult(0)] = tangent;
    Value tangent = tangents.lookup(answer);
    yielded.push_back(tangent ? tangent : number(answer.getType(), 0));
  }
  end->setOperands(yielded);
}
