// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"
#include "Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace attn::ptx {

uint64_t GlobalMemory::add(StringRef name, uint64_t base,
                           ArrayRef<uint8_t> data, bool writable) {
  segments.push_back({name.str(), base, data.vec(),
                      std::vector<uint8_t>(data.size(), 1), writable});
  return base;
}

uint64_t GlobalMemory::addUnwritten(StringRef name, uint64_t base,
                                    uint64_t bytes) {
  // NaN of every type.
  segments.push_back({name.str(), base, std::vector<uint8_t>(bytes, 0xff),
                      std::vector<uint8_t>(bytes, 0), true});
  return base;
}

Segment *GlobalMemory::find(uint64_t address) {
  for (Segment &segment : segments)
    if (address - segment.base < windowBytes)
      return &segment;
  return nullptr;
}

void GlobalMemory::remove(uint64_t base) {
  erase_if(segments,
           [&](const Segment &segment) { return segment.base == base; });
}

Bytes GlobalMemory::locate(uint64_t address, unsigned bytes, Access kind,
                           std::string &error) {
  Segment *segment = find(address);
  if (!segment) {
    error = "no argument lies there";
    return {};
  }
  uint64_t offset = address - segment->base, size = segment->data.size();
  if (offset > size || size - offset < bytes) {
    error = ("byte " + Twine(offset) + " of " + segment->name + ", which has " +
             Twine(size))
                .str();
    return {};
  }
  if (kind != Access::Read && !segment->writable) {
    error = segment->name + " is only read";
    return {};
  }
  return {&segment->data[offset], &segment->known[offset]};
}

SharedMemory::SharedMemory(uint64_t declared, uint64_t dynamic, unsigned warps)
    : declared(declared), warps(warps), data(declared + dynamic, 0xff),
      known(data.size(), 0), writes(data.size()), reads(data.size() * warps),
      clocks(warps, std::vector<uint32_t>(warps, 0)) {
  for (unsigned warp = 0; warp < warps; ++warp)
    clocks[warp][warp] = 1;
}

int64_t SharedMemory::indexOf(uint64_t address, unsigned bytes) const {
  uint64_t begin = address < dynamicShared ? 0 : declared;
  uint64_t end = address < dynamicShared ? declared : data.size();
  uint64_t index =
      begin + (address < dynamicShared ? address : address - dynamicShared);
  return index > end || end - index < bytes ? -1 : int64_t(index);
}

bool SharedMemory::ordered(unsigned warp, unsigned lane, uint32_t epoch,
                           Thread thread) const {
  if (epoch == 0 || clocks[thread.warp][warp] > epoch)
    return true;
  return warp == thread.warp && lane == thread.lane && lane != anyLane;
}

static std::string describe(StringRef what, unsigned line, unsigned warp) {
  return (what + " of line " + Twine(line) + " in warp " + Twine(warp)).str();
}

std::string SharedMemory::checkReads(int64_t index, Thread thread) const {
  for (unsigned warp = 0; warp < warps; ++warp) {
    const Read &read = reads[index * warps + warp];
    if (!ordered(warp, read.lane, read.epoch, thread))
      return describe("the read", read.line, warp);
  }
  return "";
}

std::string SharedMemory::checkWrite(int64_t index, Access kind,
                                     Thread thread) const {
  const Write &write = writes[index];
  if (write.copying)
    return describe("the cp.async", write.line, write.warp) +
           ", which has not been waited for";
  if (write.atomic && kind == Access::Atomic)
    return "";
  if (ordered(write.warp, write.lane, write.epoch, thread))
    return "";
  return describe("the write", write.line, write.warp);
}

std::string SharedMemory::note(int64_t index, unsigned bytes, Access kind,
                               Thread thread, unsigned line) {
  uint32_t epoch = clocks[thread.warp][thread.warp];
  for (int64_t i = index; i < index + bytes; ++i) {
    std::string race = checkWrite(i, kind, thread);
    if (race.empty() && kind != Access::Read)
      race = checkReads(i, thread);
    if (!race.empty())
      return race;
    if (kind == Access::Read) {
      Read &read = reads[i * warps + thread.warp];
      bool other = read.epoch == epoch && read.lane != thread.lane;
      read = {epoch, line, uint8_t(other ? anyLane : thread.lane)};
    } else {
      writes[i] = {epoch,
                   line,
                   uint8_t(thread.warp),
                   uint8_t(thread.lane),
                   kind == Access::Atomic,
                   false};
    }
  }
  return "";
}

std::string SharedMemory::beginCopy(int64_t index, unsigned bytes,
                                    Thread thread, unsigned line) {
  std::string race = note(index, bytes, Access::Write, thread, line);
  for (int64_t i = index; i < index + bytes; ++i)
    writes[i].copying = true;
  return race;
}

void SharedMemory::endCopy(int64_t index, unsigned bytes, Thread thread) {
  for (int64_t i = index; i < index + bytes; ++i) {
    writes[i].copying = false;
    writes[i].epoch = clocks[thread.warp][thread.warp];
  }
}

std::vector<uint32_t> SharedMemory::release(unsigned warp) {
  ++clocks[warp][warp];
  return clocks[warp];
}

void SharedMemory::acquire(unsigned warp, ArrayRef<uint32_t> released) {
  for (unsigned other = 0; other < warps; ++other)
    clocks[warp][other] = std::max(clocks[warp][other], released[other]);
}

} // namespace attn::ptx
