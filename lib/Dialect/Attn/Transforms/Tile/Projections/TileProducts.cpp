// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-products: products become tiles of a GPU's blocks.
//
// Before:  %y = attn.project %x, %w, %bias {schedule = #attn.gpu_schedule<
//              query_tile = 128, key_tile = 128, warps = 4>}
// After:   %y = scf.forall (%n, %i, %j) in (%B, %row_tiles, 6)
//              shared_outs(%o = %empty) {
//            %t = attn.project_block %x_rows, %w_columns bias %b_columns
//                   outs(%o_tile ..)
//            scf.forall.in_parallel { tensor.parallel_insert_slice %t .. }
//          }
//
// All tiles of a loop have the same number of columns, which their kernel
// knows; columns that are left have a loop of their own. A product of an
// unknown number of rows has loops for few, for such that would be too few
// large tiles, and for many; all but one of these have no items.
//
// Batch entries of one row that share a weight are the rows of one product.
//
// Before: attn-assign-gpu-schedule. After: no product with a schedule for a
// GPU; the others are left to attn-lower-products.
#include "EmptyResults.h"
#include "Extents.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_TILEPRODUCTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Tiles of one width, side by side.
struct Columns {
  int64_t begin, count, width;
};

/// Writes the loops of one product.
class ProductTiler {
public:
  ProductTiler(ProjectOp op, IRRewriter &rewriter);
  void tile();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value leavesIdle(GPUScheduleAttr schedule);
  Value multiplyIf(Value condition, GPUScheduleAttr schedule, Value &count,
                   Value destination);
  Value multiply(GPUScheduleAttr schedule, Value count, Value destination);
  Value multiply(GPUScheduleAttr schedule, Columns columns, Value count,
                 Value destination);

  ProjectOp op;
  IRRewriter &b;
  Location loc;
  Value entries, rows;
};
} // namespace

ProductTiler::ProductTiler(ProjectOp op, IRRewriter &rewriter)
    : op(op), b(rewriter), loc(op.getLoc()) {
  b.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getInput());
  auto size = [&](unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, loc, sizes[dim]);
  };
  bool apart = op.getType().getRank() == 3 && !op.joinsEntries();
  entries = apart ? size(0) : index(1);
  rows = size(apart);
}

Value ProductTiler::multiply(GPUScheduleAttr schedule, Columns columns,
                             Value count, Value destination) {
  Value rowStep = index(schedule.getQueryTile());
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(count),
      getAsOpFoldResult(b.createOrFold<arith::CeilDivUIOp>(loc, rows, rowStep)),
      b.getIndexAttr(columns.count)};
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(destination),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent row = tileRange(b, loc, ivs[1], rowStep, rows);
  Value begin = arith::AddIOp::create(
      b, loc, index(columns.begin),
      arith::MulIOp::create(b, loc, ivs[2], index(columns.width)));
  Extent column{begin, b.getIndexAttr(columns.width)};
  Value x = op.getInput();
  Extent depth{b.getIndexAttr(0),
               tensor::getMixedSize(b, loc, x, op.getType().getRank() - 1)};
  bool joined = op.joinsEntries();
  Value input =
      extract(b, loc, x, rangesOf(b, op, ivs[0], row, depth), 2, joined);
  Value weight = weightColumns(b, op, ivs[0], column);
  Value bias =
      op.getBias() ? extract(b, loc, op.getBias(), {column}, 1) : Value();
  SmallVector<Extent> ranges = rangesOf(b, op, ivs[0], row, column);
  Value out =
      extract(b, loc, forall.getRegionIterArgs().front(), ranges, 2, joined);
  auto tile =
      ProjectBlockOp::create(b, loc, TypeRange(out.getType()), input, weight,
                             op.getTransposed(), bias, out, schedule);
  insertInParallel(b, forall, tile.getResult(0), ranges);
  return forall.getResult(0);
}

/// All columns: whole tiles, and what is left.
Value ProductTiler::multiply(GPUScheduleAttr schedule, Value count,
                             Value destination) {
  int64_t all = op.getWeight().getType().getDimSize(op.columnDim()),
          width = schedule.getKeyTile();
  if (all >= width)
    destination =
        multiply(schedule, {0, all / width, width}, count, destination);
  if (int64_t left = all % width) {
    auto narrow = GPUScheduleAttr::get(
        b.getContext(), schedule.getQueryTile(), llvm::alignTo(left, 16),
        schedule.getWarps(), schedule.getKind(), schedule.getSplitKeys());
    destination = multiply(narrow, {all - left, 1, left}, count, destination);
  }
  return destination;
}

/// Whether tiles of a schedule are too few for all multiprocessors of a chip.
Value ProductTiler::leavesIdle(GPUScheduleAttr schedule) {
  int64_t columns = op.getWeight().getType().getDimSize(op.columnDim());
  Value ofRows = b.createOrFold<arith::CeilDivUIOp>(
      loc, rows, index(schedule.getQueryTile()));
  Value tiles = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::MulIOp>(loc, entries, ofRows),
      index(llvm::divideCeil(columns, schedule.getKeyTile())));
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, tiles,
                                       index(GPUScheduleAttr::leastTiles));
}

/// Adds the loops of tiles whose schedule is chosen where `condition` holds;
/// the others have what is left of `count`.
Value ProductTiler::multiplyIf(Value condition, GPUScheduleAttr schedule,
                               Value &count, Value destination) {
  Value none = index(0);
  Value own = arith::SelectOp::create(b, loc, condition, count, none);
  count = arith::SelectOp::create(b, loc, condition, none, count);
  return multiply(schedule, own, destination);
}

void ProductTiler::tile() {
  Value result = emptyResults(b, op)[0];
  auto many = cast<GPUScheduleAttr>(op.getScheduleAttr());
  Value count = entries;
  if (auto few = cast_or_null<GPUScheduleAttr>(op.getFewRowsScheduleAttr())) {
    Value isFew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows,
                                        index(few.getQueryTile()));
    result = multiplyIf(isFew, few, count, result);
    result = multiplyIf(leavesIdle(many), many.getHalf(), count, result);
  }
  result = multiply(many, count, result);
  if (result.getType() != op.getType())
    result = tensor::CastOp::create(b, loc, op.getType(), result);
  b.replaceOp(op, result);
}

namespace {
struct TileProducts : attn::impl::TileProductsBase<TileProducts> {
  void runOnOperation() override {
    SmallVector<ProjectOp> ops;
    getOperation()->walk([&](ProjectOp op) {
      if (isa_and_present<GPUScheduleAttr>(op.getScheduleAttr()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (ProjectOp op : ops) {
      shareDepth(rewriter, op);
      ProductTiler(op, rewriter).tile();
    }
  }
};
} // namespace
