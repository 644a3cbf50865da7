// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_PTXSIM_MEMORY_H
#define ATTN_TOOLS_PTXSIM_MEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attn::ptx {

enum class Access { Read, Write, Atomic };

/// A place in memory. `known` has a byte for each, 0 where nothing was written.
struct Bytes {
  uint8_t *data = nullptr, *known = nullptr;
  explicit operator bool() const { return data; }
};

/// An allocation. All are apart in addresses.
struct Segment {
  std::string name;
  uint64_t base;
  std::vector<uint8_t> data, known;
  bool writable;
};

class GlobalMemory {
public:
  /// Its address.
  uint64_t add(llvm::StringRef name, uint64_t base,
               llvm::ArrayRef<uint8_t> data, bool writable);
  uint64_t addUnwritten(llvm::StringRef name, uint64_t base, uint64_t bytes);

  /// The bytes, or none and why not.
  Bytes locate(uint64_t address, unsigned bytes, Access kind,
               std::string &error);
  Segment *find(uint64_t address);
  void remove(uint64_t base);

private:
  std::vector<Segment> segments;
};

/// Shared memory knows who accessed what, and when in the order that barriers
/// make: a warp's clock says up to which epoch of each other warp it has seen.
/// Two accesses race if neither is seen by the other and one of them writes.
class SharedMemory {
public:
  SharedMemory(uint64_t declared, uint64_t dynamic, unsigned warps);

  /// The index of these bytes, or -1 if they lie outside.
  int64_t indexOf(uint64_t address, unsigned bytes) const;
  Bytes at(int64_t index) { return {&data[index], &known[index]}; }
  uint64_t size() const { return data.size(); }

  /// Several lanes act as one.
  static constexpr unsigned anyLane = 32;
  struct Thread {
    unsigned warp, lane;
  };
  /// Notes an access. What it races with is the answer, empty if nothing.
  std::string note(int64_t index, unsigned bytes, Access kind, Thread thread,
                   unsigned line);
  /// A copy to these bytes begins; nobody may touch them before it ends.
  std::string beginCopy(int64_t index, unsigned bytes, Thread thread,
                        unsigned line);
  void endCopy(int64_t index, unsigned bytes, Thread thread);

  /// What this warp has done and seen so far, for those that wait for it.
  std::vector<uint32_t> release(unsigned warp);
  void acquire(unsigned warp, llvm::ArrayRef<uint32_t> released);

  /// Whether this thread has seen what another one did in its `epoch`.
  bool ordered(unsigned warp, unsigned lane, uint32_t epoch,
               Thread thread) const;
  uint32_t epochOf(unsigned warp) const { return clocks[warp][warp]; }

private:
  struct Write {
    uint32_t epoch = 0, line = 0; // epoch 0: there was none
    uint8_t warp = 0, lane = 0;
    bool atomic = false, copying = false;
  };
  struct Read {
    uint32_t epoch = 0, line = 0;
    uint8_t lane = 0;
  };
  std::string checkReads(int64_t index, Thread thread) const;
  std::string checkWrite(int64_t index, Access kind, Thread thread) const;

  uint64_t declared;
  unsigned warps;
  std::vector<uint8_t> data, known;
  std::vector<Write> writes;
  std::vector<Read> reads;                   // of each byte and warp
  std::vector<std::vector<uint32_t>> clocks; // of each warp, of each other
};

} // namespace attn::ptx

#endif
