// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a warp or of a block do together: barriers, shuffles,
// votes, reductions.
#include "Decoder.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace attn::ptx {

/// Lanes that a mask names, all of which must be here. 0 is a fault.
static uint32_t membersOf(Warp &warp, uint32_t lanes, const Source &mask) {
  unsigned first = countr_zero(lanes);
  uint32_t members = warp.read(mask, first).bits & warp.present;
  bool same = true;
  forEachLane(lanes, [&](unsigned lane) {
    same &= (warp.read(mask, lane).bits & warp.present) == members;
  });
  if (same && members == lanes)
    return members;
  warp.block.fail(warp, first,
                  same ? "names threads that do not execute it with it"
                       : "names other threads than its neighbours do");
  return 0;
}

/// From which lane one of the four shuffles reads, or -1.
static int sourceLane(StringRef mode, unsigned lane, unsigned b, unsigned c) {
  int amount = b & 31, segment = c >> 8 & 31, clamp = c & 31;
  int low = lane & segment, high = low | (clamp & ~segment);
  int j = mode == "up"     ? int(lane) - amount
          : mode == "down" ? int(lane) + amount
          : mode == "bfly" ? int(lane) ^ amount
                           : low | (amount & ~segment);
  bool inside = mode == "up" ? j >= high : j <= high;
  return inside ? j : -1;
}

static Action decodeShuffle(Decoder &decoder) {
  if (!decoder.take("sync"))
    return decoder.fail("only shfl.sync is supported");
  StringRef mode = decoder.takeOneOf({"up", "down", "bfly", "idx"});
  Type type = decoder.takeType();
  if (!decoder.expectOperands(5, 5))
    return {};
  int to = decoder.destination(decoder.operand(0));
  int inside = decoder.operand(0).second;
  Source a = decoder.source(1, type), b = decoder.source(2, b32);
  Source c = decoder.source(3, b32), mask = decoder.source(4, b32);
  decoder.gather(mask);
  return [=](Warp &warp, uint32_t lanes) {
    uint32_t members = membersOf(warp, lanes, mask);
    std::array<Value, warpSize> values;
    forEachLane(members,
                [&](unsigned lane) { values[lane] = warp.read(a, lane); });
    forEachLane(members, [&](unsigned lane) {
      int from = sourceLane(mode, lane, warp.read(b, lane).bits,
                            warp.read(c, lane).bits);
      Value value = values[from < 0 ? lane : from];
      if (from >= 0 && !(members >> from & 1))
        value.known = 0;
      warp.write(to, lane, type, value);
      warp.write(inside, lane, predicate, {from >= 0});
    });
  };
}

static Action decodeVote(Decoder &decoder) {
  if (!decoder.take("sync"))
    return decoder.fail("only vote.sync is supported");
  StringRef mode = decoder.takeOneOf({"all", "any", "uni", "ballot"});
  Type type = decoder.takeType();
  if (!decoder.expectOperands(3, 3))
    return {};
  int to = decoder.destination(decoder.operand(0));
  Source a = decoder.source(1, predicate), mask = decoder.source(2, b32);
  decoder.gather(mask);
  return [=](Warp &warp, uint32_t lanes) {
    uint32_t members = membersOf(warp, lanes, mask), votes = 0;
    uint8_t known = 0xff;
    forEachLane(members, [&](unsigned lane) {
      Value vote = warp.read(a, lane);
      votes |= uint32_t(vote.bits & 1) << lane;
      known = vote.known & 1 ? known : 0;
    });
    uint64_t result = mode == "ballot" ? votes
                      : mode == "all"  ? votes == members
                      : mode == "any"  ? votes != 0
                                       : votes == 0 || votes == members;
    forEachLane(members, [&](unsigned lane) {
      warp.write(to, lane, type, {result, known});
    });
  };
}

static uint64_t reducePair(StringRef mode, Type type, uint64_t a, uint64_t b) {
  bool less = type.isSigned() ? int64_t(a) < int64_t(b) : a < b;
  return mode == "add"   ? a + b
         : mode == "min" ? (less ? a : b)
         : mode == "max" ? (less ? b : a)
         : mode == "and" ? a & b
         : mode == "or"  ? a | b
                         : a ^ b;
}

