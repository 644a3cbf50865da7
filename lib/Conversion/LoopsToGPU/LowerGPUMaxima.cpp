// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima and minima of floats stay one instruction of a GPU.
//
// Before:  %0 = arith.maxnumf %x, %y : f32
// After:   %0 = llvm.intr.maxnum(%x, %y) : (f32, f32) -> f32
//
// arith-expand makes two comparisons and two selections of each, four times
// what the GPU's own max takes, which leaves out a NaN as well. A row of scores
// has as many maxima as keys.
//
// Before: kernels in a module of their own. After: arith-expand finds none of
// f32 and f64.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attn {
#define GEN_PASS_DEF_LOWERGPUMAXIMA
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

template <typename To> static void replace(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!type.isF32() && !type.isF64())
    return;
  OpBuilder b(op);
  Value result = To::create(b, op->getLoc(), type, op->getOperands());
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct LowerGPUMaxima : attn::impl::LowerGPUMaximaBase<LowerGPUMaxima> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (isa<arith::MaxNumFOp>(op))
        replace<LLVM::MaxNumOp>(op);
      else if (isa<arith::MinNumFOp>(op))
        replace<LLVM::MinNumOp>(op);
    });
  }
};
} // namespace
