// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of schedules for a GPU. Numbers are those of docs/SpecTiles.md.
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

int64_t GPUScheduleAttr::sharedBytes(int64_t keyFeatures, int64_t valueFeatures,
                                     Type element) const {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  auto row = [&](int64_t features) {
    return static_cast<int64_t>(llvm::alignTo(features, 16)) * bytes + 16;
  };
  return (getQueryTile() + getKeyTile()) * row(keyFeatures) +
         getKeyTile() * row(valueFeatures);
}

/// Another tile of a product; where warps side by side would have too few
/// columns, they are one below the other, and no more than have rows.
static GPUScheduleAttr withTile(GPUScheduleAttr of, int64_t rows,
                                int64_t columns) {
  int64_t warps = of.getWarps(), columnWarps = of.getColumnWarps();
  if (!llvm::isPowerOf2_64(columns) || columns < 16 * columnWarps) {
    columnWarps = 1;
    warps = std::min(warps, rows / 16);
  }
  return GPUScheduleAttr::get(of.getContext(), rows, columns, warps,
                              of.getKind(), of.getSplitKeys(), columnWarps,
                              of.getFeatureParts());
}

GPUScheduleAttr GPUScheduleAttr::getHalf() const {
  int64_t least = 16 * getWarps() / getColumnWarps();
  auto columns = llvm::alignTo(llvm::divideCeil(getKeyTile(), 2), 16);
  return withTile(*this, std::max(getQueryTile() / 2, least),
                  static_cast<int64_t>(columns));
}

GPUScheduleAttr GPUScheduleAttr::getNarrow(int64_t columns) const {
  uint64_t tile = llvm::alignTo(columns, 16);
  if (getColumnWarps() > 1) // some of whose columns may not be there
    tile = std::max<uint64_t>(llvm::PowerOf2Ceil(tile), 16 * getColumnWarps());
  auto width = static_cast<int64_t>(tile);
  return width < getKeyTile() ? withTile(*this, getQueryTile(), width) : *this;
}

GPUScheduleAttr GPUScheduleAttr::getInParts(int64_t tiles, int64_t features,
                                            Type element) const {
  // Blocks of one warp hide the time of memory together.
  const int64_t wanted = getWarps() == 1 ? 512 : 256, leastFeatures = 512;
  // Of fewer, adding the parts takes as long as is won.
  constexpr int64_t leastBits = 8 << 12;
  auto with = [&](int64_t parts) {
    return get(getContext(), getQueryTile(), getKeyTile(), getWarps(),
               getKind(), getSplitKeys(), getColumnWarps(), parts);
  };
  int64_t parts = 1;
  while (2 * parts <= mostFeatureParts && tiles <= wanted / (2 * parts) &&
         features >= 2 * parts * leastFeatures &&
         features * element.getIntOrFloatBitWidth() >= leastBits &&
         with(2 * parts).dividesEvenly(features))
    parts *= 2;
  return with(parts);
}

// TableGen gives a verifier as many parameters as the attribute has.
LogicalResult
GPUScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t queryTile, int64_t keyTile, int64_t warps,
                        Kind kind, int64_t splitKeys, int64_t columnWarps,
                        int64_t featureParts) {
  // Halves of a warp's rows, and of the keys of a step, lie side by side.
  if (!llvm::isPowerOf2_64(warps) || warps > 16) // C1
    return emitError() << "expects 1, 2, 4, 8 or 16 warps, but got " << warps;
  if (columnWarps < 1 || columnWarps > warps ||
      !llvm::isPowerOf2_64(columnWarps) ||
      (columnWarps > 1 &&
       (kind == Kind::Decode || !llvm::isPowerOf2_64(keyTile) ||
        keyTile < 16 * columnWarps))) // C5
    return emitError() << "expects column_warps to be a power of two up to "
                          "warps, and 1 in kind decode or where key_tile is no "
                          "power of two that has 16 for each, but got "
                       << columnWarps;
  int64_t rowWarps = warps / columnWarps;
  if (!llvm::isPowerOf2_64(queryTile) || queryTile < 16 * rowWarps ||
      queryTile > 64 * rowWarps) // C2
    return emitError() << "expects query_tile to be 16, 32 or 64 for each of "
                       << rowWarps << " warps, but got " << queryTile;
  if (keyTile < 16 || keyTile % 16 || keyTile > 256) // C3
    return emitError() << "expects key_tile to be a multiple of 16 up to 256, "
                          "but got "
                       << keyTile;
  if (featureParts < 1 || featureParts > mostFeatureParts ||
      (featureParts > 1 && kind == Kind::Decode)) // C6
    return emitError() << "expects feature_parts of 1 to " << mostFeatureParts
                       << ", and 1 in kind decode, but got " << featureParts;
  constexpr int64_t mostSplit = int64_t(1) << 40;
  bool decode = kind == Kind::Decode;
  if (splitKeys < 0 || splitKeys > mostSplit || splitKeys % keyTile ||
      decode != (splitKeys > 0)) // C4
    return emitError() << "expects split_keys in kind decode, as a multiple of "
                          "key_tile, and not in kind prefill";
  return success();
}
