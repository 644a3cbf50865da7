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
// Elementwise ops behind the product (Epilogue.h) are computed with its sums.
//
// Where tiles are few and features many, so many blocks as `feature_parts` have
// a part of the features each:
//
//          %sums = scf.forall (%i, %j, %p) in (%row_tiles, 6, 4)
//              shared_outs(%s = %empty : tensor<4x?x768xf32>) { .. }
//          %y = linalg.generic ins(%sums[0], .., %sums[3], %bias)
//
// Batch entries of one row that share a weight are the rows of one product.
//
// Before: attn-assign-gpu-schedule. After: no product with a schedule for a
// GPU; the others are left to attn-lower-products.
#include "Epilogue.h"
#include "Extents.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
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
  /// Range number `number` of such of `size`.
  Extent range(Value number, int64_t size, int64_t first = 0) {
    Value begin = b.createOrFold<arith::MulIOp>(loc, number, index(size));
    begin = b.createOrFold<arith::AddIOp>(loc, begin, index(first));
    return {getAsOpFoldResult(begin), b.getIndexAttr(size)};
  }
  /// Those of a part of sums, which has no dimension of 1 for joined entries.
  SmallVector<Extent> rangesOfPart(Value part, Value entry, Extent row,
                                   Extent column) {
    SmallVector<Extent> ranges{range(part, 1), row, column};
    if (apart)
      ranges.insert(ranges.begin() + 1, range(entry, 1));
    return ranges;
  }
  Value hasFewer(GPUScheduleAttr schedule, int64_t tiles);
  Value multiplyIf(Value condition, GPUScheduleAttr schedule, Value &count,
                   Value destination);
  Value multiply(GPUScheduleAttr schedule, Value count, Value destination);
  Value multiplyColumns(GPUScheduleAttr schedule, Value count,
                        Value destination);
  Value multiply(GPUScheduleAttr schedule, Columns columns, Value count,
                 Value destination);
  Value addParts(Value sums, ArrayRef<Extent> whole, Value destination);
  void endSum(OpBuilder &inner, ValueRange numbers, int64_t parts,
              Region &ending);

  ProjectOp op;
  Epilogue epilogue;
  IRRewriter &b;
  Location loc;
  bool apart; ///< entries have rows of their own
  Value entries, rows;
};
} // namespace

ProductTiler::ProductTiler(ProjectOp op, IRRewriter &rewriter)
    : op(op), epilogue(op, "attn-tile-products"), b(rewriter),
      loc(op.getLoc()) {
  SmallVector<Value> sizes = epilogue.begin(b);
  apart = op.getType().getRank() == 3 && !op.joinsEntries();
  entries = apart ? sizes[0] : index(1);
  rows = sizes[apart];
}

/// Adds a block for each tile of these columns, and for each part of the
/// features, of which `destination` has sums then, part after part.
Value ProductTiler::multiply(GPUScheduleAttr schedule, Columns columns,
                             Value count, Value destination) {
  Value rowStep = index(schedule.getQueryTile());
  SmallVector<OpFoldResult> bounds{
      getAsOpFoldResult(count),
      getAsOpFoldResult(b.createOrFold<arith::CeilDivUIOp>(loc, rows, rowStep)),
      b.getIndexAttr(columns.count)};
  bool inParts = schedule.getFeatureParts() > 1;
  if (inParts)
    bounds.push_back(b.getIndexAttr(schedule.getFeatureParts()));
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(destination),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ivs = forall.getInductionVars();
  Extent row = tileRange(b, loc, ivs[1], rowStep, rows),
         column = range(ivs[2], columns.width, columns.begin),
         depth = wholeDepth(b, op);
  if (inParts)
    depth = range(ivs[3], *getConstantIntValue(depth.count) /
                              schedule.getFeatureParts());
  SmallVector<Extent> ranges = rangesOf(b, op, ivs[0], row, column);
  if (inParts)
    ranges = rangesOfPart(ivs[3], ivs[0], row, column);
  Value input =
      extract(b, loc, op.getInput(), rangesOf(b, op, ivs[0], row, depth), 2,
              op.joinsEntries());
  Value weight = weightPart(b, op, ivs[0], depth, column);
  Value bias = op.getBias() && !inParts
                   ? extract(b, loc, op.getBias(), {column}, 1)
                   : Value();
  Value out = extract(b, loc, forall.getRegionIterArgs().front(), ranges, 2,
                      op.joinsEntries() && !inParts);
  bool ends = !inParts && !epilogue.empty();
  auto tile = ProjectBlockOp::create(
      b, loc, TypeRange(out.getType()), input, weight, op.getTransposed(), bias,
      /*captures=*/ValueRange(), out, schedule, /*epilogueCount=*/ends);
  if (ends)
    epilogue.addTo(b, tile.getEpilogue().front(), tile.getCapturesMutable(),
                   ivs[0], row, column);
  insertInParallel(b, forall, tile.getResult(0), ranges);
  return forall.getResult(0);
}

