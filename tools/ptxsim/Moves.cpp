// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov, ld, st.
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn::ptx {

namespace {
/// Registers that one 32- or 64-bit value is made of, lowest first.
struct Parts {
  SmallVector<Source, 4> sources;
  SmallVector<int, 4> targets;
  Type type;
};
} // namespace

static Parts partsOf(Decoder &decoder, unsigned i, Type whole, bool written) {
  ArrayRef<Operand> list = decoder.list(i);
  Parts parts;
  parts.type = list.size() == 1
                   ? whole
                   : Type{Type::Bits, unsigned(whole.bits / list.size())};
  for (const Operand &operand : list)
    if (written)
      parts.targets.push_back(decoder.destination(operand));
    else
      parts.sources.push_back(decoder.source(operand, parts.type));
  return parts;
}

static Action decodeMove(Decoder &decoder) {
  Type type = decoder.takeType();
  if (!decoder.expectOperands(2, 2))
    return {};
  Parts to = partsOf(decoder, 0, type, true);
  Parts from = partsOf(decoder, 1, type, false);
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      Value whole{0, 0};
      unsigned width = from.type.bits, bytes = from.type.bytes();
      for (auto [i, source] : enumerate(from.sources)) {
        Value part = warp.read(source, lane);
        whole.bits |= part.bits << (i * width);
        whole.known |= (part.known & ((1u << bytes) - 1)) << (i * bytes);
      }
      for (auto [i, target] : enumerate(to.targets)) {
        Value part{whole.bits >> (i * to.type.bits),
                   uint8_t(whole.known >> (i * to.type.bytes()))};
        warp.write(target, lane, to.type, part);
      }
    });
  };
}

/// Counts what a warp accesses in shared memory, whose banks may conflict.
static void countAccess(Warp &warp, uint32_t lanes, Space space, Address at,
                        unsigned bytes) {
  SmallVector<uint64_t, warpSize> addresses;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t address = warp.addressOf(at, lane);
    if (space == Space::Shared)
      addresses.push_back(address);
    else if (space == Space::Generic && address - sharedWindow < windowBytes)
      addresses.push_back(address - sharedWindow);
    else if (space == Space::Global || address >= globalWindow)
      warp.block.device.report.countGlobal(bytes);
  });
  if (!addresses.empty())
    warp.block.device.report.countShared(*warp.block.current, addresses, bytes);
}

static Action decodeLoad(Decoder &decoder) {
  Space space = decoder.takeSpace();
  decoder.takeHints();
  bool policy = decoder.take("L2::cache_hint");
  unsigned vector = decoder.takeVector();
  Type type = decoder.takeType();
  if (!decoder.expectOperands(2 + policy, 2 + policy))
    return {};
  SmallVector<int, 4> targets;
  for (const Operand &operand : decoder.list(0))
    targets.push_back(decoder.destination(operand));
  if (targets.size() != vector)
    return decoder.fail("expected a list of " + Twine(vector));
  Address at = decoder.address(1);
  return [=](Warp &warp, uint32_t lanes) {
    unsigned bytes = type.bytes() * vector;
    forEachLane(lanes, [&](unsigned lane) {
      Bytes from = warp.block.access(
          warp, lane, space, warp.addressOf(at, lane), bytes, Access::Read);
      if (!from)
        return;
      for (int target : targets) {
        warp.write(target, lane, type, load(from, type.bytes()));
        from = {from.data + type.bytes(), from.known + type.bytes()};
      }
    });
    if (!warp.block.failed())
      countAccess(warp, lanes, space, at, bytes);
  };
}

/// What is stored to global memory must be known: it is a result.
static bool requireKnown(Warp &warp, unsigned lane, Space space,
                         uint64_t address, Value value, unsigned bytes) {
  bool result = space == Space::Global ||
                (space == Space::Generic && address >= globalWindow);
  if (!result || (value.known & ((1u << bytes) - 1)) == (1u << bytes) - 1)
    return true;
  warp.block.fail(warp, lane,
                  "stores a value that depends on what was never written");
  return false;
}

static Action decodeStore(Decoder &decoder) {
  Space space = decoder.takeSpace();
  decoder.takeHints();
  bool policy = decoder.take("L2::cache_hint");
  unsigned vector = decoder.takeVector();
  Type type = decoder.takeType();
  if (!decoder.expectOperands(2 + policy, 2 + policy))
    return {};
  SmallVector<Source, 4> sources;
  for (const Operand &operand : decoder.list(1))
    sources.push_back(decoder.source(operand, type));
  if (sources.size() != vector)
    return decoder.fail("expected a list of " + Twine(vector));
  Address at = decoder.address(0);
  return [=](Warp &warp, uint32_t lanes) {
    unsigned bytes = type.bytes() * vector;
    forEachLane(lanes, [&](unsigned lane) {
      uint64_t address = warp.addressOf(at, lane);
      Bytes to =
          warp.block.access(warp, lane, space, address, bytes, Access::Write);
      for (const Source &source : sources) {
        Value value = warp.read(source, lane);
        if (!to ||
            !requireKnown(warp, lane, space, address, value, type.bytes()))
          return;
        store(to, type.bytes(), value);
        to = {to.data + type.bytes(), to.known + type.bytes()};
      }
    });
    if (!warp.block.failed())
      countAccess(warp, lanes, space, at, bytes);
  };
}

void addMoves(DecodeTable &table) { table["mov"] = decodeMove; }

void addMemoryInstructions(DecodeTable &table) {
  table["ld"] = decodeLoad;
  table["ldu"] = decodeLoad;
  table["st"] = decodeStore;
}

} // namespace attn::ptx
