// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace attn::ptx {

Block::Block(Device &device, std::array<uint32_t, 3> index)
    : device(device), index(index),
      shared(device.entry.sharedBytes, device.launch.sharedBytes,
             divideCeil(threads(), warpSize)),
      local(device.entry.localBytes * threads()), localKnown(local.size()) {
  warps.reserve(divideCeil(threads(), warpSize));
  for (unsigned i = 0; i < divideCeil(threads(), warpSize); ++i)
    warps.emplace_back(*this, i);
}

unsigned Block::threads() const {
  auto &size = device.launch.block;
  return size[0] * size[1] * size[2];
}

std::array<uint32_t, 3> Block::coordinates(unsigned thread) const {
  auto &size = device.launch.block;
  return {thread % size[0], thread / size[0] % size[1],
          thread / size[0] / size[1]};
}

static std::string describe(const std::array<uint32_t, 3> &place) {
  return ("(" + Twine(place[0]) + ", " + Twine(place[1]) + ", " +
          Twine(place[2]) + ")")
      .str();
}

void Block::fail(const Twine &what) {
  if (failed())
    return;
  device.fault =
      (device.module.file + ":" + Twine(current ? current->line : 0) +
       ": error: block " + describe(index) + ": " + what +
       (current ? ": " + current->text : ""))
          .str();
}

void Block::fail(const Warp &warp, unsigned lane, const Twine &what) {
  fail("thread " + describe(coordinates(warp.threadOf(lane))) + " " + what);
}

Bytes Block::locateLocal(Warp &warp, unsigned lane, uint64_t address,
                         unsigned bytes) {
  uint64_t size = device.entry.localBytes;
  if (address > size || size - address < bytes) {
    fail(warp, lane,
         "accesses byte " + Twine(address) +
             " of its local memory, which has " + Twine(size));
    return {};
  }
  uint64_t place = warp.threadOf(lane) * size + address;
  return {&local[place], &localKnown[place]};
}

/// Generic addresses lie in the window of their space.
static void resolveGeneric(Space &space, uint64_t &address) {
  static const std::pair<Space, uint64_t> windows[] = {
      {Space::Shared, sharedWindow},
      {Space::Local, localWindow},
      {Space::Param, paramWindow}};
  if (space != Space::Generic)
    return;
  space = Space::Global;
  for (auto &[of, window] : windows)
    if (address - window < windowBytes) {
      space = of;
      address -= window;
      return;
    }
}

bool Block::requireAligned(Warp &warp, unsigned lane, uint64_t address,
                           unsigned bytes) {
  if (address % bytes == 0)
    return true;
  fail(warp, lane,
       "accesses " + Twine(bytes) + " bytes at 0x" + utohexstr(address, true) +
           ", which is not aligned");
  return false;
}

Bytes Block::locate(Warp &warp, unsigned lane, Space space, uint64_t address,
                    unsigned bytes) {
  if (!requireAligned(warp, lane, address, bytes))
    return {};
  if (space == Space::Local)
    return locateLocal(warp, lane, address, bytes);
  if (space == Space::Shared) {
    int64_t place = shared.indexOf(address, bytes);
    if (place >= 0)
      return shared.at(place);
    fail(warp, lane,
         "accesses bytes outside of shared memory, which has " +
             Twine(shared.size()));
    return {};
  }
  static std::array<uint8_t, 16> known = {1, 1, 1, 1, 1, 1, 1, 1,
                                          1, 1, 1, 1, 1, 1, 1, 1};
  if (address <= device.parameters.size() &&
      device.parameters.size() - address >= bytes)
    return {&device.parameters[address], known.data()};
  fail(warp, lane, "reads outside of the parameters");
  return {};
}

