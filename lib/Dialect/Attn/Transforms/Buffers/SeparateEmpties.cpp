// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that are computed behind each other have an empty tensor each.
//
// Before:  %e = tensor.empty(%n) : tensor<?x64xf32>
//          %a = scf.while (.. = %e) ..
//          %b = scf.while (.. = %e) .. // reads %a
//          return %b
// After:   %e0 = tensor.empty(%n) : tensor<?x64xf32>
//          %e1 = tensor.empty(%n) : tensor<?x64xf32>
//          %a = scf.while (.. = %e0) ..
//          %b = scf.while (.. = %e1) ..
//          return %b
//
// Empty tensors of one size are one value to CSE. The elimination of empty
// tensors would compute both %a and %b where the caller wants %b; that %a needs
// other memory bufferization sees, but no longer that there is nothing to copy
// to it.
//
// Before: tensors. After: an empty tensor, or a cast of one, has one use.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_SEPARATEEMPTIES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Gives each use of the op's result but the first one an op of its own.
static void separate(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &use :
       llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
    use.set(b.clone(*op)->getResult(0));
}

namespace {
struct SeparateEmpties : attn::impl::SeparateEmptiesBase<SeparateEmpties> {
  void runOnOperation() override {
    SmallVector<Operation *> casts, empties;
    getOperation().walk([&](tensor::EmptyOp op) {
      empties.push_back(op);
      for (Operation *user : op->getUsers())
        if (isa<tensor::CastOp>(user))
          casts.push_back(user);
    });
    for (Operation *op : casts)
      separate(op);
    for (Operation *op : empties)
      separate(op);
  }
};
} // namespace
