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
// A tile has at most the rows of the schedule, and as many columns as sums that
// wait for more products keep in a level-2 cache; all tiles are of the same
// size, as far as that is possible.
//
// More rows than two tiles have share panels of the weight, which a loop in
// front writes to memory:
//          %p = scf.forall (%i) .. shared_outs(%o = %empty : P x K x panel) {
//            attn.pack_panels %w_columns outs(%o_panels ..)
//          }
// where panel p holds the columns from p * panel on. Fewer rows read the weight
// as it is. Where the number of rows is known at run time only, both loops are
// there, and one of them has no items.
//
// Batch entries of one row that share a weight are the rows of one product, for
// which the weight is read once.
//
// An op with a few_rows_schedule has a third loop, for few rows.
//
// A product that may have few rows has tiles marked `attn.few_rows`, which get
// code that overlaps multiplying with reading the weight.
//
// Elementwise ops behind the product (Epilogue.h) are computed from the sums of
// a tile, before these are written.
//
// A weight that is a constant of at least one panel of columns becomes a
// constant of panels, so that nothing is packed at run time. The rest of the
// last panel is 0. A narrower one that is transposed becomes one that is not.
// Other users keep the matrix.
//
// Before: every project has a schedule. After: no project is left.
#include "ConstantWeight.h"
#include "EmptyResults.h"
#include "Epilogue.h"
#include "Extents.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Utils/FewRows.h"
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

/// Tiles of rows that read a weight in place, because writing panels takes as
/// long as reading once more. A transposed weight, or one in pairs, is packed
/// by each.
static int64_t inPlaceTiles(ProjectOp op, CPUScheduleAttr schedule) {
  return op.getTransposed() || schedule.usesDot() ? 1 : 2;
}

/// Panels that an item packs: rows of a page of memory.
static constexpr int64_t panelsPerItem = 4;

namespace {
/// Emits the loops of one projection.
class ProjectionTiler {
public:
  ProjectionTiler(ProjectOp op, IRRewriter &rewriter);

  void tile();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value ceilDiv(Value a, Value divisor) {
    return b.createOrFold<arith::CeilDivUIOp>(loc, a, divisor);
  }
  /// The largest size of equal parts of at most `most`, a multiple of `unit`.
  Value evenParts(Value total, Value most, int64_t unit);
  Value select(Value condition, Value then, Value otherwise) {
    return b.createOrFold<arith::SelectOp>(loc, condition, then, otherwise);
  }
  Value atMost(Value count, int64_t limit) {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, count,
                                         index(limit));
  }
  Extent whole(Value tensor, int64_t dim);

  void use(CPUScheduleAttr other);
  Value weightOf(Value weight, Value entry, Extent first, Extent second);
  OpFoldResult rowsOfPanel(OpFoldResult depth);
  Value packedWeight(Value isMany);
  Value multiply(Value weight, Value batches, Value destination);
  Value multiplyInPlace(Value batchCount, Value destination);
  bool hasFewRows() const;

  ProjectOp op;
  Epilogue epilogue;
  IRRewriter &b;
  Location loc;
  CPUScheduleAttr schedule;
  bool batched;
  bool joined;
  int64_t panel;
  /// Rows that the tiles have at most, where that is less than the schedule's.
  std::optional<int64_t> mostRows;
  Value batches, rows, columns, panels;
};
} // namespace

ProjectionTiler::ProjectionTiler(ProjectOp op, IRRewriter &rewriter)
    : op(op), epilogue(op, "attn-tile-projections"), b(rewriter),
      loc(op.getLoc()), schedule(CPUScheduleAttr::of(op)),
      batched(op.getType().getRank() == 3), joined(op.joinsEntries()) {
  SmallVector<Value> sizes = epilogue.begin(b);
  batches = batched && !joined ? sizes[0] : index(1);
  rows = sizes[batched && !joined];
  columns = sizes[batched + 1];
  use(schedule);
}

void ProjectionTiler::use(CPUScheduleAttr other) {
  schedule = other;
  panel = schedule.getQueryBlock();
  panels = ceilDiv(columns, index(panel));
}

