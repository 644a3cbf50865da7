// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

/// What an mma takes of features at once.
static constexpr int64_t featureUnit = 16;

static int64_t padded(int64_t features) {
  return llvm::divideCeil(features, featureUnit) * featureUnit;
}

/// A buffer behind the others, of which there are `bytes`. From row to row it
/// is an odd number of units of 16 bytes, for ldmatrix, or so many units more
/// than the columns as are asked for.
static tile::BufferType place(int64_t rows, int64_t columns, Type element,
                              int64_t &bytes, int64_t padding = 1) {
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  int64_t pitch = columns + padding * 16 / elementBytes;
  auto buffer =
      tile::BufferType::get(element.getContext(), rows, columns, element, pitch,
                            bytes / elementBytes, tile::BufferState::Free);
  bytes += buffer.getBytes();
  return buffer;
}

/// The memory of all buffers, for results of this element type; nothing where
/// they do not fit.
static std::optional<tile::BufferType>
placeResults(int64_t rows, int64_t columns, Type element, int64_t bytes) {
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return std::nullopt;
  int64_t needed = 0;
  tile::BufferType buffer = place(rows, columns, element, needed);
  if (needed > bytes)
    return std::nullopt;
  return buffer;
}

KernelPlan::KernelPlan(StateType state, Type element, GPUScheduleAttr schedule)
    : schedule(schedule) {
  MLIRContext *context = state.getContext();
  int64_t queryTile = schedule.getQueryTile(), keyTile = schedule.getKeyTile(),
          warps = schedule.getWarps();
  int64_t keyDim = padded(state.getKeyDim());
  int64_t valueDim = padded(state.getValueDim());
  queries = place(queryTile, keyDim, element, bytes);
  keys = place(keyTile, keyDim, element, bytes);
  values = place(keyTile, valueDim, element, bytes);
  assert(bytes == schedule.sharedBytes(state.getKeyDim(), state.getValueDim(),
                                       element) &&
         "tables of schedules know what fits");
  Type f32 = Float32Type::get(context);
  this->context =
      tile::FragmentType::get(context, queryTile, valueDim, f32, warps);
  scores = tile::FragmentType::get(context, queryTile, keyTile, f32, warps);
  rows = tile::RowsType::get(context, queryTile, warps);
}

std::optional<tile::BufferType> KernelPlan::results(Type element) const {
  return placeResults(queries.getRows(), values.getColumns(), element, bytes);
}

KernelPlan gpucode::planOf(InitStateOp op) {
  Type element = cast<ShapedType>(op.getQuery().getType()).getElementType();
  return KernelPlan(op.getType(), element, GPUScheduleAttr::of(op));
}

/// Places the buffers of a product for parts of `features`.
void ProductPlan::place(ProjectBlockOp op, int64_t columns, int64_t features) {
  Type element = getElementTypeOrSelf(op.getWeight().getType());
  int64_t rows = op.getSchedule().getQueryTile();
  // Of f32, four rows of eight columns are read at once.
  int64_t padding = element.isF32() && !op.getTransposed() ? 2 : 1;
  depth = std::min(padded(op.getDepth()), features);
  bytes = 0;
  for (int stage = 0; stage < 2; ++stage) {
    input[stage] = ::place(rows, depth, element, bytes);
    weight[stage] = op.getTransposed()
                        ? ::place(columns, depth, element, bytes)
                        : ::place(depth, columns, element, bytes, padding);
  }
}

// A long part hides the time that memory takes; two blocks are there at once.
ProductPlan::ProductPlan(ProjectBlockOp op) {
  constexpr int64_t mostBytes = 72 << 10;
  GPUScheduleAttr schedule = op.getSchedule();
  auto type = cast<ShapedType>(op.getWeight().getType());
  // Warps side by side have equally many columns.
  int64_t columns = schedule.getColumnWarps() > 1
                        ? schedule.getKeyTile()
                        : padded(type.getDimSize(!op.getTransposed()));
  for (int64_t ofRow : {512, 256, 128}) {
    place(op, columns, ofRow * 8 / type.getElementTypeBitWidth());
    if (bytes <= mostBytes)
      break;
  }
  sums =
      tile::FragmentType::get(op.getContext(), schedule.getQueryTile(), columns,
                              Float32Type::get(op.getContext()),
                              schedule.getWarps(), schedule.getColumnWarps());
  // Code for each of more numbers is longer than the instruction cache.
  constexpr int64_t mostNumbers = 32;
  int64_t numbers = sums.getRows() * sums.getColumns() / schedule.getThreads();
  Block *epilogue = op.getEpilogueBlock();
  if (epilogue && numbers > mostNumbers) {
    Type element = epilogue->getArgument(0).getType();
    ending = results(element);
    if (!ending)
      ending = ::place(sums.getRows(), sums.getColumns(), element, bytes);
  }
}

std::optional<tile::BufferType> ProductPlan::results(Type element) const {
  return placeResults(sums.getRows(), sums.getColumns(), element, bytes);
}
