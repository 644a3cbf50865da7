// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands before a launch, whoever asks for it.
#ifndef ATTN_TOOLS_PTXSIM_LAUNCH_H
#define ATTN_TOOLS_PTXSIM_LAUNCH_H

#include "Machine.h"

namespace attn::ptx {

/// Whether sm_80 can run the kernel so.
llvm::Error checkLaunch(const Entry &entry, const Launch &launch);

/// The module's variables, each space as one allocation.
void placeVariables(const Module &module, GlobalMemory &memory);

} // namespace attn::ptx

#endif
