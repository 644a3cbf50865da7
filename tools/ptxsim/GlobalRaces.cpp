// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GlobalRaces.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace attn::ptx {

/// Whether the access of `record` is not ordered before this thread's. Of reads
/// in several warps or blocks it is not known which are.
bool GlobalRaces::meets(const Record &record, const SharedMemory &order,
                        SharedMemory::Thread thread) const {
  if (record.block == none)
    return false;
  if (record.block == several)
    return seen.empty();
  if (record.block != block)
    return !seen.contains(record.block);
  return record.warp != anyWarp &&
         !order.ordered(record.warp, record.lane, record.epoch, thread);
}

/// Of several reads, what they have in common.
void GlobalRaces::remember(Record &read, const Record &now) const {
  Record before = read;
  read = now;
  if (before.block == none)
    return;
  if (before.block != now.block)
    read.block = several;
  else if (before.warp != now.warp)
    read.warp = anyWarp;
  else if (before.epoch == now.epoch && before.lane != now.lane)
    read.lane = SharedMemory::anyLane;
}

std::string GlobalRaces::describe(StringRef what, const Record &record) const {
  std::string place = record.block == several ? "several blocks"
                      : record.block != block
                          ? "another block"
                          : "warp " + std::to_string(record.warp);
  return (what + " of line " + Twine(record.line) + " in " + place).str();
}

void GlobalRaces::synchronize(uint64_t address) {
  DenseSet<uint32_t> &before = released[address];
  seen.insert(before.begin(), before.end());
  before.insert(seen.begin(), seen.end());
  before.insert(block);
}

std::string GlobalRaces::note(uint64_t address, unsigned count, Access kind,
                              const SharedMemory &order,
                              SharedMemory::Thread thread, unsigned line) {
  if (kind == Access::Atomic)
    synchronize(address);
  Record now{block,
             order.epochOf(thread.warp),
             line,
             uint8_t(thread.warp),
             uint8_t(thread.lane),
             kind == Access::Atomic};
  for (uint64_t i = address; i < address + count; ++i) {
    Byte &byte = bytes[i];
    bool bothAtomic = byte.write.atomic && kind == Access::Atomic;
    if (!bothAtomic && meets(byte.write, order, thread))
      return describe("the write", byte.write);
    if (kind != Access::Read && meets(byte.read, order, thread))
      return describe("the read", byte.read);
    if (kind == Access::Read)
      remember(byte.read, now);
    else
      byte = {now, Record()}; // what follows it follows the reads, too
  }
  return "";
}

} // namespace attn::ptx
