// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many key tiles a query tile visits.
//
// Parts without tests are ranges, whose union is counted by inclusion and
// exclusion. Tests are linear in each class of key tiles that are a multiple of
// their period apart: there parts are ranges, too, and a loop takes the
// classes.

#include "attn/Analysis/MaskCounts.h"
#include "RangeEmitter.h"
#include "attn/Dialect/Attn/Utils/MaskLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace attn;
using namespace mlir;
using arith::CmpIPredicate;

/// 2^parts - 1 intersections.
static constexpr size_t mostParts = 4;
static constexpr int64_t mostClasses = 1 << 12;

/// Tiles in at least one of the ranges.
static Value emitUnion(ScalarEmitter &emitter, ArrayRef<TileRange> ranges) {
  Value total = emitter.constant(0);
  for (unsigned chosen = 1; chosen < 1u << ranges.size(); ++chosen) {
    TileRange common;
    for (auto [i, range] : llvm::enumerate(ranges)) {
      if (!(chosen >> i & 1))
        continue;
      common.begin =
          common.begin ? emitter.max(common.begin, range.begin) : range.begin;
      common.end = common.end ? emitter.min(common.end, range.end) : range.end;
    }
    Value size = emitter.binary<arith::SubIOp>(common.end, common.begin);
    size = emitter.max(size, emitter.constant(0));
    total = llvm::popcount(chosen) % 2
                ? emitter.binary<arith::AddIOp>(total, size)
                : emitter.binary<arith::SubIOp>(total, size);
  }
  return total;
}

static Quasilinear byKeyTile(const MaskContext &context, const Linear &test) {
  return slopeOf(context, test,
                 [](int id) { return int64_t(id == Variable::KeyTile); });
}

/// The j for which `part` has the key tile first + step * j. `range` is the
/// part without its tests.
static TileRange classOf(ScalarEmitter &emitter, const KeyInterval &part,
                         TileRange range, Value first, int64_t step) {
  auto divided = [&](Value tile) {
    Value distance = emitter.binary<arith::SubIOp>(tile, first);
    return emitter.binary<arith::CeilDivSIOp>(distance, emitter.constant(step));
  };
  TileRange result{divided(range.begin), divided(range.end)};
  for (const Linear &test : part.tests) {
    Quasilinear change = byKeyTile(emitter.context, test);
    int64_t rise = change.slope * (step / change.period);
    if (rise == 0) { // the same for all j
      result.end =
          emitter.select(emitter.isNonNegative(test), result.end, result.begin);
      continue;
    }
    Value limit = emitter.linear(rise > 0 ? test * -1 : test);
    Value by = emitter.constant(std::abs(rise));
    if (rise > 0) {
      result.begin = emitter.max(result.begin,
                                 emitter.binary<arith::CeilDivSIOp>(limit, by));
      continue;
    }
    Value last = emitter.binary<arith::FloorDivSIOp>(limit, by);
    result.end = emitter.min(
        result.end, emitter.binary<arith::AddIOp>(last, emitter.constant(1)));
  }
  return result;
}

Value attn::emitKeyCount(OpBuilder &builder, Location loc,
                         const KeyRanges &ranges, const SymbolValues &symbols) {
  ArrayRef<KeyInterval> parts = ranges.visit.parts;
  if (!ranges.visit.exact || parts.size() > mostParts)
    return {};
  int64_t step = 1;
  bool hasTests = false;
  for (const KeyInterval &part : parts)
    for (const Linear &test : part.tests) {
      hasTests = true;
      step = std::lcm(step, byKeyTile(ranges.context, test).period);
      if (step > mostClasses)
        return {};
    }
  RangeEmitter emitter(builder, loc, ranges, symbols);
  SmallVector<TileRange> whole;
  for (const KeyInterval &part : parts)
    whole.push_back(emitter.range(part));
  if (!hasTests)
    return emitUnion(emitter, whole);
  Value zero = emitter.constant(0), one = emitter.constant(1);
  Value classes = emitter.min(emitter.constant(step), emitter.tiles);
  auto loop = scf::ForOp::create(
      builder, loc, zero, classes, one, zero,
      [&](OpBuilder &inner, Location innerLoc, Value first, ValueRange sum) {
        ScalarEmitter local{inner, innerLoc, ranges.context, emitter.symbols};
        local.symbols.set(Variable::KeyTile, first);
        SmallVector<TileRange> ofClass;
        for (auto [part, range] : llvm::zip_equal(parts, whole))
          ofClass.push_back(classOf(local, part, range, first, step));
        Value count = emitUnion(local, ofClass);
        scf::YieldOp::create(inner, innerLoc,
                             local.binary<arith::AddIOp>(sum.front(), count));
      });
  return loop.getResult(0);
}
