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

GPUScheduleAttr GPUScheduleAttr::getHalf() const {
  int64_t rows = std::max(getQueryTile() / 2, 16 * getWarps());
  return get(getContext(), rows,
             llvm::alignTo(llvm::divideCeil(getKeyTile(), 2), 16), getWarps(),
             getKind(), getSplitKeys());
}

LogicalResult
GPUScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t queryTile, int64_t keyTile, int64_t warps,
                        Kind kind, int64_t splitKeys) {
  // Halves of a warp's rows, and of the keys of a step, lie side by side.
  if (!llvm::isPowerOf2_64(warps) || warps > 16) // C1
    return emitError() << "expects 1, 2, 4, 8 or 16 warps, but got " << warps;
  if (!llvm::isPowerOf2_64(queryTile) || queryTile < 16 * warps ||
      queryTile > 64 * warps) // C2
    return emitError() << "expects query_tile to be 16, 32 or 64 for each of "
                       << warps << " warps, but got " << queryTile;
  if (keyTile < 16 || keyTile % 16 || keyTile > 256) // C3
    return emitError() << "expects key_tile to be a multiple of 16 up to 256, "
                          "but got "
                       << keyTile;
  constexpr int64_t mostSplit = int64_t(1) << 40;
  bool decode = kind == Kind::Decode;
  if (splitKeys < 0 || splitKeys > mostSplit || splitKeys % keyTile ||
      decode != (splitKeys > 0)) // C4
    return emitError() << "expects split_keys in kind decode, as a multiple of "
                          "key_tile, and not in kind prefill";
  return success();
}
