// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a tensor are written where the whole lies.
//
// Before:  %keys = tensor.concat dim(1) %past, %new
// After:   %0 = tensor.empty() : tensor<4x1025x64xf32>
//          %1 = tensor.insert_slice %past into %0[0, 0, 0] [4, 1024, 64] ..
//          %keys = tensor.insert_slice %new into %1[0, 1024, 0] [4, 1, 64] ..
//
// Bufferization gives a concat memory of its own, from which a result is
// copied. With slices, the empty tensor becomes the caller's memory, and a part
// that nothing else reads is computed there.
//
// Before: tensors. After: the same, and no tensor.concat.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_INSERTCONCATS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct InsertConcats : attn::impl::InsertConcatsBase<InsertConcats> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](tensor::ConcatOp concat) {
      rewriter.setInsertionPoint(concat);
      FailureOr<SmallVector<Value>> whole = concat.decomposeOperation(rewriter);
      if (succeeded(whole))
        rewriter.replaceOp(concat, *whole);
    });
  }
};
} // namespace
