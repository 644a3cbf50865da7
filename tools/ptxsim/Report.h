// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run has cost: instructions, products, bank conflicts.
#ifndef ATTN_TOOLS_PTXSIM_REPORT_H
#define ATTN_TOOLS_PTXSIM_REPORT_H

#include "Program.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace attn::ptx {

class Report {
public:
  void countInstruction(const Instruction &instruction) {
    ++counts[&instruction].runs;
  }
  void countProducts(uint64_t flops) { matrixFlops += flops; }
  void countGlobal(uint64_t bytes) { globalBytes += bytes; }

  /// The addresses in shared memory that some lanes access with `bytes` each.
  void countShared(const Instruction &instruction,
                   llvm::ArrayRef<uint64_t> addresses, unsigned bytes);

  void print(llvm::raw_ostream &stream, llvm::StringRef file) const;

private:
  struct Count {
    uint64_t runs = 0, wavefronts = 0, conflicts = 0;
  };
  std::map<const Instruction *, Count> counts;
  uint64_t matrixFlops = 0, globalBytes = 0;
};

} // namespace attn::ptx

#endif