static Action decodeReduce(Decoder &decoder) {
  if (!decoder.take("sync"))
    return decoder.fail("only redux.sync is supported");
  StringRef mode = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = decoder.takeType();
  if (type.isReal() || !decoder.expectOperands(3, 3))
    return decoder.fail("only integers are reduced");
  int to = decoder.destination(decoder.operand(0));
  Source a = decoder.source(1, type), mask = decoder.source(2, b32);
  decoder.gather(mask);
  return [=](Warp &warp, uint32_t lanes) {
    uint32_t members = membersOf(warp, lanes, mask);
    std::optional<uint64_t> result;
    uint8_t known = 0xff;
    forEachLane(members, [&](unsigned lane) {
      Value value = warp.read(a, lane);
      result =
          result ? reducePair(mode, type, *result, value.bits) : value.bits;
      known &= value.known;
    });
    forEachLane(members, [&](unsigned lane) {
      warp.write(to, lane, type, {result.value_or(0), known});
    });
  };
}

static Action decodeActiveMask(Decoder &decoder) {
  Type type = decoder.takeType();
  if (!decoder.expectOperands(1, 1))
    return {};
  int to = decoder.destination(decoder.operand(0));
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes,
                [&](unsigned lane) { warp.write(to, lane, type, {lanes}); });
  };
}

/// bar.warp.sync orders what the lanes of a warp do to shared memory.
static Action decodeWarpBarrier(Decoder &decoder) {
  if (!decoder.take("sync") || !decoder.expectOperands(1, 1))
    return {};
  Source mask = decoder.source(0, b32);
  decoder.gather(mask);
  return [=](Warp &warp, uint32_t lanes) {
    if (membersOf(warp, lanes, mask) == warp.alive)
      warp.block.shared.release(warp.index);
  };
}

/// bar.red: a barrier that joins the predicates of all threads.
static Action decodeBarrierReduction(Decoder &decoder) {
  StringRef mode = decoder.takeOneOf({"and", "or", "popc"});
  Type type = decoder.takeType();
  if (!decoder.expectOperands(3, 3))
    return decoder.fail("only all threads of a block are asked");
  int to = decoder.destination(decoder.operand(0));
  Source number = decoder.source(1, u32), own = decoder.source(2, predicate);
  return [=](Warp &warp, uint32_t lanes) {
    if (!requireAllLanes(warp, lanes))
      return;
    Votes votes{mode, to, type};
    forEachLane(lanes, [&](unsigned lane) {
      Value vote = warp.read(own, lane);
      ++(vote.bits & 1 ? votes.yes : votes.no);
      votes.known &= vote.known & 1;
    });
    warp.block.arrive(warp, warp.read(number, 0).bits,
                      llvm::alignTo(warp.block.threads(), warpSize),
                      /*waits=*/true, votes);
  };
}

static Action decodeBarrier(Decoder &decoder) {
  if (decoder.take("warp"))
    return decodeWarpBarrier(decoder);
  decoder.take("cta");
  decoder.take("aligned");
  if (decoder.take("red"))
    return decodeBarrierReduction(decoder);
  bool arrives = decoder.take("arrive");
  if (!arrives && !decoder.take("sync"))
    return decoder.fail("only .sync, .arrive and .red are supported");
  if (!decoder.expectOperands(1 + arrives, 2))
    return {};
  Source number = decoder.source(0, u32);
  std::optional<Source> threads;
  if (decoder.count() == 2)
    threads = decoder.source(1, u32);
  return [=](Warp &warp, uint32_t lanes) {
    if (!requireAllLanes(warp, lanes))
      return;
    unsigned expected = llvm::alignTo(warp.block.threads(), warpSize);
    if (threads)
      expected = warp.read(*threads, 0).bits;
    warp.block.arrive(warp, warp.read(number, 0).bits, expected, !arrives);
  };
}

void addWarpInstructions(DecodeTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["redux"] = decodeReduce;
  table["activemask"] = decodeActiveMask;
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
}

} // namespace attn::ptx