/// All columns: whole tiles, and what is left.
Value ProductTiler::multiplyColumns(GPUScheduleAttr schedule, Value count,
                                    Value destination) {
  int64_t all = op.getWeight().getType().getDimSize(op.columnDim()),
          width = schedule.getKeyTile();
  if (all >= width)
    destination =
        multiply(schedule, {0, all / width, width}, count, destination);
  if (int64_t left = all % width)
    destination = multiply(schedule.getNarrow(left), {all - left, 1, left},
                           count, destination);
  return destination;
}

/// Adds up the parts of sums, and all that follows a product, in the elements
/// of `destination` that `count` entries have.
Value ProductTiler::addParts(Value sums, ArrayRef<Extent> whole,
                             Value destination) {
  int64_t rank = apart ? 3 : 2,
          parts = cast<ShapedType>(sums.getType()).getDimSize(0);
  bool joined = op.joinsEntries();
  auto ofWhole = [&](Value tensor) {
    return extract(b, loc, tensor, whole, rank, joined);
  };
  SmallVector<Value> inputs;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<Extent> ranges{range(index(part), 1)};
    for (auto [dim, extent] : llvm::enumerate(whole))
      if (!joined || dim != 1)
        ranges.push_back(extent);
    inputs.push_back(extract(b, loc, sums, ranges, rank));
  }
  AffineMap element = b.getMultiDimIdentityMap(rank),
            column = element.getMinorSubMap(1);
  SmallVector<AffineMap> maps(parts, element);
  auto read = [&](Value tensor, bool isRow) {
    inputs.push_back(isRow ? tensor : ofWhole(tensor));
    maps.push_back(isRow ? column : element);
  };
  if (op.getBias())
    read(op.getBias(), /*isRow=*/true);
  Region ending;
  if (!epilogue.empty())
    for (auto [tensor, isRow] : epilogue.emit(ending))
      read(tensor, isRow);
  maps.push_back(element);
  Value out = ofWhole(destination);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, out.getType(), inputs, out, maps, loops,
      [&](OpBuilder &inner, Location, ValueRange numbers) {
        endSum(inner, numbers.drop_back(), parts, ending);
      });
  SmallVector<OpFoldResult> offsets, sizes,
      strides(whole.size(), b.getIndexAttr(1));
  for (const Extent &extent : whole) {
    offsets.push_back(extent.begin);
    sizes.push_back(extent.count);
  }
  return tensor::InsertSliceOp::create(b, loc, generic.getResult(0),
                                       destination, offsets, sizes, strides);
}

