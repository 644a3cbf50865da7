// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BufferLifetimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace attn::cpu;

/// Whether `op` passes a buffer on without a look at what it holds.
static bool passesOn(Operation *op) {
  return isa<ViewLikeOpInterface, arith::SelectOp, memref::TransposeOp,
             memref::DimOp>(op);
}

/// Whether the result of `user` is an address of the buffer that `alias` is or
/// points into: a number until some op loads or stores there.
static bool givesAddress(Operation *user, Value alias) {
  return isa<memref::ExtractAlignedPointerAsIndexOp>(user) ||
         (!isa<BaseMemRefType>(alias.getType()) && isMemoryEffectFree(user));
}

/// All that may be `buffer` or a part of it, and its addresses: what an op that
/// takes it returns may be, whatever it does.
static SetVector<Value> aliasesOf(memref::AllocOp buffer,
                                  const BufferViewFlowAnalysis &analysis) {
  SetVector<Value> aliases;
  auto add = [&](Value value) {
    BufferViewFlowAnalysis::ValueSetT more = analysis.resolve(value);
    aliases.insert(more.begin(), more.end());
  };
  add(buffer);
  for (size_t i = 0; i < aliases.size(); ++i)
    for (Operation *user : aliases[i].getUsers())
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType())) {
          if (!aliases.contains(result))
            add(result);
        } else if (givesAddress(user, aliases[i])) {
          aliases.insert(result);
        }
  return aliases;
}

static Lifetime lifetimeOf(memref::AllocOp buffer, Block &body,
                           const BufferViewFlowAnalysis &analysis) {
  Lifetime life{nullptr, nullptr};
  for (Value alias : aliasesOf(buffer, analysis))
    for (Operation *user : alias.getUsers()) {
      Operation *op = body.findAncestorOpInBlock(*user);
      if (passesOn(user))
        continue;
      if (!life.first || op->isBeforeInBlock(life.first))
        life.first = op;
      if (!life.last || life.last->isBeforeInBlock(op))
        life.last = op;
    }
  if (!life.first) // never used
    life.first = life.last = body.findAncestorOpInBlock(*buffer);
  return life;
}

SmallVector<Lifetime> attn::cpu::lifetimesOf(func::FuncOp kernel,
                                             ArrayRef<memref::AllocOp> allocs) {
  BufferViewFlowAnalysis analysis(kernel);
  return llvm::map_to_vector(allocs, [&](memref::AllocOp alloc) {
    return lifetimeOf(alloc, kernel.front(), analysis);
  });
}
