// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Chips.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attn;
using namespace attn::target;

// NVIDIA, CUDA C++ Programming Guide, "Compute Capabilities": maximum amount of
// shared memory per thread block.
static constexpr Chip chips[] = {
    {"sm_80", 163},  // A100
    {"sm_86", 99},   // A10, RTX 3090
    {"sm_87", 163},  // Jetson Orin
    {"sm_89", 99},   // L4, L40, RTX 4090
    {"sm_90", 227},  // H100, H200
    {"sm_100", 227}, // B200
    {"sm_103", 227}, // B300
    {"sm_120", 99},  // RTX 5090
    {"sm_121", 99},  // GB10
};

const Chip *target::findChip(llvm::StringRef name) {
  const Chip *found =
      llvm::find_if(chips, [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(chips) ? nullptr : found;
}

std::string target::chipNames() {
  return llvm::join(
      llvm::map_range(chips, [](const Chip &chip) { return chip.name; }), ", ");
}