Value ProjectionTiler::evenParts(Value total, Value most, int64_t unit) {
  Value parts = ceilDiv(total, most);
  parts = b.createOrFold<arith::MaxUIOp>(loc, parts, index(1));
  Value units = ceilDiv(ceilDiv(total, parts), index(unit));
  units = b.createOrFold<arith::MaxUIOp>(loc, units, index(1));
  return b.createOrFold<arith::MulIOp>(loc, units, index(unit));
}

Extent ProjectionTiler::whole(Value tensor, int64_t dim) {
  return {b.getIndexAttr(0), tensor::getMixedSize(b, loc, tensor, dim)};
}

/// A matrix of the weight, or panels of it, of one batch entry.
Value ProjectionTiler::weightOf(Value weight, Value entry, Extent first,
                                Extent second) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<Extent> ranges{first, second};
  int64_t rank = type.getRank() - op.hasWeights();
  if (rank == 3)
    ranges.push_back(whole(weight, type.getRank() - 1));
  if (op.hasWeights())
    ranges.insert(ranges.begin(), Extent{entry, b.getIndexAttr(1)});
  return extract(b, loc, weight, ranges, rank);
}

/// The rows of a panel of a weight that has `depth`.
OpFoldResult ProjectionTiler::rowsOfPanel(OpFoldResult depth) {
  if (!schedule.usesDot())
    return depth;
  int64_t rows = schedule.getRowsPerProduct();
  Value products = ceilDiv(getValueOrCreateConstantIndexOp(b, loc, depth),
                           index(rows * schedule.getNumbersPerElement()));
  return getAsOpFoldResult(
      b.createOrFold<arith::MulIOp>(loc, products, index(rows)));
}

/// The weight in panels, of which there are none unless `isMany`.
Value ProjectionTiler::packedWeight(Value isMany) {
  Value weight = op.getWeight();
  Value count = select(isMany, panels, index(0));
  Extent depth = whole(weight, op.depthDim());
  OpFoldResult panelRows = rowsOfPanel(depth.count);
  SmallVector<OpFoldResult> sizes{getAsOpFoldResult(count), panelRows,
                                  b.getIndexAttr(schedule.getPanelWidth())};
  Value entries = op.hasWeights() ? batches : index(1);
  if (op.hasWeights())
    sizes.insert(sizes.begin(), getAsOpFoldResult(batches));
  // Numbers of 16 bits are converted once, and not for every block of rows.
  Type element = op.getWeight().getType().getElementType();
  if (element.getIntOrFloatBitWidth() < 32 && !schedule.usesDot())
    element = b.getF32Type();
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(entries),
      getAsOpFoldResult(ceilDiv(count, index(panelsPerItem)))};
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(empty),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent column =
      tileRange(b, loc, ivs[1], index(panelsPerItem * panel), columns);
  Value part = weightPart(b, op, ivs[0], wholeDepth(b, op), column);
  SmallVector<Extent> ranges{panelRange(b, loc, column, panel),
                             Extent{b.getIndexAttr(0), panelRows},
                             Extent{b.getIndexAttr(0), sizes.back()}};
  if (op.hasWeights())
    ranges.insert(ranges.begin(), Extent{ivs[0], b.getIndexAttr(1)});
  Value out = extract(b, loc, forall.getRegionIterArgs().front(), ranges, 3);
  auto pack = PackPanelsOp::create(b, loc, TypeRange(out.getType()), part,
                                   op.getTransposed(), out, schedule);
  insertInParallel(b, forall, pack.getResult(0), ranges);
  return forall.getResult(0);
}

bool ProjectionTiler::hasFewRows() const {
  std::optional<int64_t> known = getConstantIntValue(rows);
  int64_t most = mostFewRows(schedule);
  return most > 0 && (!known || *known <= most);
}

