// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a turn of a loop yields is put where the loop's argument lies.
//
// Before:  scf.for .. iter_args(%x = %q) { ..; scf.yield %y }
// After:   scf.for .. iter_args(%x = %q) {
//            %next = bufferization.materialize_in_destination %y in %x
//            scf.yield %next
//          }
//
// A loop then has one buffer per tensor for all turns: the work space has its
// size before the kernel runs, and one-shot bufferization accepts no other
// loop. Where %y can be computed in the place of %x, nothing is copied.
//
// Before: tensors; loops of the user, none of attn-tile-queries. After: the
// same.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_YIELDINTOARGUMENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct YieldIntoArguments
    : attn::impl::YieldIntoArgumentsBase<YieldIntoArguments> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      Operation *yield = loop.getBody()->getTerminator();
      OpBuilder b(yield);
      for (auto [argument, operand] :
           llvm::zip(loop.getRegionIterArgs(), yield->getOpOperands()))
        if (isa<RankedTensorType>(argument.getType()) &&
            operand.get() != argument)
          operand.set(bufferization::MaterializeInDestinationOp::create(
                          b, yield->getLoc(), argument.getType(), operand.get(),
                          argument)
                          .getResult());
    });
  }
};
} // namespace
