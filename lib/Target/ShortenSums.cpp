// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's strength reduction writes the address of each loop as one sum, and
// weighs every way to begin it elsewhere. Where a buffer lies in the work space
// is the sum of the sizes of those in front of it: of 30 layers, a sum of 30
// products in each of 60 loops, for which it takes a time that grows with the
// fourth power of the layers. Here no sum has more than a few terms.
//
// Before:  %a = mul i64 %rows, %width     ; each of them a sum of its own
//          %c = add i64 %before, %a
// After:   %sum = add i64 %before, %a
//          %c = freeze i64 %sum           ; one term, and no instruction
//
// The addresses of kernels have fewer terms, and stay as they are.
#include "ShortenSums.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

/// More than the addresses of any kernel.
static constexpr size_t mostTerms = 16;

namespace {
/// Of one function.
class SumShortener {
public:
  void visit(llvm::BinaryOperator &op) {
    size_t left = termsOf(op.getOperand(0)), right = termsOf(op.getOperand(1));
    switch (op.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
      return set(op, left + right);
    case llvm::Instruction::Mul:
      return set(op, std::max<size_t>(left, 1) * std::max<size_t>(right, 1));
    default:
      return;
    }
  }

private:
  size_t termsOf(const llvm::Value *value) const {
    if (llvm::isa<llvm::Constant>(value))
      return 0;
    auto found = terms.find(value);
    return found == terms.end() ? 1 : found->second;
  }

  void set(llvm::BinaryOperator &op, size_t count) {
    if (count <= mostTerms) {
      terms[&op] = count;
      return;
    }
    llvm::IRBuilder<> b(op.getParent(), std::next(op.getIterator()));
    llvm::Value *one = b.CreateFreeze(&op);
    op.replaceUsesWithIf(one,
                         [&](llvm::Use &use) { return use.getUser() != one; });
  }

  llvm::DenseMap<const llvm::Value *, size_t> terms; ///< where it is not 1
};
} // namespace

void attn::target::shortenSums(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    SumShortener shortener;
    // What a sum is made of comes first, but around loops.
    for (llvm::BasicBlock *block : llvm::depth_first(&function.getEntryBlock()))
      for (llvm::Instruction &op : llvm::make_early_inc_range(*block))
        if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&op))
          shortener.visit(*binary);
  }
}
