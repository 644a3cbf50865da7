// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Launch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn::ptx {

Error checkLaunch(const Entry &entry, const Launch &launch) {
  if (entry.required[0] && launch.block != entry.required)
    return createStringError("--block is not what '" + entry.name +
                             "' requires");
  uint64_t product = 1, most = 1;
  for (unsigned d = 0; d < 3; ++d) {
    product = std::min<uint64_t>(product * launch.block[d], UINT32_MAX);
    most *= entry.maximum[d];
  }
  if (product > 1024 || (most && product > most))
    return createStringError("a block has at most " +
                             Twine(most ? most : 1024) + " threads, not " +
                             Twine(product));
  if (entry.sharedBytes + launch.sharedBytes > 227 * 1024)
    return createStringError("a block has at most 232448 bytes of shared "
                             "memory, not " +
                             Twine(entry.sharedBytes + launch.sharedBytes));
  if (entry.localBytes > 512 * 1024)
    return createStringError("a thread has at most 524288 bytes of local "
                             "memory, not " +
                             Twine(entry.localBytes));
  return Error::success();
}

void placeVariables(const Module &module, GlobalMemory &memory) {
  for (auto [space, base] : {std::pair(Space::Global, globalWindow),
                             std::pair(Space::Const, constWindow)}) {
    std::vector<uint8_t> bytes;
    for (const Variable &variable : module.variables)
      if (variable.space == space) {
        bytes.resize(variable.offset + variable.bytes);
        copy(variable.initial, bytes.begin() + variable.offset);
      }
    if (!bytes.empty())
      memory.add(space == Space::Global ? "the module's variables"
                                        : "the module's constants",
                 base, bytes, space == Space::Global);
  }
}

} // namespace attn::ptx
