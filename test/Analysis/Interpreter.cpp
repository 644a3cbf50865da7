// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs arith and scf on integers.

#include "Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace attn::test;
using namespace mlir;

Numbers Interpreter::run(Block &block, ArrayRef<int64_t> arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : block.without_terminator())
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), runOperation(op)))
      values[result] = value;
  Numbers results;
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(values.at(operand));
  return results;
}

Numbers Interpreter::runRegionOp(Operation &op, Numbers operands) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Numbers state(llvm::drop_begin(operands, 3));
    for (int64_t i = operands[0]; i < operands[1]; i += operands[2]) {
      Numbers arguments{i};
      llvm::append_range(arguments, state);
      state = run(*loop.getBody(), arguments);
    }
    return state;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (;;) {
      Numbers state = run(*loop.getBeforeBody(), operands);
      bool more = state.front();
      state.erase(state.begin());
      if (!more)
        return state;
      operands = run(*loop.getAfterBody(), state);
    }
  }
  auto branch = cast<scf::IfOp>(op);
  Block *taken = operands[0] ? branch.thenBlock() : branch.elseBlock();
  return taken ? run(*taken, {}) : Numbers();
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  default:
    llvm_unreachable("unsigned compares are not emitted");
  }
}

Numbers Interpreter::runOperation(Operation &op) {
  Numbers operands;
  for (Value operand : op.getOperands())
    operands.push_back(values.at(operand));
  if (op.getNumRegions())
    return runRegionOp(op, operands);
  APInt number;
  if (matchPattern(&op, m_ConstantInt(&number)))
    return {number.getBitWidth() == 1 ? int64_t(number.getZExtValue())
                                      : number.getSExtValue()};
  if (op.getName().getDialectNamespace() != "arith")
    return callback(op, operands);
  if (isa<arith::SelectOp>(op))
    return {operands[0] ? operands[1] : operands[2]};
  int64_t a = operands[0], b = operands[1];
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return {compare(comparison.getPredicate(), a, b)};
  if (isa<arith::AddIOp>(op))
    return {int64_t(uint64_t(a) + uint64_t(b))};
  if (isa<arith::SubIOp>(op))
    return {int64_t(uint64_t(a) - uint64_t(b))};
  if (isa<arith::MulIOp>(op))
    return {int64_t(uint64_t(a) * uint64_t(b))};
  if (isa<arith::FloorDivSIOp>(op))
    return {llvm::divideFloorSigned(a, b)};
  if (isa<arith::CeilDivSIOp>(op))
    return {llvm::divideCeilSigned(a, b)};
  if (isa<arith::MinSIOp>(op))
    return {std::min(a, b)};
  if (isa<arith::MaxSIOp>(op))
    return {std::max(a, b)};
  if (isa<arith::AndIOp>(op))
    return {a & b};
  if (isa<arith::OrIOp>(op))
    return {a | b};
  if (isa<arith::XOrIOp>(op))
    return {a ^ b};
  llvm_unreachable("an op the interpreter does not know");
}
