// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races in global memory. Blocks of a launch run in any order and at once, so
// what one writes another must not touch. Only atomics order blocks: who does
// one sees what was done before earlier ones on the same place. Within a block,
// barriers order threads, as for shared memory.
#ifndef ATTN_TOOLS_PTXSIM_GLOBALRACES_H
#define ATTN_TOOLS_PTXSIM_GLOBALRACES_H

#include "Memory.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace attn::ptx {

class GlobalRaces {
public:
  void beginBlock(uint32_t number) {
    block = number;
    seen.clear();
  }

  /// Notes an access. What it races with is the answer, empty if nothing.
  std::string note(uint64_t address, unsigned bytes, Access kind,
                   const SharedMemory &order, SharedMemory::Thread thread,
                   unsigned line);

private:
  static constexpr uint32_t none = ~uint32_t(0), several = none - 1;
  static constexpr uint8_t anyWarp = 255;
  struct Record {
    uint32_t block = none, epoch = 0, line = 0;
    uint8_t warp = 0, lane = 0;
    bool atomic = false;
  };
  struct Byte {
    Record write, read;
  };
  bool meets(const Record &record, const SharedMemory &order,
             SharedMemory::Thread thread) const;
  void remember(Record &read, const Record &now) const;
  std::string describe(llvm::StringRef what, const Record &record) const;
  void synchronize(uint64_t address);

  uint32_t block = 0;
  llvm::DenseSet<uint32_t> seen; // blocks that this one is ordered after
  std::map<uint64_t, llvm::DenseSet<uint32_t>> released; // by atomics there
  llvm::DenseMap<uint64_t, Byte> bytes;
};

} // namespace attn::ptx

#endif
