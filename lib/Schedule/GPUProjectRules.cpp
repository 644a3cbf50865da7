// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of products on a GPU. A warp has 16 or 32 rows of a block's tile, and
// all of its columns.
#include "GPURules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace attn;

namespace {
/// A row of the table.
struct GPUProjectRule {
  int64_t mostRows, mostColumns; ///< of the product
  int64_t rows, columns, warps, columnWarps;
  unsigned since = 0; ///< compute capability, times 10
};
} // namespace

static constexpr int64_t many = std::numeric_limits<int64_t>::max();

// clang-format off
static constexpr GPUProjectRule rulesOf16Bits[] = {
  {16,   2048, 16,  16,  1, 1}, // columns are blocks, which read the weight
  {16,   many, 16,  32,  1, 1},
  {64,   many, 64,  64,  4, 1},
  {many, many, 128, 128, 4, 2}, // sums take 128 registers
};
// Numbers of f32 are two of tf32 each, which take registers as well.
static constexpr GPUProjectRule rulesOfF32[] = {
  {16,   2048, 16, 16, 1, 1},
  {16,   many, 16, 32, 1, 1},
  {many, many, 64, 128, 4, 2, 90}, // for sm_80 ptxas spills some bytes
  {many, many, 64, 64,  4, 1},
};
// clang-format on

/// Whether there is a kernel for the product: types, and sizes that its code
/// needs to know. The smallest products have most of a tile empty, and are
/// loops over their elements.
static bool hasTiles(ProjectOp op) {
  constexpr int64_t least = 16;
  RankedTensorType weight = op.getWeight().getType();
  Type element = weight.getElementType();
  bool isKnown = !ShapedType::isDynamic(weight.getDimSize(op.depthDim())) &&
                 !ShapedType::isDynamic(weight.getDimSize(op.columnDim()));
  return (element.isF16() || element.isBF16() || element.isF32()) &&
         element == op.getInput().getType().getElementType() &&
         op.getType().getElementTypeBitWidth() <= 32 && isKnown &&
         weight.getDimSize(op.depthDim()) >= least &&
         weight.getDimSize(op.columnDim()) >= least;
}

/// How many tiles a product of known rows has; `many` where batch entries are
/// unknown.
static int64_t tilesOf(ProjectOp op, GPUScheduleAttr schedule) {
  RankedTensorType type = op.getType();
  bool hasEntries = type.getRank() == 3 && !op.joinsEntries();
  if (hasEntries && type.isDynamicDim(0))
    return many;
  return (hasEntries ? type.getDimSize(0) : 1) *
         llvm::divideCeil(op.rowsOfProduct(), schedule.getQueryTile()) *
         llvm::divideCeil(type.getShape().back(), schedule.getKeyTile());
}

/// The tiles of a product of so many rows.
static GPUScheduleAttr scheduleOf(ProjectOp op, int64_t rows) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t columns = weight.getDimSize(op.columnDim());
  const GPUProjectRule *rule =
      llvm::find_if(weight.getElementType().isF32() ? ArrayRef(rulesOfF32)
                                                    : ArrayRef(rulesOf16Bits),
                    [&](const GPUProjectRule &r) {
                      return rows <= r.mostRows && columns <= r.mostColumns &&
                             computeCapability(op) >= r.since;
                    });
  return GPUScheduleAttr::get(op.getContext(), rule->rows, rule->columns,
                              rule->warps, Kind::Prefill, /*split_keys=*/0,
                              rule->columnWarps)
      .getNarrow(columns);
}

/// One that was written by hand.
static LogicalResult checkPinned(ProjectOp op) {
  bool isEven = true;
  int64_t features = op.getWeight().getType().getDimSize(op.depthDim());
  for (Attribute schedule :
       {op.getScheduleAttr(), op.getFewRowsScheduleAttr()}) {
    auto ofGPU = dyn_cast_or_null<GPUScheduleAttr>(schedule);
    if (schedule && !ofGPU)
      return op.emitOpError(
          "is not built for a GPU: the schedule is one for a CPU");
    isEven = isEven && (!ofGPU || ofGPU.dividesEvenly(features));
  }
  if (!isEven)
    return op.emitOpError() << "is not built for a GPU: feature_parts of a "
                               "multiple of 64 are, but there are "
                            << features << " features";
  if (hasTiles(op))
    return success();
  return op.emitOpError("is not built for a GPU with a schedule: f16, bf16 or "
                        "f32 with at least 16 features and columns, which are "
                        "known, are");
}

LogicalResult attn::assignGPU(ProjectOp op) {
  if (op.getScheduleAttr())
    return checkPinned(op);
  if (!hasTiles(op))
    return success();
  int64_t rows = op.rowsOfProduct();
  RankedTensorType weight = op.getWeight().getType();
  int64_t features = weight.getDimSize(op.depthDim());
  if (ShapedType::isDynamic(rows)) {
    GPUScheduleAttr few = scheduleOf(op, 1);
    int64_t tiles =
        llvm::divideCeil(weight.getDimSize(op.columnDim()), few.getKeyTile());
    op.setScheduleAttr(scheduleOf(op, many));
    op.setFewRowsScheduleAttr(
        few.getInParts(tiles, features, weight.getElementType()));
    return success();
  }
  GPUScheduleAttr schedule = scheduleOf(op, rows);
  if (schedule.getWarps() > 1 &&
      tilesOf(op, schedule) < GPUScheduleAttr::leastTiles)
    schedule = schedule.getHalf();
  op.setScheduleAttr(schedule.getInParts(tilesOf(op, schedule), features,
                                         weight.getElementType()));
  return success();
}
