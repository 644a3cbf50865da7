// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the system may refuse, which is no bug of ours: a full or closed output,
// limits of memory, time and size, the depth of the stack.
#ifndef ATTN_OPT_SYSTEM_H
#define ATTN_OPT_SYSTEM_H

#include "Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::tool {

/// Comes first in main: standard files are open, and their errors are said at
/// the end, in one line.
void prepareSystem();

/// Writes that a pipe or a limit of size refuses fail; the limit of time ends
/// the process, and nothing is left.
void respectLimits();

/// `status`, or UserError where the standard output could not take everything,
/// which is said.
ExitStatus finishOutput(ExitStatus status);

/// Runs `work` where recursion over long inputs finds room.
ExitStatus onLargeStack(llvm::function_ref<ExitStatus()> work);

/// Calls both at the same time, or one after the other where the system has no
/// room for a thread.
void together(llvm::function_ref<void()> here,
              llvm::function_ref<void()> there);

} // namespace attn::tool

#endif
