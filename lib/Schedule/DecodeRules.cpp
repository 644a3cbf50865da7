// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles of kernels of kind decode, whose lanes hold features.
//
// One query reads keys as fast as memory gives them, so a tile of keys is
// large: every change between keys and values ends a stream that the processor
// prefetches. More queries compute while the next tile is prefetched. Where
// lanes have features of several queries (`interleave`), fewer lanes are left
// to add up. docs/Experiments.md has the measurements.
#include "Rules.h"

using namespace mlir;
using namespace attn;
using namespace attn::schedule;

namespace {
enum class Group {
  One,       ///< a single query, always
  Even,      ///< no more rows that are no queries than in blocks of 4
  WideBlock, ///< one block of 4, values of at least 32 bits
  LongRows,  ///< the same, and rows of at least 1024 bytes
  Any
};
enum class InPairs { Any, Yes, No };

struct DecodeRule {
  int64_t registers, lanes; ///< at least
  Group group;
  InPairs pairs;
  /// One FMA per cycle only.
  bool oneFma;
  /// Bits of a key and of a value, at most.
  int64_t keyBits, valueBits;
  DecodeSizes sizes;
};
} // namespace

constexpr int64_t wholeItem = decodeSplitKeys;

// clang-format off
static constexpr DecodeRule decodeRules[] = {
  // registers, lanes, group, pairs, one FMA, key bits, value bits,
  //   {rows, vectors, unroll, keys from, to, quarters of the cache, block, interleave}
  {32, 2, Group::One, InPairs::Yes, false, 64, 64, {4, 4, 2, 48, wholeItem, 16, 4, 1}}, // reads as memory gives
  {32, 2, Group::One, InPairs::Any, false, 64, 64, {4, 4, 4, 48, wholeItem, 16, 4, 1}}, // reads as memory gives
  {16, 2, Group::One, InPairs::Any, false, 64, 64, {3, 3, 2, 48, wholeItem, 16, 4, 1}}, // reads as memory gives

  {32, 16, Group::Even, InPairs::Yes, false, 64, 64, {8, 2, 4, 48, 96,  16, 8, 4}}, // sums of lanes were a third of the time
  {32, 16, Group::Even, InPairs::No,  true,  16, 64, {4, 1, 2, 48, 128, 16, 8, 2}}, // each key is converted once
  {32, 16, Group::Even, InPairs::No,  false, 16, 64, {4, 2, 2, 48, 128, 16, 8, 2}}, // each key is converted once
  {32, 16, Group::Even, InPairs::No,  true,  32, 64, {8, 1, 2, 48, 128, 4,  8, 4}}, // a broadcast is part of its FMA
  {32, 16, Group::Even, InPairs::No,  false, 32, 64, {8, 2, 2, 48, 128, 4,  8, 4}}, // sums of lanes were a sixth of the time
  {32, 16, Group::Even, InPairs::No,  true,  64, 64, {2, 1, 2, 48, 128, 16, 8, 1}}, // f64 gains nothing from more queries in a vector
  {32, 16, Group::Even, InPairs::No,  false, 64, 64, {2, 2, 2, 48, 128, 16, 8, 1}}, // f64 gains nothing from more queries in a vector
  {32, 16, Group::WideBlock, InPairs::Any, false, 64, 64, {1, 1, 4, 16, 16, 4, 4, 1}}, // memory is read fastest row after row

  {32, 2, Group::Any, InPairs::Yes, false, 64, 64, {4, 4, 2, 48, 64, 3, 4, 1}}, // a tile is what the next one is prefetched behind
  {32, 2, Group::Any, InPairs::Any, false, 64, 64, {4, 4, 4, 48, 96, 3, 4, 1}}, // a tile is what the next one is prefetched behind
  {16, 8, Group::LongRows, InPairs::Any, false, 64, 64, {2, 2, 2, 48, 96, 3, 4, 1}}, // few rows abreast, where memory is what counts
  {16, 8, Group::Any, InPairs::Any, false, 64, 64, {3, 3, 1, 48, 96, 3, 4, 1}}, // all registers; a second turn's loads would spill
  {16, 2, Group::Any, InPairs::Any, false, 64, 16, {3, 2, 2, 48, 96, 3, 4, 1}}, // conversions need registers
  {16, 2, Group::Any, InPairs::Any, false, 64, 64, {3, 3, 2, 48, 96, 3, 4, 1}}, // fits the registers
};
// clang-format on

static bool isOf(Group group, const DecodeKernel &kernel) {
  int64_t usual = kernel.usualQueries;
  bool wideBlock = usual > 1 && usual <= usualBlock && kernel.valueBits >= 32;
  switch (group) {
  case Group::One:
    return kernel.mostQueries == 1;
  case Group::Even:
    return (usual + usualBlock - 1) / usualBlock % 2 == 0;
  case Group::WideBlock:
    return wideBlock;
  case Group::LongRows:
    return wideBlock && kernel.rowBytes >= 1024;
  case Group::Any:
    return true;
  }
  llvm_unreachable("all groups are handled");
}

const DecodeSizes &schedule::decodeSizes(TargetAttr target,
                                         const DecodeKernel &kernel) {
  auto fits = [&](const DecodeRule &rule) {
    return target.getRegisters() >= rule.registers &&
           target.getLanes() >= rule.lanes && isOf(rule.group, kernel) &&
           (rule.pairs == InPairs::Any ||
            kernel.pairs == (rule.pairs == InPairs::Yes)) &&
           (!rule.oneFma || startsOneFma(target)) &&
           kernel.keyBits <= rule.keyBits && kernel.valueBits <= rule.valueBits;
  };
  return llvm::find_if(decodeRules, fits)->sizes;
}