/// The loop over all tiles, whose weight is a matrix or panels.
Value ProjectionTiler::multiply(Value weight, Value batchCount,
                                Value destination) {
  Value rowStep =
      evenParts(rows, index(schedule.getQueryTile()), schedule.getRows());
  Value most = index(schedule.getColumnTile());
  std::optional<int64_t> known = getConstantIntValue(columns);
  bool isWide = !known || *known > schedule.getColumnTile();
  if (weight == op.getWeight() && !op.getTransposed() && isWide)
    most = select(atMost(rows, schedule.getFewRows()),
                  index(schedule.getWideColumnTile()), most);
  Value columnStep = evenParts(columns, most, panel);
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(batchCount), getAsOpFoldResult(ceilDiv(rows, rowStep)),
      getAsOpFoldResult(ceilDiv(columns, columnStep))};
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(destination),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent row = tileRange(b, loc, ivs[1], rowStep, rows);
  Extent column = tileRange(b, loc, ivs[2], columnStep, columns);
  Value x = op.getInput();
  SmallVector<Extent> inputRanges =
                          rangesOf(b, op, ivs[0], row, whole(x, batched + 1)),
                      outRanges = rangesOf(b, op, ivs[0], row, column);
  Value input = extract(b, loc, x, inputRanges, 2, joined);
  bool inPanels = weight != op.getWeight();
  Value part = inPanels
                   ? weightOf(weight, ivs[0], panelRange(b, loc, column, panel),
                              whole(weight, 1 + op.hasWeights()))
                   : weightPart(b, op, ivs[0], wholeDepth(b, op), column);
  Value bias =
      op.getBias() ? extract(b, loc, op.getBias(), {column}, 1) : Value();
  Value out =
      extract(b, loc, forall.getRegionIterArgs().front(), outRanges, 2, joined);
  auto tile = ProjectTileOp::create(b, loc, TypeRange(out.getType()), input,
                                    part, !inPanels && op.getTransposed(), bias,
                                    /*captures=*/ValueRange(), out, schedule,
                                    /*epilogueCount=*/!epilogue.empty());
  if (hasFewRows())
    tile->setAttr(fewRowsAttr, b.getUnitAttr());
  if (mostRows)
    tile->setAttr(mostRowsAttr, b.getI64IntegerAttr(*mostRows));
  if (!epilogue.empty())
    epilogue.addTo(b, tile.getEpilogue().front(), tile.getCapturesMutable(),
                   ivs[0], row, column);
  insertInParallel(b, forall, tile.getResult(0), outRanges);
  return forall.getResult(0);
}

/// The loops that read the weight as it is, of which those of few rows have a
/// schedule of their own.
Value ProjectionTiler::multiplyInPlace(Value batchCount, Value destination) {
  auto few = cast_or_null<CPUScheduleAttr>(op.getFewRowsScheduleAttr());
  if (!few)
    return multiply(op.getWeight(), batchCount, destination);
  CPUScheduleAttr usual = schedule;
  Value isFew = atMost(rows, mostRowsInNumbers(usual)), none = index(0);
  use(few);
  mostRows = mostRowsInNumbers(usual);
  destination =
      multiply(op.getWeight(), select(isFew, batchCount, none), destination);
  mostRows.reset();
  use(usual);
  return multiply(op.getWeight(), select(isFew, none, batchCount), destination);
}

void ProjectionTiler::tile() {
  Value result = epilogue.emptyResult(b);
  if (ElementsAttr constant = packConstant(op, schedule)) {
    Value weight = arith::ConstantOp::create(b, loc, constant);
    return epilogue.replaceBy(b, multiply(weight, batches, result));
  }
  straightenConstant(op, b);
  Value total = op.hasWeights()
                    ? rows
                    : b.createOrFold<arith::MulIOp>(loc, batches, rows);
  int64_t most = inPlaceTiles(op, schedule) * schedule.getQueryTile();
  Value isMany = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt,
                                               total, index(most));
  std::optional<int64_t> known = getConstantIntValue(isMany);
  Value none = index(0);
  if (!known || !*known)
    result = multiplyInPlace(select(isMany, none, batches), result);
  if (!known || *known)
    result =
        multiply(packedWeight(isMany), select(isMany, batches, none), result);
  epilogue.replaceBy(b, result);
}

namespace {
struct TileProjections : attn::impl::TileProjectionsBase<TileProjections> {
  void runOnOperation() override {
    SmallVector<ProjectOp> ops;
    getOperation()->walk([&](ProjectOp op) { ops.push_back(op); });
    for (ProjectOp op : ops)
      if (!isa_and_present<CPUScheduleAttr>(op.getScheduleAttr())) {
        op.emitOpError(
            "has no schedule for a CPU; run attn-assign-schedule before "
            "attn-tile-projections");
        return signalPassFailure();
      }
    IRRewriter rewriter(&getContext());
    for (ProjectOp op : ops) {
      shareDepth(rewriter, op);
      ProjectionTiler(op, rewriter).tile();
    }
  }
};
} // namespace
