// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Look-ups by numbers that a tensor holds stay inside of what they look in.
//
// Before:  ^bb0(%id: i64, %out: f32):
//            %row = arith.index_cast %id : i64 to index
//            %x = tensor.extract %table[%row, %column]
// After:       %high = arith.minsi %row, %last
//              %inside = arith.maxsi %high, %c0
//              %x = tensor.extract %table[%inside, %column]
//
// The numbers are known when the kernel runs, which must not read other
// memory. An index outside of the table gives its nearest element, as in score
// functions, whose kernels see to it themselves; so does tensor.insert write
// that one, as the gradient of a look-up has to. Indices that are computed from
// loop counters and sizes are the specification's own. %last stands in front of
// the op.
//
// Before: any. After: the same; tensor.extract outside of attn ops, and
// tensor.insert, have indices inside of their tensor wherever they depend on
// elements of tensors.
#include "Lookups.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn {
#define GEN_PASS_DEF_CLAMPLOOKUPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// The place in front of the linalg ops around `op`, whose bodies are written
/// on vectors, as far out as `tensor` is there.
static Operation *inFront(Operation *op, Value tensor) {
  while (isa<linalg::LinalgOp>(op->getParentOp()) &&
         !op->getParentRegion()->isAncestor(tensor.getParentRegion()))
    op = op->getParentOp();
  return op;
}

static Value clamp(OpBuilder &b, Value tensor, Value index, int64_t dim) {
  Location loc = index.getLoc();
  OpBuilder::InsertPoint place = b.saveInsertionPoint();
  b.setInsertionPoint(inFront(&*b.getInsertionPoint(), tensor));
  Value one = arith::ConstantIndexOp::create(b, loc, 1),
        zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value size = b.createOrFold<tensor::DimOp>(loc, tensor, dim);
  Value last = b.createOrFold<arith::SubIOp>(loc, size, one);
  b.restoreInsertionPoint(place);
  Value high = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, high, zero);
}

static void clampAll(Operation *op, Value tensor, MutableOperandRange indices) {
  for (auto [dim, operand] : llvm::enumerate(indices)) {
    if (!attn::dependsOnElements(operand.get()))
      continue;
    OpBuilder b(op);
    operand.set(clamp(b, tensor, operand.get(), dim));
  }
}

namespace {
struct ClampLookups : attn::impl::ClampLookupsBase<ClampLookups> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto insert = dyn_cast<tensor::InsertOp>(op))
        return clampAll(op, insert.getDest(), insert.getIndicesMutable());
      auto extract = dyn_cast<tensor::ExtractOp>(op);
      if (extract &&
          !isa_and_nonnull<attn::AttnDialect>(op->getParentOp()->getDialect()))
        clampAll(op, extract.getTensor(), extract.getIndicesMutable());
    });
  }
};
} // namespace
