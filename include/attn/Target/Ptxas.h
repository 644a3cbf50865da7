// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From PTX to machine code of a GPU, by NVIDIA's assembler as a child process.
#ifndef ATTN_TARGET_PTXAS_H
#define ATTN_TARGET_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace attn::target {

/// What the assembler says of a kernel.
struct KernelUse {
  std::string name;
  unsigned registers = 0, spillBytes = 0;
};

struct PtxasLog {
  std::vector<KernelUse> kernels;
  /// Warnings, and what it says about code that waits where it need not
  /// (C7508 and the like), each one line.
  std::vector<std::string> warnings;
};

/// Reads what `ptxas -v` prints.
PtxasLog readPtxasLog(llvm::StringRef text);

/// The program: `given` if there is one, else that of PATH, of CUDA_HOME or of
/// the folder where it is installed unless told otherwise.
llvm::Expected<std::string> findPtxas(llvm::StringRef given);

/// The cubin of a PTX text. An error is one line.
llvm::Expected<std::string> assemble(llvm::StringRef ptxas,
                                     llvm::StringRef chip, llvm::StringRef ptx,
                                     PtxasLog &log);

} // namespace attn::target

#endif
