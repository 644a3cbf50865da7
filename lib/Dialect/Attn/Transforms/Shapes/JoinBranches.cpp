// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The branches of an scf.if put their tensors into one place.
//
// Before:  %r = scf.if %c -> (tensor<?x8xf32>) { ..; scf.yield %y } else {
//            scf.yield %q
//          }
// After:   %n = tensor.dim %q, %c0
//          %e = bufferization.alloc_tensor(%n)
//          %r = scf.if %c -> (tensor<?x8xf32>) {
//            ..
//            %a = bufferization.materialize_in_destination %y in %e
//            scf.yield %a
//          } else {
//            %b = bufferization.materialize_in_destination %q in %e
//            scf.yield %b
//          }
//
// Which branch is taken, only the running kernel knows. The work space has its
// size before, so what stands behind the scf.if needs a size that does not
// depend on that, and strides, too: %e has those of a buffer of its own, which
// no tensor.empty would keep. Where %y can be computed in its place, nothing is
// copied.
//
// Before: the fused level, tensor.dim asks arguments where it can. After: the
// same; a result with a size that no tensor in front of the scf.if has is an
// error.
#include "SizeFinder.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_JOINBRANCHES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// A tensor in front of `choice` for one of its results, or null.
static Value placeFor(OpResult result, scf::IfOp choice, SizeFinder &finder) {
  auto type = cast<RankedTensorType>(result.getType());
  OpBuilder b(choice);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    Value size = finder.find(b, {result, dim});
    if (!size) {
      choice.emitOpError()
          << "expects branches with sizes that follow from the arguments, but "
             "dimension "
          << dim << " of result " << result.getResultNumber()
          << " depends on the branch";
      return {};
    }
    sizes.push_back(size);
  }
  return bufferization::AllocTensorOp::create(b, choice.getLoc(), type, sizes);
}

namespace {
struct JoinBranches : attn::impl::JoinBranchesBase<JoinBranches> {
  void runOnOperation() override {
    SmallVector<OpResult> results;
    getOperation().walk([&](scf::IfOp choice) {
      for (OpResult result : choice->getResults())
        if (isa<RankedTensorType>(result.getType()))
          results.push_back(result);
    });
    if (results.empty())
      return;
    SizeFinder finder(getOperation());
    if (finder.failed())
      return signalPassFailure();
    for (OpResult result : results) {
      auto choice = cast<scf::IfOp>(result.getOwner());
      Value place = placeFor(result, choice, finder);
      if (!place)
        return signalPassFailure();
      for (scf::YieldOp yield : {choice.thenYield(), choice.elseYield()}) {
        OpBuilder b(yield);
        OpOperand &yielded = yield->getOpOperand(result.getResultNumber());
        yielded.set(
            bufferization::MaterializeInDestinationOp::create(
                b, yield.getLoc(), result.getType(), yielded.get(), place)
                .getResult());
      }
    }
  }
};
} // namespace
