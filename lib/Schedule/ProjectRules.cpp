// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles and blocks of matrix products.
//
// A tile holds rows x vectors sums. The vectors of one row of the weight stay
// in registers while the scalars of the input are streamed, so it needs rows *
// vectors + vectors + 1 registers, and as many chains as hide the latency of a
// multiply-add. The input's rows of a tile, for `depth` products, take 400 KB
// of a level-2 cache: sums that wait in memory cost more than a panel of the
// weight that the level-1 cache cannot hold, because panels are prefetched.
// docs/Experiments.md has the measurements.
#include "Rules.h"

using namespace mlir;
using namespace attn;
using namespace attn::schedule;

namespace {
struct ProjectRule {
  int64_t registers, lanes; ///< at least
  ProjectSizes sizes;
};
} // namespace

// clang-format off
static constexpr ProjectRule projectRules[] = {
  // registers, lanes, {rows, vectors, unroll, rows of a tile, depth}
  {32, 8, {8, 3, 4, 96,  1024}}, // 24 chains, 0.46 loads per FMA
  {32, 2, {4, 5, 4, 100, 1024}}, // scalars come four at a time, which takes registers
  {16, 8, {6, 2, 4, 96,  1026}}, // 15 registers, 0.67 loads per FMA
  {16, 2, {6, 2, 1, 96,  1026}}, // without FMA a product needs a register of its own
};
// clang-format on

/// Tiles: 32 rows x 2 x 16 columns. A panel of 512 rows of the weight stays in
/// the level-1 cache while the rows of a tile come from the level-2 cache.
static constexpr ProjectSizes tilesOfBF16{32, 2, 1, 256, 512};
/// Pairs, of which a register holds as many as numbers of f32.
static constexpr ProjectSizes pairsOfBF16{8, 3, 4, 96, 2048};

const ProjectSizes &schedule::projectSizes(TargetAttr target,
                                           Products products) {
  if (products == Products::Amx)
    return tilesOfBF16;
  if (products == Products::Dot)
    return pairsOfBF16;
  auto fits = [&](const ProjectRule &rule) {
    return target.getRegisters() >= rule.registers &&
           target.getLanes() >= rule.lanes;
  };
  return llvm::find_if(projectRules, fits)->sizes;
}
