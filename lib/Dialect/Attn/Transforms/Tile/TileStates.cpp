// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-states: one parallel item per batch entry, head and tile of rows.
//
// Before:  %m, %l, %a = attn.merge_states %m1, %l1, %a1 with %m2, %l2, %a2
//              : tensor<?x8x?xf32>, tensor<?x8x?x64xf32>
// After:   %r:3 = scf.forall (%b, %h, %t) in (%B, 8, %tiles)
//              shared_outs(%m = %empty_m, %l = %empty_l, %a = %empty_a) {
//            %rows:3 = attn.merge_rows %m1_rows, %l1_rows, %a1_rows with ..
//              outs(%m_rows, %l_rows, %a_rows ..)
//            scf.forall.in_parallel { tensor.parallel_insert_slice .. }
//          }
//
// attn.finalize_state becomes attn.finalize_rows in the same way. Rows do not
// depend on each other, so any tile will do: query_tile rows.
//
// Before: both ops have a schedule. After: none of them is left.
#include "EmptyResults.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_TILESTATES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Some rows of a tensor of a state: of (.., rows) or (.., rows, columns).
struct RowsOfTensor {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  Value rows;

  /// `leading` are batch entry and head, where there are any.
  RowsOfTensor(OpBuilder &b, Location loc, Value tensor,
               ArrayRef<OpFoldResult> leading, Value first, Value count)
      : offsets(leading), sizes(leading.size(), b.getIndexAttr(1)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    offsets.push_back(first);
    sizes.push_back(count);
    if (type.getRank() > static_cast<int64_t>(sizes.size())) {
      offsets.push_back(b.getIndexAttr(0));
      sizes.push_back(tensor::getMixedSize(b, loc, tensor, type.getRank() - 1));
      shape.push_back(type.getShape().back());
    }
    strides.assign(type.getRank(), b.getIndexAttr(1));
    rows = tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
        offsets, sizes, strides);
  }
};
} // namespace

static SmallVector<Value> computeRows(OpBuilder &b, MergeStatesOp op,
                                      ArrayRef<Value> in, ArrayRef<Value> out) {
  auto merged = MergeRowsOp::create(
      b, op.getLoc(), ValueRange(out).getTypes(), in[0], in[1], in[2], in[3],
      in[4], in[5], out[0], out[1], out[2], op.getScheduleAttr());
  return SmallVector<Value>(merged.getResults());
}

static SmallVector<Value> computeRows(OpBuilder &b, FinalizeStateOp op,
                                      ArrayRef<Value> in, ArrayRef<Value> out) {
  auto finalized = FinalizeRowsOp::create(
      b, op.getLoc(), ValueRange(out).getTypes(), in[0], in[1], in[2], out[0],
      op.getLse() ? out[1] : Value(), op.getScheduleAttr());
  return SmallVector<Value>(finalized.getResults());
}

template <typename Op> static void tileRows(Op op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> empties = emptyResults(rewriter, op);
  if (llvm::is_contained(op.getMaximum().getType().getShape(), 0))
    return rewriter.replaceOp(op, empties); // no rows
  Value acc = op->getOperand(2);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, acc),
                            bounds(sizes.begin(), sizes.end() - 2);
  Value rows =
      getValueOrCreateConstantIndexOp(rewriter, loc, sizes[bounds.size()]);
  Value tile = arith::ConstantIndexOp::create(
      rewriter, loc, op.getScheduleAttr().getQueryTile());
  bounds.push_back(
      getAsOpFoldResult(arith::CeilDivUIOp::create(rewriter, loc, rows, tile)));
  auto forall = scf::ForallOp::create(rewriter, loc, bounds, empties,
                                      /*mapping=*/std::nullopt);
  rewriter.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Value first = arith::MulIOp::create(rewriter, loc, ivs.back(), tile);
  Value left = arith::SubIOp::create(rewriter, loc, rows, first);
  Value count = arith::MinUIOp::create(rewriter, loc, left, tile);
  ivs.pop_back();
  SmallVector<OpFoldResult> leading = getAsOpFoldResult(ivs);
  auto rowsOf = [&](Value tensor) {
    return RowsOfTensor(rewriter, loc, tensor, leading, first, count);
  };
  SmallVector<Value> in, out;
  for (Value operand : op->getOperands())
    in.push_back(rowsOf(operand).rows);
  SmallVector<RowsOfTensor> places;
  for (BlockArgument tensor : forall.getRegionIterArgs())
    out.push_back(places.emplace_back(rowsOf(tensor)).rows);
  SmallVector<Value> results = computeRows(rewriter, op, in, out);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [result, place, tensor] :
       llvm::zip(results, places, forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(rewriter, loc, result, tensor,
                                          place.offsets, place.sizes,
                                          place.strides);
  rewriter.replaceOp(op, forall.getResults());
}

namespace {
struct TileStates : attn::impl::TileStatesBase<TileStates> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<MergeStatesOp, FinalizeStateOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (!op->hasAttr("schedule")) {
        op->emitOpError("has no schedule; run attn-assign-schedule before "
                        "attn-tile-states");
        return signalPassFailure();
      }
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      if (auto merge = dyn_cast<MergeStatesOp>(op))
        tileRows(merge, rewriter);
      else
        tileRows(cast<FinalizeStateOp>(op), rewriter);
    }
  }
};
} // namespace
