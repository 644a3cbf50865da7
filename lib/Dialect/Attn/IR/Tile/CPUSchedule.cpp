// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tile sizes kernels of a CPU can have. Numbers are those of
// docs/SpecTiles.md.
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// What no kernel has a use for: its code or its work space would take longer
/// to make than to run. All products of sizes are far from an overflow then.
struct Limit {
  StringRef name;
  int64_t value, most;
};
static LogicalResult
verifyLargestSizes(function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<Limit> limits) {
  for (auto [name, value, most] : limits)
    if (value > most)
      return emitError() << "expects " << name << " of at most " << most
                         << ", but got " << value;
  return success();
}

/// The multiply-adds that stand one behind the other in an inner loop. The
/// sizes are at most 128.
static LogicalResult
verifyCodeSize(function_ref<InFlightDiagnostic()> emitError, int64_t count,
               int64_t most, StringRef factors) {
  if (count > most)
    return emitError() << "expects " << factors << " * unroll of at most "
                       << most << ", but got " << count;
  return success();
}

/// Queries of a block of kind decode.
struct Blocks {
  int64_t lanes, rows, block, interleave;
};
static LogicalResult verifyBlocks(function_ref<InFlightDiagnostic()> emitError,
                                  bool decode, Blocks blocks,
                                  Products products) {
  auto [lanes, rows, block, interleave] = blocks;
  // A vector of weights holds whole pairs of keys.
  int64_t leastLanes = products == Products::Dot ? 16 : 8;
  bool largeBlock =
      decode && block == 8 && lanes >= leastLanes && rows * 8 % lanes == 0;
  if (block != 4 && !largeBlock) // C9
    return emitError() << "expects block to be 4 or, in kind decode with at "
                          "least 8 lanes (16 for pairs) and 8 * rows a "
                          "multiple of them, 8";
  bool interleaves = decode && (interleave == 2 || interleave == 4) &&
                     4 * interleave <= lanes && rows * block % lanes == 0;
  if (interleave != 1 && !interleaves) // C10
    return emitError() << "expects interleave to be 1 or, in kind decode with "
                          "rows * block a multiple of lanes, 2 or 4 and at "
                          "most a quarter of lanes";
  return success();
}

struct ProductSizes {
  int64_t lanes, rows, vectors, keyTile;
};
static LogicalResult
verifyProducts(function_ref<InFlightDiagnostic()> emitError, Products products,
               bool decode, ProductSizes sizes) {
  auto [lanes, rows, vectors, keyTile] = sizes;
  if (products == Products::Dot &&
      (rows % 2 || (decode && (vectors % 2 || keyTile % 2 || lanes < 8)))) // C6
    return emitError() << "expects products = dot to have an even number of "
                          "rows and, in kind decode, of vectors and keys, and "
                          "at least 8 lanes";
  if (products == Products::Amx && (decode || lanes != 16 || rows % 32)) // C7
    return emitError() << "expects products = amx to have kind prefill, 16 "
                          "lanes and a multiple of 32 rows";
  return success();
}

// TableGen gives a verifier as many parameters as the attribute has.
LogicalResult CPUScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t lanes, int64_t rows,
    int64_t vectors, int64_t queryTile, int64_t keyTile, int64_t unroll,
    int64_t prefetch, Kind kind, int64_t splitKeys, int64_t splitQueries,
    Products products, int64_t block, int64_t interleave) {
  if (lanes < 1 || (lanes & (lanes - 1))) // C1
    return emitError() << "expects lanes to be a power of two, but got "
                       << lanes;
  if (rows < 1 || vectors < 1 || unroll < 1 || prefetch < 0 ||
      prefetch > 3) // C2
    return emitError() << "expects rows, vectors and unroll of at least 1 and "
                          "prefetch between 0 and 3";
  constexpr int64_t mostSplit = int64_t(1) << 40;
  if (failed(verifyLargestSizes(
          emitError, {{"lanes", lanes, 64},
                      {"rows", rows, 128},
                      {"vectors", vectors, 32},
                      {"unroll", unroll, 64},
                      {"query_tile", queryTile, 4096},
                      {"key_tile", keyTile, 4096},
                      {"split_keys", splitKeys, mostSplit},
                      {"split_queries", splitQueries, mostSplit}}))) // C11
    return failure();
  bool decode = kind == Kind::Decode;
  if (splitKeys < 0 || splitKeys % std::max<int64_t>(keyTile, 1) ||
      (decode && (splitKeys == 0 || lanes < 4 || queryTile < 1))) // C5
    return emitError() << "expects split_keys to be a multiple of key_tile, "
                          "and kind decode to have some, a row and at least 4 "
                          "lanes";
  bool splitsPrefill = !decode && splitKeys > 0;
  if (splitsPrefill != (splitQueries != 0) || splitQueries < 0) // C8
    return emitError() << "expects split_queries of at least 1 where kind "
                          "prefill has split_keys, and none elsewhere";
  if (!decode && (queryTile < 1 || queryTile % (lanes * vectors))) // C3
    return emitError() << "expects query_tile to be a multiple of "
                       << lanes * vectors << " (lanes * vectors), but got "
                       << queryTile;
  if (keyTile < 1 || (!decode && keyTile % rows)) // C4
    return emitError() << "expects key_tile to be a multiple of " << rows
                       << " (rows), but got " << keyTile;
  if (failed(verifyProducts(emitError, products, decode,
                            {lanes, rows, vectors, keyTile})))
    return failure();
  if (failed(verifyBlocks(emitError, decode, {lanes, rows, block, interleave},
                          products)))
    return failure();
  // Scores of whole groups of rows are written, into room for a vector more.
  if (decode &&
      keyTile + (rows - keyTile % rows) % rows > keyTile + lanes) // C13
    return emitError() << "expects key_tile in kind decode, rounded up to a "
                          "multiple of rows, to grow by at most lanes, but got "
                       << keyTile << ", " << rows << " and " << lanes;
  if (!decode)
    return verifyCodeSize(emitError, rows * vectors * unroll, 128,
                          "rows * vectors"); // C12
  if (failed(verifyCodeSize(emitError, rows * block * unroll, 256,
                            "rows * block"))) // C12
    return failure();
  return verifyCodeSize(emitError, vectors * block * unroll, 256,
                        "vectors * block"); // C12
}
