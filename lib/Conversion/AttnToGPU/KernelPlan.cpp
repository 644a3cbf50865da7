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

tile::BufferType KernelPlan::place(int64_t rows, int64_t columns,
                                   Type element) {
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  // An odd number of units of 16 bytes from row to row.
  int64_t pitch = columns + 16 / elementBytes;
  auto buffer =
      tile::BufferType::get(element.getContext(), rows, columns, element, pitch,
                            bytes / elementBytes, tile::BufferState::Free);
  bytes += buffer.getBytes();
  return buffer;
}

KernelPlan::KernelPlan(StateType state, Type element, GPUScheduleAttr schedule)
    : schedule(schedule) {
  MLIRContext *context = state.getContext();
  int64_t queryTile = schedule.getQueryTile(), keyTile = schedule.getKeyTile(),
          warps = schedule.getWarps();
  int64_t keyDim = padded(state.getKeyDim());
  int64_t valueDim = padded(state.getValueDim());
  queries = place(queryTile, keyDim, element);
  keys = place(keyTile, keyDim, element);
  values = place(keyTile, valueDim, element);
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
  int64_t columns = values.getColumns();
  int64_t pitch = columns + 16 / (element.getIntOrFloatBitWidth() / 8);
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return std::nullopt;
  auto buffer = tile::BufferType::get(element.getContext(), queries.getRows(),
                                      columns, element, pitch, /*offset=*/0,
                                      tile::BufferState::Free);
  if (buffer.getBytes() > bytes)
    return std::nullopt;
  return buffer;
}

KernelPlan gpucode::planOf(InitStateOp op) {
  Type element = cast<ShapedType>(op.getQuery().getType()).getElementType();
  return KernelPlan(op.getType(), element, GPUScheduleAttr::of(op));
}
