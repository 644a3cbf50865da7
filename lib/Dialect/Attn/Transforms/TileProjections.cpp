// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One parallel item per tile of a projection.
//
// Before:  %y = attn.project %x, %w, %b
// After:   %y = scf.forall (%n, %i, %j) in (%B, %row_tiles, %column_tiles)
//              shared_outs(%o = %empty) {
//            %t = attn.project_tile %x_rows, %w_columns bias %b_columns
//                   outs(%o_tile ..)
//            scf.forall.in_parallel { tensor.parallel_insert_slice %t .. }
//          }
//
// A tile has query_tile rows, and as many columns as keep the slice of the
// weight that all its rows read inside a level-2 cache.
//
// Before: every project has a schedule. After: no project is left.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_TILEPROJECTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Columns of a tile: 256 KiB of weight, a multiple of the register tile.
static int64_t columnsPerTile(int64_t inputDim, int64_t outputDim,
                              ScheduleAttr schedule) {
  int64_t panel = schedule.getPanel();
  int64_t fits = 65536 / std::max<int64_t>(inputDim, 1) / panel * panel;
  return std::min(outputDim, std::max(panel, fits));
}

namespace {
/// [begin, begin + count) along one dimension.
struct Extent {
  OpFoldResult begin, count;
};
} // namespace

/// Tile number `tile` of tiles of `step` along a dimension of size `total`.
static Extent tileRange(OpBuilder &b, Location loc, Value tile, int64_t step,
                        Value total) {
  Value size = arith::ConstantIndexOp::create(b, loc, step);
  Value begin = arith::MulIOp::create(b, loc, tile, size);
  Value left = arith::SubIOp::create(b, loc, total, begin);
  Value count = arith::MinUIOp::create(b, loc, left, size);
  return {begin, count};
}

/// The part of `tensor` with the given range per dimension; a dimension with
/// count 1 in front of the last two is dropped.
static Value extract(OpBuilder &b, Location loc, Value tensor,
                     ArrayRef<Extent> ranges) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes,
      strides(ranges.size(), b.getIndexAttr(1));
  for (const Extent &range : ranges) {
    offsets.push_back(range.begin);
    sizes.push_back(range.count);
  }
  auto full = tensor::ExtractSliceOp::inferResultType(type, sizes);
  auto shape = full.getShape().take_back(std::min<int64_t>(2, type.getRank()));
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

static void tileProjection(ProjectOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(rewriter, shapes); // never fails
  auto type = op.getType();
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shapes[0], type.getElementType());
  ScheduleAttr schedule = op.getScheduleAttr();
  int64_t inputDim = op.getWeight().getType().getDimSize(0),
          outputDim = op.getWeight().getType().getDimSize(1);
  int64_t rowStep = schedule.getQueryTile(),
          columnStep = columnsPerTile(inputDim, outputDim, schedule);
  bool batched = type.getRank() == 3;
  Value rows = getValueOrCreateConstantIndexOp(rewriter, loc,
                                               shapes[0][batched ? 1 : 0]);
  Value columns = arith::ConstantIndexOp::create(rewriter, loc, outputDim);
  auto tiles = [&](Value total, int64_t step) {
    Value size = arith::ConstantIndexOp::create(rewriter, loc, step);
    return getAsOpFoldResult(
        arith::CeilDivUIOp::create(rewriter, loc, total, size).getResult());
  };
  SmallVector<OpFoldResult> bounds{
      batched ? shapes[0][0] : OpFoldResult(rewriter.getIndexAttr(1)),
      tiles(rows, rowStep), tiles(columns, std::max<int64_t>(columnStep, 1))};
  auto forall = scf::ForallOp::create(rewriter, loc, bounds, ValueRange(empty),
                                      /*mapping=*/std::nullopt);
  rewriter.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent row = tileRange(rewriter, loc, ivs[1], rowStep, rows);
  Extent column = tileRange(rewriter, loc, ivs[2], columnStep, columns);
  Extent all{rewriter.getIndexAttr(0), rewriter.getIndexAttr(inputDim)};
  SmallVector<Extent> inputRanges{row, all}, outRanges{row, column};
  if (batched) {
    Extent entry{ivs[0], rewriter.getIndexAttr(1)};
    inputRanges.insert(inputRanges.begin(), entry);
    outRanges.insert(outRanges.begin(), entry);
  }
  Value input = extract(rewriter, loc, op.getInput(), inputRanges);
  Value weight = extract(rewriter, loc, op.getWeight(), {all, column});
  Value bias =
      op.getBias() ? extract(rewriter, loc, op.getBias(), {column}) : Value();
  Value out =
      extract(rewriter, loc, forall.getRegionIterArgs().front(), outRanges);
  auto tile = ProjectTileOp::create(rewriter, loc, TypeRange(out.getType()),
                                    input, weight, bias, out, schedule);
  rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
  SmallVector<OpFoldResult> offsets, sizes;
  for (const Extent &range : outRanges) {
    offsets.push_back(range.begin);
    sizes.push_back(range.count);
  }
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(rewriter, loc, tile.getResult(0),
                                        forall.getRegionIterArgs().front(),
                                        offsets, sizes, strides);
  rewriter.replaceOp(op, forall.getResults());
}

namespace {
struct TileProjections : attn::impl::TileProjectionsBase<TileProjections> {
  void runOnOperation() override {
    SmallVector<ProjectOp> ops;
    getOperation()->walk([&](ProjectOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ProjectOp op : ops)
      tileProjection(op, rewriter);
  }
};
} // namespace
