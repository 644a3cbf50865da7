// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One parallel item per tile of a projection; constant weights are packed.
//
// Before:  %y = attn.project %x, %w, %b
// After:   %y = scf.forall (%n, %i, %j) in (%B, %row_tiles, %column_tiles)
//              shared_outs(%o = %empty) {
//            %t = attn.project_tile %x_rows, %w_columns bias %b_columns
//                   outs(%o_tile ..)
//            scf.forall.in_parallel { tensor.parallel_insert_slice %t .. }
//          }
//
// Many rows make tiles of some 256 rows and 64 columns, as many as the kernel
// packs of the weight at a time. Few rows read the weight once, from memory, so
// their tiles are as wide as a page of it. Both follow from the number of rows
// at run time.
//
// A weight that is a constant of at least one panel of columns becomes
//          %w = arith.constant dense<..> : tensor<panels x K x panel>
// where panel p holds the columns from p * panel on, so that nothing is packed
// at run time. The rest of the last panel is 0. Other users keep the matrix.
//
// Before: every project has a schedule. After: no project is left.
#include "ConstantMatrix.h"
#include "EmptyResults.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_TILEPROJECTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The constant `matrix` in panels of columns; null if it is no constant, or
/// narrower than a panel.
static ElementsAttr packConstant(Value matrix, int64_t panel) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t depth = type.getDimSize(0), columns = type.getDimSize(1);
  if (columns < panel)
    return {};
  auto packed = RankedTensorType::get(
      {static_cast<int64_t>(llvm::divideCeil(columns, panel)), depth, panel},
      type.getElementType());
  return rearrangeConstant(matrix, packed, [&](int64_t i) {
    int64_t row = i / panel % depth,
            column = i / panel / depth * panel + i % panel;
    return column < columns ? row * columns + column : -1;
  });
}

namespace {
/// [begin, begin + count) along one dimension.
struct Extent {
  OpFoldResult begin, count;
};
} // namespace

/// Tile number `tile` of tiles of `size` along a dimension of size `total`.
static Extent tileRange(OpBuilder &b, Location loc, Value tile, Value size,
                        Value total) {
  Value begin = arith::MulIOp::create(b, loc, tile, size);
  Value left = arith::SubIOp::create(b, loc, total, begin);
  Value count = arith::MinUIOp::create(b, loc, left, size);
  return {begin, count};
}

/// The panels that hold a range of columns, which begins with a panel.
static Extent panelRange(OpBuilder &b, Location loc, Extent columns,
                         int64_t panel) {
  Value size = arith::ConstantIndexOp::create(b, loc, panel);
  auto begin = cast<Value>(columns.begin), count = cast<Value>(columns.count);
  return {arith::DivUIOp::create(b, loc, begin, size).getResult(),
          arith::CeilDivUIOp::create(b, loc, count, size).getResult()};
}

/// Of the dimensions of `tensor` with the given ranges, the last `rank` remain;
/// those in front have count 1.
static Value extract(OpBuilder &b, Location loc, Value tensor,
                     ArrayRef<Extent> ranges, int64_t rank) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes,
      strides(ranges.size(), b.getIndexAttr(1));
  for (const Extent &range : ranges) {
    offsets.push_back(range.begin);
    sizes.push_back(range.count);
  }
  auto full = tensor::ExtractSliceOp::inferResultType(type, sizes);
  auto shape = full.getShape().take_back(rank);
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

namespace {
/// The sizes of a projection and of its tiles.
struct Tiling {
  Value rows, columns, rowStep, columnStep;

  Tiling(OpBuilder &b, ProjectOp op, OpFoldResult numRows) {
    Location loc = op.getLoc();
    auto schedule = CPUScheduleAttr::of(op);
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    int64_t panel = schedule.getQueryBlock();
    rows = getValueOrCreateConstantIndexOp(b, loc, numRows);
    columns = index(op.getWeight().getType().getDimSize(1));
    rowStep =
        index(llvm::alignTo(2 * schedule.getQueryTile(), schedule.getRows()));
    Value few = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows,
                                      index(schedule.getRows()));
    columnStep =
        arith::SelectOp::create(b, loc, few, index(llvm::alignTo(1024, panel)),
                                index(llvm::alignTo(64, panel)));
  }
};
} // namespace

/// The part of the weight with the columns of `range`.
static Value weightTile(OpBuilder &b, ProjectOp op, Value weight,
                        Extent range) {
  auto type = cast<RankedTensorType>(weight.getType());
  auto whole = [&](int64_t i) {
    return Extent{b.getIndexAttr(0), b.getIndexAttr(type.getDimSize(i))};
  };
  Location loc = op.getLoc();
  if (type.getRank() == 2)
    return extract(b, loc, weight, {whole(0), range}, 2);
  Extent panels = panelRange(b, loc, range, type.getDimSize(2));
  return extract(b, loc, weight, {panels, whole(1), whole(2)}, 3);
}

static void tileProjection(ProjectOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(rewriter, shapes); // never fails
  auto type = op.getType();
  bool batched = type.getRank() == 3;
  Tiling tiling(rewriter, op, shapes[0][batched ? 1 : 0]);
  auto schedule = CPUScheduleAttr::of(op);
  Value packed = op.getWeight();
  if (ElementsAttr panels = packConstant(packed, schedule.getQueryBlock()))
    packed = arith::ConstantOp::create(rewriter, loc, panels);
  Value empty = emptyResults(rewriter, op)[0];
  auto tiles = [&](Value total, Value step) {
    return arith::CeilDivUIOp::create(rewriter, loc, total, step).getResult();
  };
  SmallVector<OpFoldResult> bounds{
      batched ? shapes[0][0] : OpFoldResult(rewriter.getIndexAttr(1)),
      tiles(tiling.rows, tiling.rowStep),
      tiles(tiling.columns, tiling.columnStep)};
  auto forall = scf::ForallOp::create(rewriter, loc, bounds, ValueRange(empty),
                                      /*mapping=*/std::nullopt);
  rewriter.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent row = tileRange(rewriter, loc, ivs[1], tiling.rowStep, tiling.rows);
  Extent column =
      tileRange(rewriter, loc, ivs[2], tiling.columnStep, tiling.columns);
  Extent all{rewriter.getIndexAttr(0),
             rewriter.getIndexAttr(op.getWeight().getType().getDimSize(0))};
  SmallVector<Extent> inputRanges{row, all}, outRanges{row, column};
  if (batched) {
    Extent entry{ivs[0], rewriter.getIndexAttr(1)};
    inputRanges.insert(inputRanges.begin(), entry);
    outRanges.insert(outRanges.begin(), entry);
  }
  Value input = extract(rewriter, loc, op.getInput(), inputRanges, 2);
  Value weight = weightTile(rewriter, op, packed, column);
  Value bias = op.getBias() ? extract(rewriter, loc, op.getBias(), {column}, 1)
                            : Value();
  Value out =
      extract(rewriter, loc, forall.getRegionIterArgs().front(), outRanges, 2);
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
    for (ProjectOp op : ops)
      if (!op.getScheduleAttr()) {
        op.emitOpError("has no schedule; run attn-assign-schedule before "
                       "attn-tile-projections");
        return signalPassFailure();
      }
    IRRewriter rewriter(&getContext());
    for (ProjectOp op : ops)
      tileProjection(op, rewriter);
  }
};
} // namespace
