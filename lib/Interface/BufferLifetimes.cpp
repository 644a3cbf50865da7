// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BufferLifetimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace attn::cpu;

namespace {
/// Part of the kernel's block in which the content of a buffer matters: ops
/// that hold its first and its last use.
struct Lifetime {
  memref::AllocOp buffer;
  Operation *first, *last;
  size_t number; ///< in program order
};
} // namespace

/// Whether `op` passes a buffer on without a look at what it holds.
static bool passesOn(Operation *op) {
  return isa<ViewLikeOpInterface, arith::SelectOp, memref::DimOp>(op);
}

static Lifetime lifetimeOf(memref::AllocOp buffer, Block &body,
                           const BufferViewFlowAnalysis &analysis) {
  Lifetime life{buffer, nullptr, nullptr, 0};
  BufferViewFlowAnalysis::ValueSetT aliases = analysis.resolve(buffer);
  auto isAlias = [&](Value value) {
    return !isa<BaseMemRefType>(value.getType()) || aliases.contains(value);
  };
  for (Value alias : aliases)
    for (Operation *user : alias.getUsers()) {
      Operation *op = body.findAncestorOpInBlock(*user);
      if (!llvm::all_of(user->getResults(),
                        isAlias)) // where it goes is unknown
        return {buffer, &body.front(), &body.back(), 0};
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

static bool isConditional(memref::AllocOp buffer) {
  return llvm::any_of(buffer.getDynamicSizes(), [](Value size) {
    return size.getDefiningOp<arith::SelectOp>();
  });
}

static bool hasSameSize(memref::AllocOp a, memref::AllocOp b) {
  return a.getType() == b.getType() &&
         a.getDynamicSizes() == b.getDynamicSizes();
}

std::vector<SharedBytes>
attn::cpu::shareBytes(func::FuncOp kernel, ArrayRef<memref::AllocOp> allocs) {
  Block &body = kernel.front();
  BufferViewFlowAnalysis analysis(kernel);
  SmallVector<Lifetime> lives;
  for (auto [number, alloc] : llvm::enumerate(allocs)) {
    lives.push_back(lifetimeOf(alloc, body, analysis));
    lives.back().number = number;
  }
  llvm::sort(lives, [](const Lifetime &a, const Lifetime &b) {
    return a.first == b.first ? a.number < b.number
                              : a.first->isBeforeInBlock(b.first);
  });
  std::vector<SharedBytes> all;
  for (const Lifetime &life : lives) {
    SharedBytes *place = nullptr;
    for (SharedBytes &free : all) {
      if (!free.last->isBeforeInBlock(life.first))
        continue;
      if (hasSameSize(free.buffers.front(), life.buffer)) {
        place = &free;
        break;
      }
      if (!place && !isConditional(life.buffer) &&
          !isConditional(free.buffers.front()))
        place = &free;
    }
    if (!place)
      place = &all.emplace_back();
    if (place->buffers.empty())
      place->number = life.number;
    place->buffers.push_back(life.buffer);
    place->last = life.last;
  }
  llvm::sort(all, [&](const SharedBytes &a, const SharedBytes &b) {
    return a.number < b.number;
  });
  return all;
}
