// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace llvm;

namespace attn::ptx {

/// Shared memory has 32 banks of 4 bytes. 128 bytes go at once: the words of 8
/// lanes if each asks for 16 bytes. Words of one bank take turns; lanes that
/// ask for the same word share it.
void Report::countShared(const Instruction &instruction,
                         ArrayRef<uint64_t> addresses, unsigned bytes) {
  Count &count = counts[&instruction];
  unsigned group = std::min(warpSize, 128 / bytes);
  while (!addresses.empty()) {
    std::array<SmallSet<uint64_t, 8>, 32> banks;
    for (uint64_t address : addresses.take_front(group))
      for (uint64_t word = address / 4; word < (address + bytes + 3) / 4;
           ++word)
        banks[word % 32].insert(word);
    size_t turns = 1;
    for (auto &words : banks)
      turns = std::max<size_t>(turns, words.size());
    count.wavefronts += turns;
    count.conflicts += turns - 1;
    addresses = addresses.drop_front(std::min<size_t>(group, addresses.size()));
  }
}

void Report::print(raw_ostream &stream, StringRef file) const {
  Count all;
  std::vector<std::pair<const Instruction *, Count>> conflicting;
  for (auto &[instruction, count] : counts) {
    all.runs += count.runs;
    all.wavefronts += count.wavefronts;
    all.conflicts += count.conflicts;
    if (count.conflicts)
      conflicting.push_back({instruction, count});
  }
  stream << "warp instructions: " << all.runs << "\n"
         << "matrix flops: " << matrixFlops << "\n"
         << "global bytes: " << globalBytes << "\n"
         << "shared wavefronts: " << all.wavefronts
         << ", of them bank conflicts: " << all.conflicts << "\n";
  sort(conflicting,
       [](auto &a, auto &b) { return a.first->line < b.first->line; });
  for (auto &[instruction, count] : conflicting)
    stream << file << ":" << instruction->line << ": " << count.conflicts
           << " bank conflicts in " << count.wavefronts
           << " wavefronts: " << instruction->text << "\n";
}

} // namespace attn::ptx
