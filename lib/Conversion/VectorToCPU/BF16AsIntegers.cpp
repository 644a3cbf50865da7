// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of bf16 that LLVM would convert are moved as integers of 16 bits.
//
// Before:  llvm.intr.masked.store %v, %p, %m : vector<8xbf16>, ..
//          %x = llvm.load %q : !llvm.ptr -> bf16
//          llvm.br ^next  // which uses %x
// After:   %i = llvm.bitcast %v : vector<8xbf16> to vector<8xi16>
//          llvm.intr.masked.store %i, %p, %m : vector<8xi16>, ..
//          %x = llvm.load %q : !llvm.ptr -> bf16
//          %j = llvm.bitcast %x : bf16 to i16
//          llvm.br ^next  // which begins with a bitcast of %j to bf16
//
// Where a processor has no masks, LLVM takes vectors apart; numbers of bf16
// that it takes out of one, those that become elements of one, and those that
// it keeps from one block to another, go through f32 and back by a function of
// the compiler's own library, which a kernel must do without.
//
// Before: only the LLVM dialect. After: the same; no number of bf16 is used
// outside of its block.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_BF16ASINTEGERS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// A vector of as many integers; null for other types.
static VectorType integersFor(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isBF16())
    return {};
  return vector.clone(IntegerType::get(type.getContext(), 16));
}

static void store(LLVM::MaskedStoreOp op) {
  VectorType integers = integersFor(op.getValue().getType());
  if (!integers)
    return;
  OpBuilder b(op);
  op.getValueMutable().assign(
      LLVM::BitcastOp::create(b, op.getLoc(), integers, op.getValue()));
}

static void load(LLVM::MaskedLoadOp op) {
  Value loaded = op->getResult(0);
  Type type = loaded.getType();
  VectorType integers = integersFor(type);
  if (!integers)
    return;
  OpBuilder b(op);
  for (OpOperand &passed : op.getPassThruMutable())
    passed.set(LLVM::BitcastOp::create(b, op.getLoc(), integers, passed.get()));
  loaded.setType(integers);
  b.setInsertionPointAfter(op);
  auto back = LLVM::BitcastOp::create(b, op.getLoc(), type, loaded);
  loaded.replaceAllUsesExcept(back, back);
}

static void insert(LLVM::InsertElementOp op) {
  Type type = op.getType();
  VectorType integers = integersFor(type);
  if (!integers)
    return;
  OpBuilder b(op);
  auto bitsOf = [&](Type type, Value value) {
    return LLVM::BitcastOp::create(b, op.getLoc(), type, value);
  };
  auto inserted = LLVM::InsertElementOp::create(
      b, op.getLoc(), bitsOf(integers, op.getVector()),
      bitsOf(b.getI16Type(), op.getValue()), op.getPosition());
  op.replaceAllUsesWith(bitsOf(type, inserted).getResult());
  op.erase();
}

/// Uses of a number in other blocks than its own use its bits.
static void keepBits(Value number) {
  SmallVector<OpOperand *> outside;
  for (OpOperand &use : number.getUses())
    if (use.getOwner()->getBlock() != number.getParentBlock())
      outside.push_back(&use);
  if (outside.empty())
    return;
  OpBuilder b(number.getContext());
  b.setInsertionPointAfterValue(number);
  Value bits =
      LLVM::BitcastOp::create(b, number.getLoc(), b.getI16Type(), number);
  for (OpOperand *use : outside) {
    b.setInsertionPoint(use->getOwner());
    use->set(
        LLVM::BitcastOp::create(b, number.getLoc(), number.getType(), bits));
  }
}

/// An argument of a block that others branch to becomes an integer.
static void passBits(BlockArgument argument) {
  Type type = argument.getType();
  Block *block = argument.getOwner();
  OpBuilder b = OpBuilder::atBlockBegin(block);
  argument.setType(b.getI16Type());
  auto number = LLVM::BitcastOp::create(b, argument.getLoc(), type, argument);
  argument.replaceAllUsesExcept(number, number);
  for (auto from = block->pred_begin(); from != block->pred_end(); ++from) {
    auto branch = cast<BranchOpInterface>((*from)->getTerminator());
    SuccessorOperands passed =
        branch.getSuccessorOperands(from.getSuccessorIndex());
    b.setInsertionPoint(branch);
    unsigned i = argument.getArgNumber();
    passed.slice(i, 1).assign(
        LLVM::BitcastOp::create(b, argument.getLoc(), b.getI16Type(), passed[i])
            .getResult());
  }
}

/// Every number and vector of bf16 is the result of an op or an argument.
static bool hasBF16(Operation *module) {
  auto isBF16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  return module
      ->walk([&](Operation *op) {
        bool found = llvm::any_of(op->getResultTypes(), isBF16);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found |= llvm::any_of(block.getArgumentTypes(), isBF16);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct BF16AsIntegers : attn::impl::BF16AsIntegersBase<BF16AsIntegers> {
  void runOnOperation() override {
    if (!hasBF16(getOperation()))
      return markAllAnalysesPreserved();
    getOperation()->walk([](Operation *op) {
      if (auto masked = dyn_cast<LLVM::MaskedStoreOp>(op))
        store(masked);
      else if (auto masked = dyn_cast<LLVM::MaskedLoadOp>(op))
        load(masked);
      else if (auto number = dyn_cast<LLVM::InsertElementOp>(op))
        return insert(number);
      for (Value result : op->getResults())
        if (result.getType().isBF16())
          keepBits(result);
    });
    getOperation()->walk([](Block *block) {
      if (!block->isEntryBlock())
        for (BlockArgument argument : block->getArguments())
          if (argument.getType().isBF16())
            passBits(argument);
    });
  }
};
} // namespace
