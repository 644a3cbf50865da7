// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Look-ups stay inside of what they look in.
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
// that one, as the gradient of a look-up has to. Indices that are
// computed from loop counters and sizes are compared before the kernel runs
// (CheckSlices.cpp) but for those in the body of a linalg op of which two
// comparisons cannot tell (BodyPlaces.cpp). %last stands in front of the op.
//
// Before: any. After: the same; tensor.extract outside of attn ops, and
// tensor.insert, have indices inside of their tensor wherever they depend on
// elements of tensors, or nothing says that they lie inside.
#include "SliceChecker.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {
#define GEN_PASS_DEF_CLAMPLOOKUPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

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

static void clampAll(Operation *op, Value tensor, MutableOperandRange indices,
                     SliceChecker &checker) {
  for (auto [dim, operand] : llvm::enumerate(indices)) {
    Dim of{tensor, static_cast<int64_t>(dim)};
    if (!checker.takesNearest(op, of, operand.get()))
      continue;
    OpBuilder b(op);
    operand.set(clamp(b, tensor, operand.get(), dim));
  }
}

namespace {
struct ClampLookups : attn::impl::ClampLookupsBase<ClampLookups> {
  void runOnOperation() override {
    SmallVector<Operation *> elements;
    getOperation().walk([&](Operation *op) {
      if (isa<tensor::InsertOp>(op) ||
          (isa<tensor::ExtractOp>(op) &&
           !isa_and_nonnull<AttnDialect>(op->getParentOp()->getDialect())))
        elements.push_back(op);
    });
    if (elements.empty())
      return;
    SliceChecker checker(getOperation());
    for (Operation *op : elements)
      if (auto insert = dyn_cast<tensor::InsertOp>(op))
        clampAll(op, insert.getDest(), insert.getIndicesMutable(), checker);
      else
        clampAll(op, cast<tensor::ExtractOp>(op).getTensor(),
                 cast<tensor::ExtractOp>(op).getIndicesMutable(), checker);
  }
};
} // namespace
