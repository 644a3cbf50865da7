// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block of threads that runs: its warps, registers, shared memory, barriers.
// Blocks run one after another, the warps of a block in slices of random length
// and order.
#ifndef ATTN_TOOLS_PTXSIM_MACHINE_H
#define ATTN_TOOLS_PTXSIM_MACHINE_H

#include "Async.h"
#include "GlobalRaces.h"
#include "Memory.h"
#include "Program.h"
#include "Report.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <random>

namespace attn::ptx {

class Block;

struct Launch {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedBytes = 0; // beyond what the kernel declares
  Order order = Order::Late;
  uint64_t seed = 0;
  uint64_t limit = 0; // of warp instructions
};

/// A value, and of which of its bytes it is known: what was never written is
/// not, nor what is computed from it.
struct Value {
  uint64_t bits = 0;
  uint8_t known = 0xff;
};

/// Where an instruction reads: an operand and the type it is read as.
struct Source {
  Operand::Kind kind = Operand::Immediate;
  int index = -1;
  bool negated = false;
  uint64_t value = 0;
  Type type;
};

struct Address {
  int base = -1;
  uint64_t offset = 0;
};

/// The low bits, as a number of this type in 64 bits.
uint64_t extend(Type type, uint64_t bits);

class Warp {
public:
  Warp(Block &block, unsigned index);

  Value read(const Source &source, unsigned lane);
  void write(int index, unsigned lane, Type type, Value value);
  uint64_t addressOf(Address address, unsigned lane);
  unsigned threadOf(unsigned lane) const { return index * warpSize + lane; }

  /// Runs one instruction; false if the warp has ended.
  bool step();

  Block &block;
  unsigned index;
  uint32_t present = 0, alive = 0; // lanes
  bool waits = false;              // at a barrier
  std::array<size_t, warpSize> counters = {};
  std::vector<AsyncCopies> copies; // of each lane

private:
  uint32_t guarded(const Instruction &instruction, uint32_t lanes);
  void follow(const Instruction &instruction, uint32_t active, uint32_t lanes);
  size_t chooseLanes(uint32_t &active);
  uint64_t special(int index, unsigned lane) const;

  std::vector<uint64_t> values;
  std::vector<uint8_t> known;
};

/// What all blocks of a launch share.
struct Device {
  const Module &module;
  const Entry &entry;
  Launch launch;
  GlobalMemory memory;
  GlobalRaces races;
  std::vector<uint8_t> parameters;
  Report report;
  std::mt19937_64 random;
  std::string fault; // the first one's message
  uint64_t executed = 0;

  /// Runs all blocks; false if there is a fault.
  bool run();
  void runBlock(std::array<uint32_t, 3> index);
};

/// What threads answer at a barrier that asks them, and where the result goes.
struct Votes {
  llvm::StringRef mode; ///< and, or, popc
  int to = -1;          ///< a register; none
  Type type;
  uint64_t yes = 0, no = 0;
  bool known = true;

  uint64_t result() const {
    return mode == "popc" ? yes : mode == "and" ? no == 0 : yes > 0;
  }
};

class Block {
public:
  Block(Device &device, std::array<uint32_t, 3> index);

  void run();

  /// Notes what is wrong with the instruction that runs, unless it is not the
  /// first such thing.
  void fail(const llvm::Twine &what);
  void fail(const Warp &warp, unsigned lane, const llvm::Twine &what);
  bool failed() const { return !device.fault.empty(); }

  /// Those bytes, not of global memory; or null after a fault.
  Bytes locate(Warp &warp, unsigned lane, Space space, uint64_t address,
               unsigned bytes);
  /// The same, and that the access is ordered after those that it meets.
  Bytes access(Warp &warp, unsigned lane, Space space, uint64_t address,
               unsigned bytes, Access kind);

  /// The same of global memory alone; false after a fault.
  bool noteGlobal(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                  Access kind);

  void arrive(Warp &warp, unsigned barrier, unsigned threads, bool waits,
              const Votes &votes = {});
  std::array<uint32_t, 3> coordinates(unsigned thread) const;
  unsigned threads() const;

  Device &device;
  std::array<uint32_t, 3> index;
  SharedMemory shared;
  std::vector<Warp> warps;
  const Instruction *current = nullptr;

private:
  struct Barrier {
    unsigned expected = 0, arrived = 0;
    std::vector<unsigned> waiting;
    Votes votes = {};
    std::vector<uint32_t> released;           // by all that have arrived
    const Instruction *instruction = nullptr; // that arrived last
  };
  bool runSlices();
  bool requireAligned(Warp &warp, unsigned lane, uint64_t address,
                      unsigned bytes);
  void reportDeadlock();
  Bytes locateLocal(Warp &warp, unsigned lane, uint64_t address,
                    unsigned bytes);

  std::map<unsigned, Barrier> barriers;
  std::vector<uint8_t> local, localKnown;
};

} // namespace attn::ptx

#endif