/// An element: the sums of the parts in their order, the bias, and what the
/// epilogue makes of these and of what it captured.
void ProductTiler::endSum(OpBuilder &inner, ValueRange numbers, int64_t parts,
                          Region &ending) {
  auto convert = [&](Value x, Type type) {
    return convertScalarToDtype(inner, loc, x, type, /*isUnsignedCast=*/false);
  };
  Type f32 = inner.getF32Type();
  Value sum = numbers[0];
  for (Value other : numbers.slice(1, parts - 1))
    sum = arith::AddFOp::create(inner, loc, sum, other);
  if (op.getBias())
    sum = arith::AddFOp::create(inner, loc, sum, convert(numbers[parts], f32));
  sum = convert(sum, op.getType().getElementType());
  if (!ending.empty()) {
    IRMapping values;
    mlir::Block &block = ending.front();
    values.map(block.getArgument(0), sum);
    values.map(block.getArguments().drop_front(),
               numbers.take_back(block.getNumArguments() - 1));
    for (Operation &each : block.without_terminator())
      inner.clone(each, values);
    sum = values.lookup(block.getTerminator()->getOperand(0));
  }
  linalg::YieldOp::create(inner, loc, sum);
}

Value ProductTiler::multiply(GPUScheduleAttr schedule, Value count,
                             Value destination) {
  int64_t parts = schedule.getFeatureParts();
  if (parts == 1)
    return multiplyColumns(schedule, count, destination);
  // Empty where other loops have the items.
  Value own = apart ? rows : b.createOrFold<arith::MulIOp>(loc, count, rows);
  auto all = [&](OpFoldResult size) -> Extent {
    return {b.getIndexAttr(0), size};
  };
  int64_t columns = op.getWeight().getType().getDimSize(op.columnDim());
  SmallVector<Extent> whole{all(getAsOpFoldResult(own)),
                            all(b.getIndexAttr(columns))};
  if (apart)
    whole.insert(whole.begin(), all(getAsOpFoldResult(count)));
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(parts)};
  for (const Extent &extent : whole)
    sizes.push_back(extent.count);
  if (op.joinsEntries())
    whole.insert(whole.begin() + 1, all(b.getIndexAttr(1)));
  Value sums = tensor::EmptyOp::create(b, loc, sizes, b.getF32Type());
  return addParts(multiplyColumns(schedule, count, sums), whole, destination);
}

/// Whether there are fewer tiles of a schedule than that.
Value ProductTiler::hasFewer(GPUScheduleAttr schedule, int64_t tiles) {
  int64_t columns = op.getWeight().getType().getDimSize(op.columnDim());
  Value ofRows = b.createOrFold<arith::CeilDivUIOp>(
      loc, rows, index(schedule.getQueryTile()));
  Value all = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::MulIOp>(loc, entries, ofRows),
      index(llvm::divideCeil(columns, schedule.getKeyTile())));
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, all,
                                       index(tiles));
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
  Value result = epilogue.emptyResult(b);
  auto many = cast<GPUScheduleAttr>(op.getScheduleAttr());
  Value count = entries;
  if (auto few = cast_or_null<GPUScheduleAttr>(op.getFewRowsScheduleAttr())) {
    RankedTensorType weight = op.getWeight().getType();
    Value isFew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows,
                                        index(few.getQueryTile()));
    result = multiplyIf(isFew, few, count, result);
    GPUScheduleAttr half = many.getHalf();
    int64_t ofTwoRows = 2 * llvm::divideCeil(weight.getDimSize(op.columnDim()),
                                             half.getKeyTile());
    GPUScheduleAttr inParts = half.getInParts(
        ofTwoRows, weight.getDimSize(op.depthDim()), weight.getElementType());
    if (inParts.getFeatureParts() > 1)
      result = multiplyIf(hasFewer(half, GPUScheduleAttr::mostTilesInParts + 1),
                          inParts, count, result);
    result = multiplyIf(hasFewer(many, GPUScheduleAttr::leastTiles), half,
                        count, result);
  }
  result = multiply(many, count, result);
  Type type = epilogue.last()->getResult(0).getType();
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  epilogue.replaceBy(b, result);
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