Bytes Block::access(Warp &warp, unsigned lane, Space space, uint64_t address,
                    unsigned bytes, Access kind) {
  resolveGeneric(space, address);
  if (space == Space::Param && kind != Access::Read) {
    fail(warp, lane, "writes to the parameters");
    return {};
  }
  if (space != Space::Global && space != Space::Const) {
    Bytes place = locate(warp, lane, space, address, bytes);
    if (!place || space != Space::Shared)
      return place;
    std::string race = shared.note(shared.indexOf(address, bytes), bytes, kind,
                                   {warp.index, lane}, current->line);
    if (race.empty())
      return place;
    fail(warp, lane,
         (kind == Access::Read ? "reads" : "writes") + Twine(" bytes of ") +
             race);
    return {};
  }
  if (!requireAligned(warp, lane, address, bytes))
    return {};
  std::string error;
  Bytes place = device.memory.locate(address, bytes, kind, error);
  if (!place) {
    fail(warp, lane,
         (kind == Access::Read ? "reads at 0x" : "writes at 0x") +
             Twine(utohexstr(address, true)) + ": " + error);
    return {};
  }
  return noteGlobal(warp, lane, address, bytes, kind) ? place : Bytes();
}

bool Block::noteGlobal(Warp &warp, unsigned lane, uint64_t address,
                       unsigned bytes, Access kind) {
  if (!device.memory.find(address)->writable)
    return true; // nobody writes there
  std::string race = device.races.note(address, bytes, kind, shared,
                                       {warp.index, lane}, current->line);
  if (race.empty())
    return true;
  fail(warp, lane,
       (kind == Access::Read ? "reads" : "writes") + Twine(" bytes of ") +
           race);
  return false;
}

void Block::arrive(Warp &warp, unsigned number, unsigned expected, bool waits,
                   const Votes &votes) {
  Barrier &barrier = barriers[number];
  if (barrier.arrived && barrier.expected != expected)
    return fail("barrier " + Twine(number) + " has " + Twine(expected) +
                " threads here and " + Twine(barrier.expected) + " in line " +
                Twine(barrier.instruction->line));
  if (expected == 0 || expected % warpSize)
    return fail("a barrier's threads are whole warps, not " + Twine(expected));
  barrier.expected = expected;
  barrier.instruction = current;
  barrier.arrived += warpSize;
  std::vector<uint32_t> released = shared.release(warp.index);
  barrier.released.resize(released.size());
  for (auto [all, own] : zip_equal(barrier.released, released))
    all = std::max(all, own);
  Votes all = votes;
  all.yes += barrier.votes.yes;
  all.no += barrier.votes.no;
  all.known &= barrier.votes.known;
  barrier.votes = all;
  if (waits) {
    warp.waits = true;
    barrier.waiting.push_back(warp.index);
  }
  if (barrier.arrived < barrier.expected)
    return;
  for (unsigned waiting : barrier.waiting) {
    warps[waiting].waits = false;
    shared.acquire(waiting, barrier.released);
    forEachLane(warps[waiting].alive, [&](unsigned lane) {
      warps[waiting].write(all.to, lane, all.type,
                           {all.result(), uint8_t(all.known ? 0xff : 0)});
    });
  }
  barriers.erase(number);
}

void Block::reportDeadlock() {
  for (auto &[number, barrier] : barriers)
    if (!barrier.waiting.empty()) {
      current = barrier.instruction;
      return fail("barrier " + Twine(number) +
                  " waits forever: " + Twine(barrier.arrived) + " of " +
                  Twine(barrier.expected) + " threads have arrived");
    }
}

/// Lets each warp run for a while; false if none could.
bool Block::runSlices() {
  std::vector<unsigned> order(warps.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::shuffle(order.begin(), order.end(), device.random);
  bool progress = false;
  for (unsigned i : order) {
    Warp &warp = warps[i];
    for (unsigned left = 1 + device.random() % 400;
         left > 0 && !warp.waits && !failed() && warp.step(); --left)
      progress = true;
    if (device.launch.order == Order::Random)
      for (AsyncCopies &copies : warp.copies)
        for (auto &group : copies.groups)
          for (AsyncCopy &copy : group)
            if (device.random() % 4 == 0)
              performCopy(*this, copy);
  }
  return progress;
}

void Block::run() {
  while (!failed() && any_of(warps, [](Warp &warp) { return warp.alive; }))
    if (!runSlices())
      reportDeadlock();
}

void Device::runBlock(std::array<uint32_t, 3> index) {
  races.beginBlock(index[0] +
                   launch.grid[0] * (index[1] + launch.grid[1] * index[2]));
  Block(*this, index).run();
}

bool Device::run() {
  auto &size = launch.grid;
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0] && fault.empty(); ++x)
        runBlock({x, y, z});
  return fault.empty();
}

} // namespace attn::ptx
