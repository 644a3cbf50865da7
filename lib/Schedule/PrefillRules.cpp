// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles of kernels of kind prefill.
//
// A tile holds rows x vectors accumulators; the smaller side stays in registers
// while the longer is streamed one register at a time, so it needs
// rows * vectors + min(rows, vectors) + 1 registers, and enough chains to hide
// the latency of a multiply-add, with a quarter to spare. Fewer vectors waste
// fewer lanes of ragged queries and fewer pairs at the edge of a mask.
// docs/Experiments.md has the measurements.
#include "Rules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::schedule;

namespace {
enum class Mask { Any, Yes, No };
enum class Queries { Any, Ragged };

struct PrefillRule {
  /// Registers, lanes and queries at least, chains (of pairs, where these are
  /// multiplied) at most.
  int64_t registers, lanes, queries, chains;
  Mask mask;
  Queries which;
  bool attentionOnly;
  PrefillSizes sizes;
};
} // namespace

constexpr int64_t anyChains = 64, noLimit = 0;

/// Products of tiles: 32 keys x 2 x 16 queries.
static constexpr PrefillSizes productsOfTiles{32, 2, 1, 256};

// clang-format off
static constexpr PrefillRule prefillRules[] = {
  // registers, lanes, queries, chains, mask, which queries, attention only, {rows, vectors, unroll, queries}
  {32, 2, noLimit, 4,   Mask::Any, Queries::Any,    false, {8, 1, 4, 128}}, // one FMA per cycle leaves two loads for each
  {32, 2, noLimit, 13,  Mask::Yes, Queries::Any,    false, {8, 2, 4, 128}}, // fewer vectors waste less at the edge
  {32, 16, noLimit, 13, Mask::No,  Queries::Ragged, true,  {6, 3, 4, 144}}, // 18 chains, 0.5 loads per FMA; narrower query blocks leave no vector empty
  {32, 2, noLimit, 13,  Mask::Any, Queries::Any,    false, {4, 4, 4, 128}}, // 16 chains, 0.5 loads per FMA
  {32, 2, noLimit, anyChains, Mask::Any, Queries::Any,    false, {4, 5, 4, 128}}, // 20 chains; 4 x 6 spills
  {16, 8, 144,     anyChains, Mask::No,  Queries::Any,    true,  {4, 3, 8, 144}}, // all registers: fewest instructions and loads per FMA
  {16, 8, noLimit, anyChains, Mask::Any, Queries::Any,    true,  {6, 2, 4, 128}}, // 15 registers; small edges
  {16, 8, noLimit, anyChains, Mask::Any, Queries::Any,    false, {6, 2, 2, 128}}, // addresses of rows need registers, too
  {16, 2, noLimit, anyChains, Mask::Any, Queries::Any,    false, {6, 2, 1, 128}}, // without FMA a product needs a register of its own
};
// clang-format on

/// Whether whole query blocks of 4 vectors would leave more than one query in
/// 50 without work, or may do so.
static bool isRagged(int64_t queries, int64_t lanes) {
  if (ShapedType::isDynamic(queries))
    return true;
  int64_t vectors = llvm::divideCeilSigned(queries, lanes);
  int64_t empty = llvm::divideCeilSigned(vectors, 4) * 4 - vectors;
  return empty * lanes * 50 > queries;
}

const PrefillSizes &schedule::prefillSizes(TargetAttr target,
                                           const PrefillKernel &kernel) {
  if (kernel.products == Products::Amx)
    return productsOfTiles;
  bool pairs = kernel.products == Products::Dot;
  int64_t chains = pairs ? target.getPairChains() : target.getChains();
  // Dot products of pairs have a longer latency, and no broadcast operand.
  int64_t fewest = pairs ? 5 : 0;
  auto fits = [&](const PrefillRule &rule) {
    return target.getRegisters() >= rule.registers &&
           target.getLanes() >= rule.lanes &&
           std::max(chains, fewest) <= rule.chains &&
           (rule.mask == Mask::Any ||
            kernel.masked == (rule.mask == Mask::Yes)) &&
           (rule.which == Queries::Any ||
            (kernel.isForward && !pairs &&
             isRagged(kernel.queries, target.getLanes()))) &&
           (kernel.isAttention || !rule.attentionOnly) &&
           (ShapedType::isDynamic(kernel.queries) ||
            kernel.queries >= rule.queries);
  };
  return llvm::find_if(prefillRules, fits)->sizes;
}
