// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result is copied to the caller before what lies in its place is
// overwritten.
//
// Before:  %new = memref.alloc()
//          memref.copy %a, %new; .. // %new = %a with a slice of its own
//          memref.copy %new, %out0
//          memref.copy %a, %out1    // %a is a part of %out0
//          return
// After:   ..
//          memref.copy %a, %out1
//          memref.copy %new, %out0
//          return
//
// The elimination of empty tensors computes a result where the caller wants it,
// and with it the tensors that it was made of. Where one of these is a result,
// too, or what another result is computed in, bufferization sees that the first
// one needs other memory, but not that copying it to the caller writes what the
// other one still lies in: the caller's memory is no tensor. So copies take the
// order in which none overwrites what a later one reads; of copies in a circle
// one is saved in memory of its own.
//
// Before: one-shot bufferization has run, and the copies to results stand in
// front of the return. After: the same.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_ORDERRESULTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// The copies to arguments at the end of a block, in their order.
static SmallVector<memref::CopyOp> copiesAtEnd(Block &block) {
  SmallVector<memref::CopyOp> copies;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    auto copy = dyn_cast<memref::CopyOp>(op);
    if (copy && isa<BlockArgument>(copy.getTarget()))
      copies.push_back(copy);
    else if (!isPure(&op))
      break;
  }
  std::reverse(copies.begin(), copies.end());
  return copies;
}

/// Copies the source first to memory of its own.
static void save(memref::CopyOp copy) {
  OpBuilder b(copy);
  Value source = copy.getSource();
  SmallVector<Value> sizes;
  auto type = cast<MemRefType>(source.getType());
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(memref::DimOp::create(b, copy.getLoc(), source, i));
  Value saved = memref::AllocOp::create(
      b, copy.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
      sizes, b.getI64IntegerAttr(64));
  memref::CopyOp::create(b, copy.getLoc(), source, saved);
  copy.getSourceMutable().set(saved);
}

namespace {
struct OrderResults : attn::impl::OrderResultsBase<OrderResults> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    SmallVector<memref::CopyOp> pending = copiesAtEnd(func.front());
    if (pending.size() < 2)
      return;
    Operation *end = func.front().getTerminator();
    BufferViewFlowAnalysis views(func);
    while (!pending.empty()) {
      // One whose target no other reads.
      auto next = llvm::find_if(pending, [&](memref::CopyOp copy) {
        return llvm::none_of(pending, [&](memref::CopyOp other) {
          return other != copy && views.resolveReverse(other.getSource())
                                      .contains(copy.getTarget());
        });
      });
      if (next == pending.end()) {
        for (memref::CopyOp copy : ArrayRef(pending).drop_front())
          if (views.resolveReverse(copy.getSource())
                  .contains(pending.front().getTarget()))
            save(copy);
        next = pending.begin();
      }
      (*next)->moveBefore(end);
      pending.erase(next);
    }
  }
};
} // namespace
